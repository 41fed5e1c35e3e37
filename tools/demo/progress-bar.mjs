const BAR_WIDTH = 24;
const REDRAW_EVERY_MS = 100;
const LINE_EVERY_MS = 3_000;

const number = new Intl.NumberFormat('en');

/** One line that is redrawn on a terminal; elsewhere a line every three seconds. */
export class ProgressBar {
  #out;
  #total;
  #startedAt = performance.now();
  #shownAt = -Infinity;
  #isDrawn = false;

  constructor(total, out = process.stdout) {
    this.#total = total;
    this.#out = out;
  }

  /** Begins to measure the pace. */
  start() {
    this.#startedAt = performance.now();
  }

  /** @param state `{ played, date, leader }`; `leader` is `{ playerId, score }` or null */
  show(state, { last = false } = {}) {
    const now = performance.now();
    const every = this.#out.isTTY ? REDRAW_EVERY_MS : LINE_EVERY_MS;
    if (!last && now - this.#shownAt < every) return;
    this.#shownAt = now;
    this.#draw(this.#line(state, now));
    if (last) this.end();
  }

  /** What is being done before the bar begins to move. */
  prepare(text) {
    const now = performance.now();
    if (now - this.#shownAt < (this.#out.isTTY ? REDRAW_EVERY_MS : LINE_EVERY_MS)) return;
    this.#shownAt = now;
    this.#draw(text);
  }

  /** A line of its own, above the bar. */
  note(text) {
    if (this.#isDrawn) this.#out.write('\r\x1b[2K');
    this.#out.write(`${text}\n`);
  }

  /** Leaves the bar as it stands; what is written next begins on its own line. */
  end() {
    if (this.#isDrawn) this.#out.write('\n');
    this.#isDrawn = false;
  }

  #draw(line) {
    if (!this.#out.isTTY) return void this.#out.write(`${line}\n`);
    this.#out.write(`\r\x1b[2K${line.slice(0, (this.#out.columns ?? 100) - 1)}`);
    this.#isDrawn = true;
  }

  #line({ played, date, leader }, now) {
    const done = this.#total === 0 ? 1 : played / this.#total;
    const full = Math.round(done * BAR_WIDTH);
    const bar = '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
    const percent = String(Math.floor(done * 100)).padStart(3);
    const pace = Math.round((played / Math.max(1, now - this.#startedAt)) * 1000);
    const ahead = leader ? `  ${leader.playerId} ${number.format(leader.score)}` : '';
    return `${bar} ${percent} %  ${date ?? ''}  ${number.format(pace)} matches/s${ahead}`;
  }
}
