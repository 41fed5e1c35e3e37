const KEY = 'laddercast.key';
const ME = 'laddercast.me';

/** The reader's key lives as long as the tab, and never in the address. */
export const key = slot(() => sessionStorage, KEY);

/** Whom the reader follows, kept for the next visit. */
export const me = slot(() => localStorage, ME);

/** Storage may be forbidden by the browser; then the value lives as long as the page. */
function slot(storage, name) {
  let value = attempt(() => storage().getItem(name)) ?? null;
  return {
    get: () => value,
    set(next) {
      value = next || null;
      attempt(() => (value === null ? storage().removeItem(name) : storage().setItem(name, value)));
    },
  };
}

function attempt(action) {
  try {
    return action();
  } catch {
    return undefined;
  }
}
