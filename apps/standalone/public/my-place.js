import { BoardView } from './table/board-view.js';
import { News, arrowOf } from './table/news.js';
import { problemOf, say, sayProblem } from './messages.js';
import { countAbout, estimateOf, isolated, shownName } from './words.js';

const AROUND = 3;
const ASK_AGAIN_MS = 4000;

const byId = (id) => document.getElementById(id);

/** The player who is followed, with its neighbours, in a card and in the bar that stays in sight. */
export class MyPlace {
  #memory;
  #onChange;
  #view = new BoardView(byId('me-rows'), { isCompact: true });
  #barMove = new News(byId('me-bar-move'), arrowOf);
  #watched = null;
  #timer = null;
  #source = null;
  #rankShown = null;
  #name = null;

  /** `memory` holds the player id; `onChange(playerId)` hears a new one, or null. */
  constructor({ memory, onChange }) {
    this.#memory = memory;
    this.#onChange = onChange;
    byId('me-input').value = memory.get() ?? '';
    byId('me-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#choose(byId('me-input').value);
    });
    byId('me-forget').addEventListener('click', () => {
      byId('me-input').value = '';
      this.#choose(null);
      byId('me-input').focus();
    });
  }

  /** Follows the reader in this list through the client `live`; called again, leaves what it followed before. */
  follow({ live, board, window, scope, scores }) {
    this.#source = { live, board, window, scope, scores };
    this.#view.scores = scores;
    this.#restart();
  }

  leave() {
    clearTimeout(this.#timer);
    this.#watched?.close();
    this.#watched = null;
  }

  /** Follows somebody else, by the name that is known; null: nobody. */
  choose(playerId, name = playerId) {
    this.#name = playerId === null ? null : { of: playerId, name };
    this.#choose(playerId);
  }

  #choose(playerId) {
    this.#memory.set(playerId);
    this.#onChange(playerId);
    if (this.#source) this.#restart();
  }

  #restart() {
    this.leave();
    const playerId = this.#memory.get();
    this.#view.clear();
    this.#view.mine = playerId;
    this.#barMove.clear();
    this.#rankShown = null;
    byId('me-table').hidden = true;
    byId('me-bar').hidden = true;
    byId('me-forget').hidden = playerId === null;
    byId('me-form').hidden = playerId !== null;
    byId('me-place').toggleAttribute('data-reserved', playerId !== null);
    this.#callByName(playerId);
    say(byId('me-message'), '');
    if (playerId === null) return;
    this.#bar(this.#nameOf(playerId), '', '');
    this.#watch(playerId);
  }

  /** The name that was told last: what is followed has it before the list comes. */
  #nameOf(playerId) {
    return this.#name?.of === playerId ? this.#name.name : shownName({ playerId });
  }

  #callByName(playerId) {
    byId('me-heading').textContent = playerId === null ? 'Follow a player' : this.#nameOf(playerId);
    byId('me-heading').title = playerId ?? '';
  }

  #watch(playerId) {
    const { live, board, window, scope } = this.#source;
    const onProblem = (problem, { fatal }) => this.#refused(playerId, problem, fatal);
    this.#watched = live
      .board(board)
      .watchPlayer({ window, scope, playerId, around: AROUND, fields: ['player'], onProblem }, (list, { changes }) =>
        this.#show(playerId, list, changes),
      );
  }

  #refused(playerId, problem, isOver) {
    if (problem.code === 'ENTRY_NOT_FOUND') this.#showNone(playerId);
    else sayProblem(byId('me-message'), problemOf(problem));
    if (isOver) this.#timer = setTimeout(() => this.#watch(playerId), ASK_AGAIN_MS);
  }

  #show(playerId, list, changes) {
    const mine = list.entries.find((row) => row.playerId === playerId);
    if (!mine) {
      this.#showNone(playerId);
      return;
    }
    say(byId('me-message'), '');
    byId('me-table').hidden = false;
    this.#view.show(list, changes);
    this.#name = { of: playerId, name: shownName(mine) };
    this.#callByName(playerId);
    this.#bar(
      this.#name.name,
      `Rank ${countAbout(mine.rank, estimateOf(list))}`,
      this.#source.scores.short(mine.score),
    );
    if (this.#rankShown !== null && this.#rankShown !== mine.rank) this.#barMove.tell(this.#rankShown - mine.rank);
    this.#rankShown = mine.rank;
  }

  #showNone(playerId) {
    this.#view.clear();
    this.#rankShown = null;
    byId('me-table').hidden = true;
    say(
      byId('me-message'),
      `${isolated(this.#nameOf(playerId))} has no entry here yet. It appears with the first score.`,
    );
    this.#bar(this.#nameOf(playerId), 'No entry yet', '');
  }

  #bar(name, rank, score) {
    byId('me-bar').hidden = false;
    byId('me-bar-rank').textContent = rank;
    byId('me-bar-name').textContent = name;
    byId('me-bar-name').title = name;
    byId('me-bar-score').textContent = score;
  }
}
