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

  clear() {
    clearTimeout(this.#timer);
    this.#startedAt = -Infinity;
    this.#element.replaceChildren();
  }

  #show({ text, spoken }) {
    const shown = document.createElement('span');
    shown.className = `news ${this.#sum > 0 ? 'up' : 'down'}`;
    shown.textContent = text;
    if (spoken) {
      shown.setAttribute('role', 'img');
      shown.setAttribute('aria-label', spoken);
    }
    this.#element.replaceChildren(shown);
    this.#timer = setTimeout(() => this.clear(), NEWS_MS);
  }
}

/** How an arrow tells of so many places won (positive) or lost. */
export function arrowOf(places) {
  return { text: `${places > 0 ? '▲' : '▼'}\u2009${count(Math.abs(places))}`, spoken: movementWords(places) };
}
