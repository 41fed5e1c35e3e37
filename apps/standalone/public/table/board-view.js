import { keyOf } from '../client.js';
import { scoreWords } from '../score-words.js';
import { estimateOf } from '../words.js';
import { BoardRow } from './board-row.js';
import { mayMove, Slides, standsFor } from './slides.js';
import { stillRows } from './still-rows.js';

/**
 * A ranked table that shows whatever list it is given. Rows that stay slide to their new place, and say for a few seconds
 * how far they moved and what they gained. Lists that come faster than rows can slide are shown as one.
 */
export class BoardView {
  #body;
  #slides;
  #rows = new Map();
  #scores;
  #mine = null;
  #pointed = null;
  #look;
  #extraOf = null;
  #hrefOf = null;
  #ranksAmongThem = false;
  #waiting = null;
  #timer = null;
  #onRows;

  /**
   * `body` is the `<tbody>`. A compact table says neither what a row gained nor its share of the best score. `onRows(rows)`
   * hears the rows after each change, as `[{ playerId, entry, spark }]`.
   */
  constructor(body, { scores = scoreWords(), isCompact = false, onRows = () => {} } = {}) {
    this.#body = body;
    this.#slides = new Slides(body);
    this.#scores = scores;
    this.#look = { isCompact, hasSpark: false };
    this.#onRows = onRows;
  }

  /** How scores are written, as `scoreWords` gives it. */
  set scores(scores) {
    this.#scores = scores;
  }

  /** Whether ranks are among the rows alone: those are exact also where those among everybody are estimated. */
  set ranksAmongThem(ranksAmongThem) {
    this.#ranksAmongThem = ranksAmongThem;
  }

  /** What the rows say beside their score, as text of an entry and its list; null: nothing. For rows that come after. */
  set extraOf(extraOf) {
    this.#extraOf = extraOf;
  }

  /** Where the names of rows lead, as an address of an entry; null: nowhere. For rows that come after. */
  set hrefOf(hrefOf) {
    this.#hrefOf = hrefOf;
  }

  /** Whether rows have a cell for a small picture. For rows that come after. */
  set hasSpark(hasSpark) {
    this.#look.hasSpark = hasSpark;
  }

  /** Whose row is marked; null marks none. */
  set mine(playerId) {
    this.#mine = playerId;
    for (const row of this.#rows.values()) row.isMine = row.playerId === playerId;
  }

  /** Points at one row, by what names it, for a list that was asked for around it. */
  point(key) {
    this.#pointed = key;
    for (const [each, { element }] of this.#rows) {
      if (each === key) element.setAttribute('aria-current', 'true');
      else element.removeAttribute('aria-current');
    }
  }

  /** Whose row an element is in; undefined when it is in none. */
  playerAt(element) {
    return this.rowAt(element)?.playerId;
  }

  /** The row that an element is in, `{ playerId, entry }`; undefined when it is in none. */
  rowAt(element) {
    return [...this.#rows.values()].find((row) => row.element.contains(element));
  }

  /** Forgets every row, so that the next list appears without movement. */
  clear() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#waiting = null;
    this.#pointed = null;
    this.#rows.clear();
    this.#body.replaceChildren();
    this.#body.parentElement.classList.remove('has-avatars', 'has-flags');
  }

  /**
   * Shows the list, as the client and the API give it, or what follows it within a moment. `changes` (of the delta that led to it) says where a row came from
   * that was not on the list, and is the reason for arrows; without them a row is compared with what was shown before.
   */
  show(list, changes = []) {
    if (this.#rows.size === 0) {
      this.#put(list, new Map());
      return;
    }
    const causes = this.#waiting?.causes ?? new Map();
    for (const change of changes) if (!causes.has(keyOf(change))) causes.set(keyOf(change), change);
    this.#waiting = { list, causes };
    if (document.hidden) clearTimeout(this.#timer);
    if (document.hidden || this.#timer === null) this.#next(false);
  }

  #next(wasWaiting) {
    const { list, causes } = this.#waiting;
    this.#waiting = null;
    this.#put(list, causes);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#waiting !== null) this.#next(true);
    }, standsFor(wasWaiting));
  }

