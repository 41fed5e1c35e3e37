const HEADER_STEP_MS = 1000;

/**
 * What time it is for the service, from the `Date` headers of its answers. A header is cut to the second and an answer
 * takes its time, so each only bounds how far the two clocks are apart; several together bound it closely.
 */
export class ServerClock {
  #now;
  #aheadMin = -Infinity;
  #aheadMax = Infinity;

  /** `now()` is the reader's own clock, Unix ms. */
  constructor({ now = () => Date.now() } = {}) {
    this.#now = now;
  }

  /** Takes an answer: its `Date` header, and when by the reader's clock it was asked for and came, Unix ms. */
  observe(date, askedAt, cameAt) {
    const stated = Date.parse(date ?? '');
    if (Number.isNaN(stated)) return;
    const min = stated - cameAt;
    const max = stated + HEADER_STEP_MS - askedAt;
    const isApart = min > this.#aheadMax || max < this.#aheadMin;
    // One of the clocks was set meanwhile: what was known before is worth nothing.
    this.#aheadMin = isApart ? min : Math.max(min, this.#aheadMin);
    this.#aheadMax = isApart ? max : Math.min(max, this.#aheadMax);
  }

  /** Unix ms; the reader's own clock as long as nothing is known. */
  now() {
    if (this.#aheadMin === -Infinity) return this.#now();
    return this.#now() + Math.round((this.#aheadMin + this.#aheadMax) / 2);
  }
}
