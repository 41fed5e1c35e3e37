const parentCheckMs = 1_000;

/**
 * Calls `onInterrupt` with a short reason at each Ctrl-C, SIGTERM and hang-up, and once when npm, which ran this, is
 * gone: a signal that is sent to npm alone ends npm and its shell, and is not passed on.
 * @param {(reason: string) => void} onInterrupt
 */
export function onInterruption(onInterrupt) {
  // A terminal that was closed takes no more text, and that must not keep anything from being stopped.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => onInterrupt(signal === 'SIGINT' ? 'Ctrl-C' : signal));
  }
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onInterrupt('npm has ended');
  }, parentCheckMs);
  timer.unref();
}
