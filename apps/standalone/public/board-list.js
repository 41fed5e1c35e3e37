import { BoardView } from './table/board-view.js';
import { problemOf } from './messages.js';
import { isPlainClick } from './page-frame.js';
import { countAbout, estimateOf, shownName } from './words.js';

/** What the table says beside rank, name and score, and by what it is watched, by view. */
const SHAPES = {
  players: { who: 'Player', watch: 'watchTop', extra: null },
  guilds: {
    who: 'Guild',
    watch: 'watchGuilds',
    extra: { label: 'Members', of: ({ metadata }) => countOrNothing(metadata?.members) },
  },
  friends: {
    who: 'Player',
    watch: 'watchFriends',
    extra: { label: 'Overall', of: ({ globalRank }, list) => countOrNothing(globalRank, estimateOf(list)) },
  },
};

const byId = (id) => document.getElementById(id);

/** The big table: one live list of a view, a window and a scope. */
export class BoardList {
  #view = new BoardView(byId('rows'), { onRows: (rows) => this.#sparks.draw(rows) });
  #sparks;
  #watched = null;
  #isOfGuilds = false;
  #onList;
  #onRefused;
  #onDelay;
  #onWindowClosed;
  #hrefOfGuild;
  #onPlayer;
  #hrefOfPlayer;

  /**
   * `onList(list, changes)` hears each list that is shown, with the changes that led to it, none when it came as a whole;
   * `onRefused(problem)` that there is no such list (any more), `onDelay(problem)` that it cannot be had now, and comes by itself;
   * `onWindowClosed()` that the window's final standings are there; `onGuild(id)` the choice of a guild; `hrefOfGuild(id)` is the
   * address of its members.
   * `onPlayer(id, name)` hears the choice of a player, `hrefOfPlayer(id)` is its address. `sparks` draws beside the rows.
   */
  constructor({ sparks, onList, onRefused, onDelay, onWindowClosed, onGuild, hrefOfGuild, onPlayer, hrefOfPlayer }) {
    this.#sparks = sparks;
    this.#hrefOfPlayer = hrefOfPlayer;
    this.#onList = onList;
    this.#onRefused = onRefused;
    this.#onDelay = onDelay;
    this.#onWindowClosed = onWindowClosed;
    this.#hrefOfGuild = hrefOfGuild;
    this.#onPlayer = onPlayer;
    byId('rows').addEventListener('click', (event) => {
      const row = this.#view.rowAt(event.target);
      if (!row || !isPlainClick(event) || String(getSelection()) !== '') return;
      event.preventDefault();
      if (this.#isOfGuilds) onGuild(row.playerId);
      else this.#onPlayer(row.playerId, shownName(row.entry));
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
   * Follows a list from now on by the client `live`, and leaves the one it followed. `list` is `{ board, window, scope }`, `more` what else
   * the list of this view is asked for with, `scoreLabel` the heading of the scores, `hasSpark` whether rows show how their rank came about.
   */
  watch({ live, list, more, view, scores, scoreLabel, hasSpark }) {
    const { height } = byId('board').getBoundingClientRect();
    this.leave();
    // Until the rows are there, nothing below moves up, and the page stays where it was scrolled to.
    byId('board').style.minHeight = `${height}px`;
    const { who, extra, watch } = SHAPES[view];
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
    const { board, ...asked } = list;
    this.#sparks.list = hasSpark ? { board, window: asked.window } : null;
    const fields = this.#isOfGuilds ? {} : { fields: ['player'] };
    const onProblem = (problem, { fatal }) => (fatal ? this.#onRefused : this.#onDelay)(problemOf(problem));
    const options = { ...asked, ...more, ...fields, onProblem };
    this.#watched = live.board(board)[watch](options, (shown, change) => this.#show(shown, change));
  }

  leave() {
    this.#watched?.close();
    this.#watched = null;
    this.clear();
  }

  clear() {
    this.#view.clear();
    byId('table').hidden = true;
    byId('board').style.minHeight = '';
  }

  #show(list, { changes, window }) {
    byId('table').hidden = list.entries.length === 0;
    this.#view.show(list, changes);
    byId('board').style.minHeight = '';
    this.#onList(list, changes);
    if (window !== undefined) this.#onWindowClosed();
  }
}

function countOrNothing(value, estimate = null) {
  return typeof value === 'number' ? countAbout(value, estimate) : '';
}
