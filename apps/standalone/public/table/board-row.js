import { gainWords } from '../score-words.js';
import { columnNumber, countAbout, estimateWords, isolated, runWords, shownName } from '../words.js';
import { Face } from './face.js';
import { arrowOf, News } from './news.js';

/** One row of a table: its cells, and what is written into them. */
export class BoardRow {
  element = make('tr');
  entry = null;
  #estimate = null;
  #scores = null;
  #href = null;
  #rank = make('span');
  #label;
  #name = Object.assign(make('th', 'name'), { scope: 'row' });
  #details = make('span', 'details');
  #run = make('div', 'run');
  #extra;
  #spark;
  #score = make('span', 'number');
  #moved;
  #isCompact;
  #gained;
  #face = null;

  /** `look` is `{ isCompact, hasExtra, isLink, hasSpark }`. */
  constructor(playerId, { isCompact, hasExtra, isLink, hasSpark }) {
    this.playerId = playerId;
    this.#isCompact = isCompact;
    this.#label = Object.assign(make(isLink ? 'a' : 'span', 'label'), { dir: 'auto' });
    const you = Object.assign(make('span', 'you'), { textContent: 'Followed' });
    this.#name.append(make('div', 'who', [this.#label, you, this.#details]), this.#run);
    const move = make('td', 'move');
    const gain = isCompact ? null : make('td', 'gain');
    this.#extra = hasExtra ? make('td', 'extra') : null;
    this.#spark = hasSpark ? make('td', 'spark') : null;
    const cells = [make('td', 'rank', [this.#rank]), move, this.#name, this.#extra, this.#spark, gain];
    this.element.append(...cells.filter(Boolean), make('td', 'score', [this.#score]));
    this.#moved = new News(move, arrowOf, (places) => this.#edge(places));
    this.#gained = gain && new News(gain, gainOf);
  }

  /** Whether the row is that of the player who is followed. */
  set isMine(isMine) {
    this.element.classList.toggle('mine', isMine);
  }

  set href(href) {
    if (this.#href === href || this.#label.href === undefined) return;
    this.#href = href;
    this.#label.href = href;
  }

  set extra(text) {
    if (this.#extra) write(this.#extra, text);
  }

  /** The cell for a small picture; null where the table has none. */
  get spark() {
    return this.#spark;
  }

  /** Each row's part of the best score, 0 to 1. */
  set share(share) {
    const text = share.toFixed(3);
    if (this.element.style.getPropertyValue('--share') !== text) this.element.style.setProperty('--share', text);
  }

  /** Writes an entry, of a list whose ranks are `estimate` off at most; null: they are exact. */
  write(entry, { scores, estimate }) {
    const before = this.entry;
    this.entry = entry;
    if (before?.rank !== entry.rank || this.#estimate !== estimate) this.#writeRank(entry.rank, estimate);
    if (before === null || before.displayName !== entry.displayName) this.#writeName(entry);
    if (entry.player !== undefined && !(before?.player === entry.player && before.displayName === entry.displayName))
      this.#showFace(entry);
    // A row that was shifted is told by another object with the same parts.
    if (before === null || before.columns !== entry.columns) this.#writeColumns(entry.columns);
    if (entry.patch !== undefined) {
      write(this.#run, runWords(entry, scores.short));
      this.element.classList.add('has-run');
    }
    if (before?.score === entry.score && this.#scores === scores) return;
    this.#scores = scores;
    writeScore(this.#score, entry.score, this.#isCompact ? { ...scores, short: scores.brief } : scores);
  }

  #writeRank(rank, estimate) {
    this.#estimate = estimate;
    write(this.#rank, countAbout(rank, estimate));
    this.#rank.title = estimateWords(estimate);
    this.#rank.dataset.place = rank <= 3 && estimate === null ? String(rank) : '';
  }

  #writeName(entry) {
    const { displayName, playerId } = entry;
    write(this.#label, shownName(entry));
    this.#name.title = displayName ? `${isolated(displayName)} (${isolated(playerId)})` : playerId;
  }

  #showFace(entry) {
    if (this.#face === null) {
      this.#face = new Face();
      this.#name.prepend(this.#face.avatar);
      this.#label.after(this.#face.flag);
    }
    this.#face.show(entry.player, shownName(entry));
  }

  /** Whether there is an avatar to show, and a flag. */
  get shows() {
    return { avatar: this.#face?.hasAvatar ?? false, flag: this.#face?.hasFlag ?? false };
  }

  #writeColumns(columns) {
    write(this.#details, columnWords(columns, columnNumber));
    this.#details.title = columnWords(columns, String);
  }

  /** Tells what changed: so many places won, and what was gained. */
  tell({ places, gain, scores }) {
    if (places !== 0) this.#moved.tell(places);
    // Rows of live lists do not say it.
    else if (this.entry.change) this.#moved.stay(this.entry.change, 'since yesterday');
    if (gain !== 0) this.#gained?.tell(gain, scores);
  }

  #edge(places) {
    const news = places > 0 ? 'up' : 'down';
    if (places === 0) delete this.element.dataset.news;
    else if (this.element.dataset.news !== news) this.element.dataset.news = news;
  }
}

/** A score as its board writes it; where digits are left out, the exact one is told on hover and to those who listen. */
export function writeScore(element, score, { short, exact }) {
  const [text, all] = [short(score), exact(score)];
  write(element, text);
  element.title = all === text ? '' : all;
  if (all === text) {
    element.removeAttribute('role');
    element.removeAttribute('aria-label');
    return;
  }
  element.setAttribute('role', 'img');
  element.setAttribute('aria-label', all);
}

function gainOf(amount, scores) {
  const text = gainWords(amount, scores);
  return { text, spoken: `${text}` };
}

function columnWords(columns, words) {
  return Object.entries(columns ?? {})
    .map(([name, value]) => `${name} ${words(value)}`)
    .join(' · ');
}

function make(tag, className = '', children = []) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...children);
  return element;
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
