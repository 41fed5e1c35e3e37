import { BoardView } from './table/board-view.js';
import { isPlainClick } from './page-frame.js';
import { countAbout } from './words.js';

/** What the table says beside rank, name and score, by view. */
const SHAPES = {
  players: { who: 'Player', extra: null },
  guilds: { who: 'Guild', extra: { label: 'Members', of: ({ metadata }) => countOrNothing(metadata?.members) } },
  friends: {
    who: 'Player',
    extra: { label: 'Overall', of: ({ globalRank }, { estimate }) => countOrNothing(globalRank, estimate) },
  },
};

const byId = (id) => document.getElementById(id);

/** The big table: one live list of a view, a window and a scope. */
export class BoardList {
  #view = new BoardView(byId('rows'), { onRows: (rows) => this.#sparks.draw(rows) });
  #sparks;
  #subscription = null;
  #isOfGuilds = false;
  #onList;
  #onProblem;
  #onWindowClosed;
  #hrefOfGuild;
  #onPlayer;
  #hrefOfPlayer;

  /**
   * `onList(list, changes)` hears each list that is shown, with the changes that led to it, none when it came as a whole;
   * `onProblem(problem)` a refusal, `onWindowClosed()` that the window's
   * final standings are there, `onGuild(id)` the choice of a guild; `hrefOfGuild(id)` is the address of its members.
   * `onPlayer(id, name)` hears the choice of a player, `hrefOfPlayer(id)` is its address. `sparks` draws beside the rows.
   */
  constructor({ sparks, onList, onProblem, onWindowClosed, onGuild, hrefOfGuild, onPlayer, hrefOfPlayer }) {
    this.#sparks = sparks;
    this.#hrefOfPlayer = hrefOfPlayer;
    this.#onList = onList;
    this.#onProblem = onProblem;
    this.#onWindowClosed = onWindowClosed;
    this.#hrefOfGuild = hrefOfGuild;
    this.#onPlayer = onPlayer;
    byId('rows').addEventListener('click', (event) => {
      const row = this.#view.rowAt(event.target);
      if (!row || !isPlainClick(event) || String(getSelection()) !== '') return;
      event.preventDefault();
      const { playerId, displayName } = row.entry;
      if (this.#isOfGuilds) onGuild(playerId);
      else this.#onPlayer(playerId, displayName ?? playerId);
    });
  }

  /** Whether there are rows. */
  get isShown() {
    return !byId('table').hidden;
  }

  set mine(playerId) {
    this.#view.mine = playerId;
  }

  /**
   * Follows a list from now on, and leaves the one it followed. `request` is what a subscription asks for, `scoreLabel`
   * the heading of the scores, `hasSpark` whether rows show how their rank came about.
   */
  watch({ live, request, view, tiebreak, scores, scoreLabel, hasSpark }) {
    const { height } = byId('board').getBoundingClientRect();
    this.leave();
    // Until the rows are there, nothing below moves up, and the page stays where it was scrolled to.
    byId('board').style.minHeight = `${height}px`;
    const { who, extra } = SHAPES[view];
    byId('who-heading').textContent = who;
    byId('score-heading').textContent = scoreLabel;
    byId('extra-heading').textContent = extra?.label ?? '';
    byId('table').classList.toggle('has-extra', extra !== null);
    this.#view.scores = scores;
    this.#view.extraOf = extra?.of ?? null;
    this.#view.ranksAmongThem = view === 'friends';
    this.#isOfGuilds = view === 'guilds';
    const hrefOf = this.#isOfGuilds ? this.#hrefOfGuild : this.#hrefOfPlayer;
    this.#view.hrefOf = ({ playerId }) => hrefOf(playerId);
    this.#view.hasSpark = hasSpark;
    byId('table').classList.toggle('has-spark', hasSpark);
    this.#sparks.list = hasSpark ? { board: request.board, window: request.window } : null;
    this.#subscription = live.subscribe(request, {
      tiebreak,
      onList: (list, changes) => this.#show(list, changes),
      onProblem: (problem) => this.#onProblem(problem),
      onWindowClosed: () => this.#onWindowClosed(),
    });
  }

  leave() {
    this.#subscription?.close();
    this.#subscription = null;
    this.clear();
  }

  clear() {
    this.#view.clear();
    byId('table').hidden = true;
    byId('board').style.minHeight = '';
  }

  #show(list, changes) {
    byId('table').hidden = list.rows.length === 0;
    this.#view.show(list, changes);
    byId('board').style.minHeight = '';
    this.#onList(list, changes);
  }
}

function countOrNothing(value, estimate = null) {
  return typeof value === 'number' ? countAbout(value, estimate) : '';
}
