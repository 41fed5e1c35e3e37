import { BoardView } from './table/board-view.js';
import { problemOf, say, sayProblem } from './messages.js';
import { isPlainClick } from './page-frame.js';
import { isolated, ratingWords } from './words.js';

const SHOWN = 10;
const POOLS_MAX = 100;

const byId = (id) => document.getElementById(id);

/** The best players of a rating pool, live, in a card; hidden where no pool feeds a board with its ratings. */
export class BestRated {
  #service;
  #onPool;
  #hrefOfBoard;
  #view = new BoardView(byId('best-rated-rows'), {
    isCompact: true,
    scores: { short: ratingWords, brief: ratingWords, exact: ratingWords },
  });
  #pools = [];
  #chosen = null;
  #watched = null;

  /**
   * `onPlayer(pool, id, name)` hears the choice of a player, `onPool()` that of a pool; `hrefOfBoard(id)` is the address of
   * a board.
   */
  constructor({ service, onPlayer, onPool, hrefOfBoard }) {
    this.#service = service;
    this.#onPool = onPool;
    this.#hrefOfBoard = hrefOfBoard;
    this.#view.hrefOf = ({ playerId }) => `#player=${encodeURIComponent(playerId)}`;
    byId('best-rated-rows').addEventListener('click', (event) => {
      const label = event.target.closest('a.label');
      const id = label && this.#view.playerAt(event.target);
      if (!id || !isPlainClick(event)) return;
      event.preventDefault();
      onPlayer(this.#chosen, id, label.textContent);
    });
    byId('best-rated-pool').addEventListener('change', (event) => {
      this.#choose(event.target.value);
      this.#onPool();
    });
  }

  /** The pool whose players are shown, as the service describes it; null: there is none. */
  get pool() {
    return this.#chosen;
  }

  /** Reads which pools there are, and takes the one of this board, the one that was chosen, or the first. */
  async load(board) {
    const { pools } = await this.#service.pools({ limit: POOLS_MAX }).catch(() => ({ pools: [] }));
    this.#pools = pools.filter((pool) => boardOf(pool) !== null);
    const known = this.#pools.find(({ id }) => id === this.#chosen?.id);
    this.#choose((this.#pools.find((pool) => boardOf(pool) === board) ?? known ?? this.#pools[0])?.id);
    byId('best-rated').hidden = this.#chosen === null;
    const select = byId('best-rated-pool');
    select.hidden = this.#pools.length < 2;
    select.replaceChildren(...this.#pools.map((pool) => new Option(titleOf(pool), pool.id)));
    if (this.#chosen) select.value = this.#chosen.id;
  }

  /** Follows the pool's board through `live`, unless it is the board that is on the page already. */
  follow(live, boardShown) {
    this.leave();
    if (this.#chosen === null) return;
    const board = boardOf(this.#chosen);
    byId('best-rated').hidden = board === boardShown;
    byId('best-rated-heading').textContent = `Best rated: ${isolated(titleOf(this.#chosen))}`;
    const link = byId('best-rated-board');
    link.hidden = false;
    link.href = this.#hrefOfBoard(board);
    if (board !== boardShown) this.#watch(live, board);
  }

  leave() {
    this.#watched?.close();
    this.#watched = null;
    this.#view.clear();
    byId('best-rated-table').hidden = true;
    say(byId('best-rated-message'), '');
  }

  #choose(id) {
    this.#chosen = this.#pools.find((pool) => pool.id === id) ?? null;
  }

  #watch(live, board) {
    const onProblem = (problem) => sayProblem(byId('best-rated-message'), problemOf(problem));
    const options = { window: 'alltime', limit: SHOWN, fields: ['player'], onProblem };
    this.#watched = live.board(board).watchTop(options, (list, { changes }) => this.#show(list, changes));
  }

  #show(list, changes) {
    const isEmpty = list.entries.length === 0;
    say(byId('best-rated-message'), isEmpty ? 'Nobody is rated yet.' : '');
    byId('best-rated-table').hidden = isEmpty;
    this.#view.show(list, changes);
  }
}

/** The board that shows the ratings of a pool over all time; null: none does. */
const boardOf = ({ boards }) => boards.find(({ value }) => value === 'rating')?.board ?? null;

export const titleOf = ({ id, title }) => title ?? id;