  #put(list, causes) {
    const wasEmpty = this.#rows.size === 0;
    const kept = new Set(list.entries.map(keyOf));
    const leaving = [...this.#rows].filter(([key]) => !kept.has(key));
    const isMoved = !wasEmpty && mayMove() && this.#isReordered(list, leaving);
    if (isMoved) {
      this.#slides.start(
        this.#rows,
        leaving.map(([, row]) => row),
      );
    }
    for (const [key, row] of leaving) {
      row.element.remove();
      this.#rows.delete(key);
    }
    const shareOf = this.#look.isCompact ? () => 0 : shares(list.entries);
    const rows = list.entries.map((entry) => {
      const key = keyOf(entry);
      const row = this.#rows.get(key) ?? this.#add(key, entry.playerId);
      this.#update(row, entry, list, wasEmpty ? null : causes.get(key));
      row.share = shareOf(entry.score);
      return row;
    });
    this.#makeRoom(rows);
    this.#order(rows);
    if (isMoved) this.#slides.run(this.#rows);
    this.#onRows(rows);
  }

  /** Once a list has had an avatar or a flag, its names keep the room for them: they do not jump. */
  #makeRoom(rows) {
    const table = this.#body.parentElement;
    for (const what of ['avatar', 'flag']) {
      const name = `has-${what}s`;
      if (!table.classList.contains(name) && rows.some(({ shows }) => shows[what])) table.classList.add(name);
    }
  }

  /** Puts the rows into their order, and touches as few as can be: each that is moved is laid out anew. */
  #order(rows) {
    const places = new Map([...this.#body.children].map((element, at) => [element, at]));
    const still = stillRows(rows.map(({ element }) => places.get(element) ?? -1));
    rows.forEach(({ element }, at) => {
      if (still.has(at)) return;
      const before = at === 0 ? null : rows[at - 1].element;
      if (before === null) this.#body.prepend(element);
      else before.after(element);
    });
  }

  #isReordered({ entries }, leaving) {
    return (
      leaving.length > 0 ||
      entries.some((entry, at) => this.#body.children[at] !== this.#rows.get(keyOf(entry))?.element)
    );
  }

  #add(key, playerId) {
    const row = new BoardRow(playerId, {
      ...this.#look,
      hasExtra: this.#extraOf !== null,
      isLink: this.#hrefOf !== null,
    });
    row.isMine = this.#mine !== null && playerId === this.#mine;
    if (key === this.#pointed) row.element.setAttribute('aria-current', 'true');
    this.#rows.set(key, row);
    return row;
  }

  #update(row, entry, list, cause) {
    // What was shown is what the reader compares with; a row that was not there came from where the change says.
    const rankBefore = row.entry?.rank ?? cause?.previousRank ?? null;
    // Another tax changes scores, and nobody gains by it: of another run, the change says what it was before.
    const shownBefore = entry.patch === undefined ? row.entry?.score : undefined;
    const scoreBefore = isSameRun(row.entry, entry) ? null : (shownBefore ?? cause?.previousScore ?? null);
    row.write(entry, { scores: this.#scores, estimate: this.#ranksAmongThem ? null : estimateOf(list) });
    if (this.#hrefOf) row.href = this.#hrefOf(entry);
    if (this.#extraOf) row.extra = this.#extraOf(entry, list);
    row.tell({
      places: rankBefore === null ? 0 : rankBefore - entry.rank,
      gain: scoreBefore === null ? 0 : entry.score - scoreBefore,
      scores: this.#scores,
    });
  }
}

/** Whether an entry of a board with decay is of the run that was shown. */
function isSameRun(before, { patch, rawScore }) {
  return patch !== undefined && before?.patch === patch && before.rawScore === rawScore;
}

/** Each score's share of the best one, where a share means something: higher is better, and nothing below 0. */
function shares(rows) {
  const best = rows[0]?.score ?? 0;
  const meaningful = best > 0 && rows.every((row) => row.score >= 0 && row.score <= best);
  return (score) => (meaningful ? score / best : 0);
}
