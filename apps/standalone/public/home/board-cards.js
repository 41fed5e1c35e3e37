import { Countdown } from '../countdown.js';
import { problemOf, say, sayProblem } from '../messages.js';
import { scoreWords } from '../score-words.js';
import { writeScore } from '../table/board-row.js';
import { nameOf, runningLabel } from '../window-words.js';
import { count, countAbout, estimateOf, shownName } from '../words.js';

const PAGE = 24;
const LEADERS = 3;
const WINDOWS_MAX = 4;
const AT_ONCE = 4;
const LOOK_EVERY_MS = 15_000;
const LOOK_WITHOUT_BOARDS_MS = 5000;

const byId = (id) => document.getElementById(id);

/** The boards that anybody may see, with who leads them, which windows run, and for how long. It looks again by itself. */
export class BoardCards {
  #service;
  #hrefOf;
  #cards = new Map();
  #cursor = null;
  #timer = null;
  #turn = 0;

  /** `hrefOf({ board, window })` is the address of a board. */
  constructor({ service, hrefOf }) {
    this.#service = service;
    this.#hrefOf = hrefOf;
    byId('home-more').addEventListener('click', () => void this.#page(this.#turn));
  }

  /** Lists the boards from the first on; `heading` is said where the page has another title. */
  async show({ heading = '' } = {}) {
    if (!byId('home').hidden && this.#cards.size > 0) return;
    this.hide();
    byId('home').hidden = false;
    byId('home-heading').textContent = heading || 'Boards to choose from';
    byId('home-heading').classList.toggle('unseen', heading === '');
    await this.#page(this.#turn);
  }

  hide() {
    this.#turn += 1;
    clearTimeout(this.#timer);
    byId('home').hidden = true;
    byId('home-boards').replaceChildren();
    for (const { countdown } of this.#cards.values()) countdown.tell(null);
    this.#cards.clear();
    this.#cursor = null;
  }

  async #page(turn) {
    clearTimeout(this.#timer);
    try {
      const { boards, next } = await this.#service.boards({ cursor: this.#cursor, limit: PAGE });
      if (turn !== this.#turn) return;
      this.#cursor = next;
      byId('home-more').hidden = next === null;
      for (const board of boards) this.#add(board);
      say(
        byId('home-message'),
        this.#cards.size === 0 ? 'There is no board yet. It shows here as soon as it is made.' : '',
      );
      await this.#look(
        boards.map(({ id }) => id),
        turn,
      );
    } catch (error) {
      if (turn !== this.#turn) return;
      sayProblem(byId('home-message'), problemOf(error));
    }
    this.#lookLater(turn);
  }

  #lookLater(turn) {
    if (turn !== this.#turn) return;
    const again = async () => {
      if (this.#cards.size === 0) return this.#page(turn);
      if (!document.hidden) await this.#look([...this.#cards.keys()], turn);
      this.#lookLater(turn);
    };
    this.#timer = setTimeout(() => void again(), this.#cards.size === 0 ? LOOK_WITHOUT_BOARDS_MS : LOOK_EVERY_MS);
  }

  #add(board) {
    if (this.#cards.has(board.id)) return;
    const link = make('a', '', board.title || board.id);
    link.href = this.#hrefOf({ board: board.id, window: null });
    link.dir = 'auto';
    const soft = make('p', 'soft', '\u00a0');
    const leaders = make('ol', '');
    leaders.setAttribute('aria-label', 'Who leads');
    const runs = make('p', 'runs');
    const until = make('span', 'until');
    const element = make('li', '', make('h3', '', link), soft, leaders, runs);
    const countdown = new Countdown(until, { clock: this.#service });
    this.#cards.set(board.id, { board, soft, leaders, runs, until, countdown, shown: '' });
    byId('home-boards').append(element);
  }

  /** Reads who leads these boards now, some at a time. A board that cannot be read stays as it was. */
  async #look(ids, turn) {
    const open = [...ids];
    const worker = async () => {
      for (let id = open.shift(); id !== undefined && turn === this.#turn; id = open.shift())
        await this.#lookAt(id, turn);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }

  async #lookAt(id, turn) {
    try {
      const { windows } = await this.#service.windows(id, { state: 'running', limit: 50 });
      const main = windows.find(({ kind }) => kind === 'alltime') ?? windows[0];
      const list = await this.#service.entries(id, { window: main?.id, limit: LEADERS });
      const card = this.#cards.get(id);
      if (turn === this.#turn && card) this.#fill(card, list, windows);
    } catch {
      // It may be there the next time.
    }
  }

  #fill(card, list, windows) {
    const { board, soft, leaders, runs, until, countdown } = card;
    const { entries, total } = list;
    soft.textContent = total === 1 ? '1 entry' : `${countAbout(total, estimateOf(list))} entries`;
    const scores = scoreWords(board.format);
    leaders.replaceChildren(...entries.map((entry) => leaderOf(entry, scores)));
    if (entries.length === 0) leaders.append(make('li', 'soft', 'Nobody yet'));
    const shown = JSON.stringify(windows.map(({ id, resetsAt, endsAt, isFrozen }) => [id, resetsAt, endsAt, isFrozen]));
    if (shown === card.shown) return;
    card.shown = shown;
    const links = windows.slice(0, WINDOWS_MAX).map((window) => {
      const link = make('a', '', runningLabel(window, this.#service.now()));
      link.href = this.#hrefOf({ board: board.id, window: nameOf(window) });
      return link;
    });
    const ends = windows.filter(({ resetsAt, endsAt }) => resetsAt ?? endsAt).sort((a, b) => endOf(a) - endOf(b));
    const more = windows.length - links.length;
    runs.replaceChildren(...links, ...(more > 0 ? [make('span', 'soft', `and ${count(more)} more`)] : []), until);
    countdown.tell(ends[0] ?? null, ends[0] ? runningLabel(ends[0], this.#service.now()) : '');
  }
}

const endOf = ({ resetsAt, endsAt }) => Date.parse(resetsAt ?? endsAt);

function leaderOf({ rank, playerId, displayName, score }, scores) {
  const place = make('span', 'rank', make('span', '', count(rank)));
  place.firstChild.dataset.place = String(rank);
  const name = make('span', 'label', shownName({ displayName, playerId }));
  name.dir = 'auto';
  const number = make('span', 'number');
  writeScore(number, score, { ...scores, short: scores.brief });
  return make('li', '', place, name, number);
}

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...children);
  return element;
}
