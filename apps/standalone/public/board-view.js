import { keyOfRow } from './board-state.js';
import { News, arrowOf } from './news.js';
import { columnNumber, countAbout, estimateWords, runWords } from './words.js';

const MOVE_MS = 450;
const FLASH_MS = 1400;
const EASING = 'cubic-bezier(0.22, 0.9, 0.3, 1)';

const stillness = globalThis.matchMedia?.('(prefers-reduced-motion: reduce)');

/**
 * A ranked table that shows whatever list it is given. Rows that stay glide to their new place, and say for a few
 * seconds how far they moved and what they gained.
 */
export class BoardView {
  #body;
  #rows = new Map();
  #writeScore;
  #mine = null;
  #extraOf = null;
  #hrefOf = null;
  #ranksAmongThem = false;
  #isCompact;

  /** `body` is the `<tbody>`. A compact table says neither what a row gained nor its share of the best score. */
  constructor(body, { writeScore = String, isCompact = false } = {}) {
    this.#body = body;
    this.#writeScore = writeScore;
    this.#isCompact = isCompact;
  }

  set writeScore(writeScore) {
    this.#writeScore = writeScore;
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

  /** Whose row is marked; null marks none. */
  set mine(playerId) {
    this.#mine = playerId;
    for (const row of this.#rows.values()) markMine(row, playerId);
  }

  /** Points at one row, by what names it, for a list that was asked for around it. */
  point(key) {
    for (const row of this.#rows.values()) row.element.removeAttribute('aria-current');
    this.#rows.get(key)?.element.setAttribute('aria-current', 'true');
  }

  /** Whose row an element is in; undefined when it is in none. */
  playerAt(element) {
    return [...this.#rows.values()].find((row) => row.element.contains(element))?.playerId;
  }

  /** Forgets every row, so that the next list appears without movement. */
  clear() {
    this.#rows.clear();
    this.#body.replaceChildren();
  }

  /**
   * Shows the list. `changes` (of the delta that led to it) says where a row came from that was not on the list, and is
   * the reason for arrows; without them a row is compared with what was shown before.
   */
  show(list, changes = []) {
    const wasEmpty = this.#rows.size === 0;
    const animated = !wasEmpty && !document.hidden && !stillness?.matches;
    const topsBefore = animated ? this.#tops() : null;
    const causes = new Map(changes.map((change) => [keyOfRow(change), change]));
    this.#removeAllBut(new Set(list.rows.map(keyOfRow)));
    const shareOf = this.#isCompact ? () => 0 : shares(list.rows);
    list.rows.forEach((entry, index) => {
      const key = keyOfRow(entry);
      const row = this.#rows.get(key) ?? this.#add(key, entry.playerId);
      this.#update(row, entry, list, wasEmpty ? null : causes.get(key));
      row.element.style.setProperty('--share', String(shareOf(entry.score)));
      if (this.#body.children[index] !== row.element)
        this.#body.insertBefore(row.element, this.#body.children[index] ?? null);
    });
    if (animated) this.#glide(topsBefore);
  }

  #removeAllBut(kept) {
    for (const [key, row] of this.#rows) {
      if (kept.has(key)) continue;
      row.element.remove();
      this.#rows.delete(key);
    }
  }

  #add(key, playerId) {
    const row = makeRow({
      isCompact: this.#isCompact,
      hasExtra: this.#extraOf !== null,
      isLink: this.#hrefOf !== null,
    });
    markMine(row, this.#mine, playerId);
    row.playerId = playerId;
    this.#rows.set(key, row);
    return row;
  }

  #update(row, entry, list, cause) {
    const rankBefore = cause?.previousRank ?? row.entry?.rank ?? null;
    const scoreBefore = cause?.previousScore ?? row.entry?.score ?? null;
    row.entry = entry;
    const estimate = this.#ranksAmongThem ? null : (list.estimate ?? null);
    write(row.rank, countAbout(entry.rank, estimate));
    row.rank.title = estimateWords(estimate);
    row.rank.dataset.place = entry.rank <= 3 && estimate === null ? String(entry.rank) : '';
    write(row.label, entry.displayName ?? entry.playerId);
    row.name.title = entry.displayName ? `${entry.displayName} (${entry.playerId})` : entry.playerId;
    if (this.#hrefOf) row.label.href = this.#hrefOf(entry);
    write(row.details, columnWords(entry.columns, columnNumber));
    row.details.title = columnWords(entry.columns, String);
    write(row.run, runWords(entry, this.#writeScore));
    if (row.extra) write(row.extra, this.#extraOf(entry, list));
    write(row.score, this.#writeScore(entry.score));
    row.score.title = String(entry.score);
    const places = rankBefore === null ? 0 : rankBefore - entry.rank;
    // What another tax made of a score is no gain; under one tax, the change says what it was before.
    const isGain = scoreBefore !== null && (entry.patch === undefined || Boolean(cause));
    const gain = isGain ? entry.score - scoreBefore : 0;
    if (places !== 0) row.moved.tell(places);
    // Rows of live lists do not say it.
    else if (entry.change) row.moved.stay(entry.change, 'since yesterday');
    if (gain !== 0) row.gained?.tell(gain, this.#writeScore);
    if (places !== 0) flash(row, places);
  }

  /** Where each row is on the screen now, movement under way included, relative to the table. */
  #tops() {
    const origin = this.#body.getBoundingClientRect().top;
    return new Map([...this.#rows].map(([id, row]) => [id, row.element.getBoundingClientRect().top - origin]));
  }

  #glide(topsBefore) {
    for (const row of this.#rows.values()) row.movement?.cancel();
    const topsAfter = this.#tops();
    for (const [key, row] of this.#rows) {
      const before = topsBefore.get(key);
      const distance = before === undefined ? 0 : before - topsAfter.get(key);
      if (before === undefined) row.element.animate([{ opacity: 0 }, { opacity: 1 }], { duration: MOVE_MS });
      if (Math.abs(distance) < 1) continue;
      row.element.dataset.direction = distance > 0 ? 'up' : 'down';
      const path = [{ transform: `translateY(${distance}px)` }, { transform: 'none' }];
      row.movement = row.element.animate(path, { duration: MOVE_MS, easing: EASING });
    }
  }
}

function makeRow({ isCompact, hasExtra, isLink }) {
  const element = make('tr');
  const rank = make('span');
  const move = make('td', 'move');
  const name = Object.assign(make('th', 'name'), { scope: 'row' });
  const label = Object.assign(make(isLink ? 'a' : 'span', 'label'), { dir: 'auto' });
  const details = make('span', 'details');
  const who = make('div', 'who', [label, Object.assign(make('span', 'you'), { textContent: 'You' }), details]);
  const run = make('div', 'run');
  name.append(who, run);
  const extra = hasExtra ? make('td', 'extra') : null;
  const gain = isCompact ? null : make('td', 'gain');
  const score = make('td', 'score');
  element.append(...[make('td', 'rank', [rank]), move, name, extra, gain, score].filter(Boolean));
  const gained = gain && new News(gain, gainOf);
  return { element, rank, moved: new News(move, arrowOf), name, label, details, run, extra, gained, score };
}

function make(tag, className = '', children = []) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...children);
  return element;
}

function gainOf(amount, writeScore) {
  return { text: `${amount > 0 ? '+' : '−'}${writeScore(Math.abs(amount))}` };
}

function markMine(row, mine, playerId = row.playerId) {
  row.element.classList.toggle('mine', mine !== null && playerId === mine);
}

function flash(row, sign) {
  if (stillness?.matches || document.hidden) return;
  const tint = `var(${sign > 0 ? '--up-tint' : '--down-tint'})`;
  row.tint?.cancel();
  // The end is what the style sheet says, so that a row is never see-through while it glides over another.
  row.tint = row.element.animate([{ backgroundColor: tint, offset: 0 }], { duration: FLASH_MS, easing: 'ease-out' });
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function columnWords(columns, words) {
  return Object.entries(columns ?? {})
    .map(([name, value]) => `${name} ${words(value)}`)
    .join(' · ');
}

/** Each score's share of the best one, where a share means something: higher is better, and nothing below 0. */
function shares(rows) {
  const best = rows[0]?.score ?? 0;
  const meaningful = best > 0 && rows.every((row) => row.score >= 0 && row.score <= best);
  return (score) => (meaningful ? score / best : 0);
}
