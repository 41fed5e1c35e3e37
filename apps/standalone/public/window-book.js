import { isFollowed, kindOf, nameOf } from './window-words.js';

const LOOK_EVERY_MS = 60_000;
/** A window that is over shows its final standings when late scores are in. */
const LOOK_FOR_FINAL_EVERY_MS = 10_000;
const LOOK_SOONEST_MS = 1000;
/** Everybody's countdown ends at once; everybody's question must not come at once. */
const SPREAD_MS = 1500;

/** The windows of one board: which are running, to come, and over. It looks again by itself when one of them changes. */
export class WindowBook {
  running = [];
  upcoming = [];
  /** Newest first; as many as were asked for. */
  ended = [];
  #pages = new Map();
  #cursor = null;
  #read;
  #clock;
  #onChange;
  #random;
  #timer = null;
  #isClosed = false;

  /** `read({ cursor })` gives a page of the list; `onChange()` is told after each further look that found a change. */
  constructor({ read, clock, onChange, random = Math.random }) {
    this.#read = read;
    this.#clock = clock;
    this.#onChange = onChange;
    this.#random = random;
  }

  /** Reads the windows, and from then on looks again by itself. @throws what `read` throws */
  async open() {
    await this.#look();
    this.#schedule();
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Looks again now. */
  async refresh() {
    clearTimeout(this.#timer);
    try {
      if ((await this.#look()) && !this.#isClosed) this.#onChange();
    } catch {
      // What was known stays; the connection of the page says by itself that the service is away.
    }
    if (!this.#isClosed) this.#schedule();
  }

  /** Whether there are older windows than those known. */
  get hasMore() {
    return this.#cursor !== null;
  }

  /** Reads a further page of those that are over. @throws what `read` throws */
  async more() {
    const page = await this.#read({ cursor: this.#cursor });
    this.#cursor = page.next;
    this.#keep(page.windows);
  }

  /** The window of a name or an id; without one `alltime`, or the first that runs. null when it is not among those known. */
  find(name) {
    if (name === null) return this.find('alltime') ?? this.running[0] ?? this.ended[0] ?? null;
    const known = [...this.running, ...this.ended, ...this.upcoming];
    if (isFollowed(name)) return this.running.find((window) => nameOf(window) === name) ?? null;
    return known.find(({ id }) => id === name) ?? null;
  }

  /** Whether the board ever ends a window: an archive then is worth a place. */
  get hasArchive() {
    return this.ended.length > 0 || this.upcoming.length > 0;
  }

  async #look() {
    const before = JSON.stringify([this.running, this.upcoming, this.ended]);
    const page = await this.#read({});
    if (this.#pages.size === 0) this.#cursor = page.next;
    this.running = page.windows.filter(({ state }) => state === 'running');
    this.upcoming = page.windows.filter(({ state }) => state === 'upcoming');
    this.#keep(page.windows);
    return before !== JSON.stringify([this.running, this.upcoming, this.ended]);
  }

  #keep(windows) {
    for (const window of windows) if (window.endsAt) this.#pages.set(window.id, window);
    const isOver = ({ state }) => state === 'ended' || state === 'settled';
    this.ended = [...this.#pages.values()].filter(isOver).sort(byEnd);
  }

  #schedule() {
    clearTimeout(this.#timer);
    const now = this.#clock.now();
    const waits = [...this.running, ...this.upcoming]
      .map((window) => momentOf(window, now) - now)
      .map((wait) => Math.max(wait, LOOK_SOONEST_MS) + this.#random() * SPREAD_MS);
    const waitsForFinal = this.ended.some(({ state }) => state === 'ended');
    const wait = Math.min(...waits, waitsForFinal ? LOOK_FOR_FINAL_EVERY_MS : LOOK_EVERY_MS);
    this.#timer = setTimeout(() => void this.refresh(), wait);
  }
}

/** A window that the book does not know, from what an answer says about it. */
export function windowOfAnswer({ id, startsAt, endsAt, resetsAt }) {
  const state = endsAt && !resetsAt ? 'settled' : 'running';
  return { id, kind: kindOf(id), state, startsAt, endsAt, resetsAt, freezeAt: null, isFrozen: false, entries: null };
}

/** When the window will be another one than it is now, Unix ms; Infinity when never. */
function momentOf({ state, startsAt, freezeAt, resetsAt, endsAt }, now) {
  if (state === 'upcoming') return Date.parse(startsAt);
  const freezesAt = Date.parse(freezeAt ?? '');
  if (freezesAt > now) return freezesAt;
  return Date.parse(resetsAt ?? endsAt ?? '') || Infinity;
}

function byEnd(a, b) {
  return Date.parse(b.endsAt) - Date.parse(a.endsAt) || (a.id < b.id ? -1 : 1);
}
