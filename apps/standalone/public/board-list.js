import { BoardView } from './board-view.js';
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
  #view = new BoardView(byId('rows'));
  #subscription = null;
  #isOfGuilds = false;
  #onList;
  #onProblem;
  #onWindowClosed;
  #hrefOfGuild;
  #onPlayer;

  /**
   * `onList(list, changes)` hears each list that is shown, with the changes that led to it, none when it came as a whole;
   * `onProblem(problem)` a refusal, `onWindowClosed()` that the window's
   * final standings are there, `onGuild(id)` the choice of a guild; `hrefOfGuild(id)` is the address of its members.
   * `onPlayer(id, name)` hears the choice of a player, where {@link hrefOfPlayer} leads somewhere.
   */
  constructor({ onList, onProblem, onWindowClosed, onGuild, hrefOfGuild, onPlayer }) {
    this.#onList = onList;
    this.#onProblem = onProblem;
    this.#onWindowClosed = onWindowClosed;
    this.#hrefOfGuild = hrefOfGuild;
    this.#onPlayer = onPlayer;
    byId('rows').addEventListener('click', (event) => {
      const label = event.target.closest('a.label');
      const id = label && this.#view.playerAt(event.target);
      if (!id || !isPlainClick(event)) return;
      event.preventDefault();
      if (this.#isOfGuilds) onGuild(id);
      else this.#onPlayer(id, label.textContent);
    });
  }

  /** The address of a player's card, of an id; null: players have none. For lists that are watched from then on. */
  hrefOfPlayer = null;

  set mine(playerId) {
    this.#view.mine = playerId;
  }

  /**
   * Follows a list from now on, and leaves the one it followed. `request` is what a subscription asks for, `scoreLabel`
   * the heading of the scores.
   */
  watch({ live, request, view, tiebreak, writeScore, scoreLabel }) {
    const height = byId('board').offsetHeight;
    this.leave();
    // Until the rows are there, nothing below moves up, and the page stays where it was scrolled to.
    byId('board').style.minHeight = `${height}px`;
    const { who, extra } = SHAPES[view];
    byId('who-heading').textContent = who;
    byId('score-heading').textContent = scoreLabel;
    byId('extra-heading').textContent = extra?.label ?? '';
    byId('table').classList.toggle('has-extra', extra !== null);
    this.#view.writeScore = writeScore;
    this.#view.extraOf = extra?.of ?? null;
    this.#view.ranksAmongThem = view === 'friends';
    this.#isOfGuilds = view === 'guilds';
    const hrefOf = this.#isOfGuilds ? this.#hrefOfGuild : this.hrefOfPlayer;
    this.#view.hrefOf = hrefOf && ((entry) => hrefOf(entry.playerId));
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
