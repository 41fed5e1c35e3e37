/** Says a sentence in a message element; an empty one takes the message away. */
export function say(element, text) {
  element.classList.remove('bad');
  element.textContent = text;
}

/** Says what went wrong: the problem's title, and its detail in the next line. */
export function sayProblem(element, problem) {
  const title = document.createElement('strong');
  title.textContent = problem.title ?? 'Something went wrong';
  element.classList.add('bad');
  element.replaceChildren(title, problemDetail(problem));
}

/** The detail of a problem, with the single faults of a body that was refused. */
export function problemDetail(problem) {
  const faults = (problem.errors ?? []).map(({ pointer, message }) => `${pointer || '/'}: ${message}`);
  // The first is the detail, mostly.
  return [...new Set([problem.detail, ...faults])].filter(Boolean).join(' ');
}

/** The problem that a caught error carries; errors of the page itself are shown too, and not lost. */
export function problemOf(error) {
  if (!error.body) return { title: 'This page failed', detail: String(error.message ?? error) };
  return error.status === 0 ? { detail: whyUnreachable(), ...error.body } : error.body;
}

function whyUnreachable() {
  return navigator.onLine ? 'No answer came; it may be starting or restarting.' : 'This device is offline.';
}
