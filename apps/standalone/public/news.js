import { count, movementWords } from './words.js';

const NEWS_MS = 4000;

/**
 * A change told in an element for a few seconds and then taken away, so that nobody reads it late. Changes that follow
 * each other closely are told as one: ▲ 2 and then ▲ 1 is ▲ 3.
 */
export class News {
  #element;
  #word;
  #sum = 0;
  #startedAt = -Infinity;
  #timer = null;

  /** `word(amount, …)` gives `{ text, spoken }` for an amount that is not 0; positive is good. */
  constructor(element, word) {
    this.#element = element;
    this.#word = word;
  }

  tell(amount, ...context) {
    const now = performance.now();
    if (now - this.#startedAt > NEWS_MS) {
      this.#sum = 0;
      this.#startedAt = now;
    }
    this.#sum += amount;
    clearTimeout(this.#timer);
    if (this.#sum === 0) this.clear();
    else this.#show(this.#word(this.#sum, ...context));
  }

  /** Tells an amount that is no news: it stays until something is told, or cleared. */
  stay(amount, ...context) {
    this.clear();
    this.#element.replaceChildren(shownAs(amount, this.#word(amount, ...context), 'told'));
  }

  clear() {
    clearTimeout(this.#timer);
    this.#startedAt = -Infinity;
    this.#element.replaceChildren();
  }

  #show(word) {
    this.#element.replaceChildren(shownAs(this.#sum, word, 'news'));
    this.#timer = setTimeout(() => this.clear(), NEWS_MS);
  }
}

function shownAs(amount, { text, spoken }, kind) {
  const shown = document.createElement('span');
  shown.className = `${kind} ${amount > 0 ? 'up' : 'down'}`;
  shown.textContent = text;
  if (spoken) {
    shown.setAttribute('role', 'img');
    shown.setAttribute('aria-label', spoken);
  }
  return shown;
}

/** How an arrow tells of so many places won (positive) or lost; `since` says when from, where it was not just now. */
export function arrowOf(places, since = '') {
  const spoken = [movementWords(places), since].filter(Boolean).join(' ');
  return { text: `${places > 0 ? '▲' : '▼'}\u2009${count(Math.abs(places))}`, spoken };
}
