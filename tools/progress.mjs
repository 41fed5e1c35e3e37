const heartbeatMs = 10_000;

/**
 * Prints one line of progress.
 * @param {string} text
 */
export function step(text) {
  console.log(`[laddercast] ${text}`);
}

/**
 * Runs `work` and says every ten seconds that `text` is still going on, so that no step is silent for a minute.
 * @template Result
 * @param {string | (() => string)} text
 * @param {() => Promise<Result>} work
 */
export async function withHeartbeat(text, work) {
  const startedAtMs = Date.now();
  const timer = setInterval(() => {
    const note = typeof text === 'function' ? text() : text;
    step(`  still ${note} (${Math.round((Date.now() - startedAtMs) / 1000)} s)`);
  }, heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
