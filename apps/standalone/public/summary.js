import { countAbout, estimateOf, isolated, shownName } from './words.js';

const PAUSE_MS = 12_000;

/** Tells those who listen to the page what leads the board, at most once in a while however fast it moves. */
export class Summary {
  #element;
  #last = '';
  #next = null;
  #timer = null;

  constructor(element) {
    this.#element = element;
  }

  tell(list, scores) {
    this.#next = { list, scores };
    if (this.#timer === null) this.#speak();
  }

  /** The list is gone: what led it is not to be heard any more. */
  forget() {
    this.#next = null;
    this.#last = '';
    this.#element.textContent = '';
  }

  #speak() {
    this.#timer = null;
    if (this.#next === null) return;
    const text = words(this.#next.list, this.#next.scores);
    this.#next = null;
    if (text === this.#last) return;
    this.#last = text;
    this.#element.textContent = text;
    this.#timer = setTimeout(() => this.#speak(), PAUSE_MS);
  }
}

function words(list, scores) {
  const { entries, total } = list;
  if (entries.length === 0) return 'The board is empty.';
  const estimate = estimateOf(list);
  const leaders = entries
    .slice(0, 3)
    .map((row) => `${countAbout(row.rank, estimate)}, ${isolated(shownName(row))}, ${scores.short(row.score)}`);
  return `Leading of ${countAbout(total, estimate)}: ${leaders.join('; ')}.`;
}
