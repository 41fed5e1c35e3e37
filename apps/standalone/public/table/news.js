import { count, movementWords, timeOfDay } from '../words.js';

const NEWS_MS = 5000;
/** What the head of the columns says of how long a change is told. */
export const NEWS_WORDS = `last ${NEWS_MS / 1000} s`;

/**
 * A change told in an element for a few seconds and then taken away, so that nobody reads it late; it says since when it
 * counts. Changes that follow each other closely are told as one: ▲ 2 and then ▲ 1 is ▲ 3.
 */
export class News {
  #element;
  #word;
  #onChange;
  #sum = 0;
  #startedAt = -Infinity;
  #since = '';
  #timer = null;
  #shown = document.createElement('span');

  /**
   * `word(amount, …)` gives `{ text, spoken }` for an amount that is not 0; positive is good. `onChange(amount)` hears what
   * is told, 0 when nothing is.
   */
  constructor(element, word, onChange = () => {}) {
    this.#element = element;
    this.#word = word;
    this.#onChange = onChange;
    this.#shown.setAttribute('role', 'img');
  }

  tell(amount, ...context) {
    const now = performance.now();
    if (now - this.#startedAt > NEWS_MS) {
      this.#sum = 0;
      this.#startedAt = now;
      this.#since = sinceWords(Date.now());
    }
    this.#sum += amount;
    clearTimeout(this.#timer);
    if (this.#sum === 0) return this.clear();
    this.#put(this.#sum, 'news', this.#word(this.#sum, ...context), this.#since);
    this.#timer = setTimeout(() => this.clear(), NEWS_MS);
  }

  /** Tells an amount that is no news: it stays until something is told, or cleared. `since` says from when it counts. */
  stay(amount, since, ...context) {
    this.clear();
    this.#put(amount, 'told', this.#word(amount, ...context), since);
  }

  clear() {
    clearTimeout(this.#timer);
    this.#startedAt = -Infinity;
    if (!this.#element.hasChildNodes()) return;
    this.#element.replaceChildren();
    this.#onChange(0);
  }

  #put(amount, kind, { text, spoken }, since) {
    const shown = this.#shown;
    shown.className = `${kind} ${amount > 0 ? 'up' : 'down'}`;
    if (shown.textContent !== text) shown.textContent = text;
    shown.title = `${spoken} ${since}`;
    shown.setAttribute('aria-label', shown.title);
    if (!shown.isConnected) this.#element.replaceChildren(shown);
    this.#onChange(amount);
  }
}

let since = { second: 0, words: '' };

/** The same words for all that changes within a second: to write a time takes its time. */
function sinceWords(nowMs) {
  const second = Math.floor(nowMs / 1000);
  if (since.second !== second) since = { second, words: `since ${timeOfDay(nowMs)}` };
  return since.words;
}

/** How an arrow tells of so many places won (positive) or lost. */
export function arrowOf(places) {
  return { text: `${places > 0 ? '▲' : '▼'}\u2009${count(Math.abs(places))}`, spoken: movementWords(places) };
}
