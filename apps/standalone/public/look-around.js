import { keyOfRow } from './board-state.js';
import { BoardView } from './table/board-view.js';
import { problemOf, say, sayProblem } from './messages.js';
import { count, countAbout, timeOfDay } from './words.js';

const AROUND = 5;

const byId = (id) => document.getElementById(id);

/** How far off an answer's ranks and total are at most; null: they are exact. */
const estimateOf = ({ accuracy, errorBound = 0 }) => (accuracy === 'estimated' ? errorBound : null);

/** The part of the board around a rank or a player that the reader types: read once, when asked. */
export class LookAround {
  #source;
  #view = new BoardView(byId('look-rows'), { isCompact: true });

  /** `source()` gives `{ rest, board, window, scope, scores, me }` of the moment. */
  constructor({ source }) {
    this.#source = source;
    const form = byId('look-form');
    form.addEventListener('change', () => this.#setUp(form.elements.by.value));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#look(form.elements.by.value, form.elements.what.value);
    });
    this.#setUp(form.elements.by.value);
  }

  /** Takes the result away: it was of another window. */
  clear() {
    this.#view.clear();
    byId('look-table').hidden = true;
    say(byId('look-message'), '');
  }

  #setUp(by) {
    const input = byId('look-input');
    input.inputMode = by === 'rank' ? 'numeric' : 'text';
    input.placeholder = by === 'rank' ? 'Rank' : 'Player id';
  }

  async #look(by, what) {
    try {
      if (by === 'player') await this.#aroundPlayer(what);
      else await this.#aroundRank(what);
    } catch (error) {
      this.clear();
      sayProblem(byId('look-message'), problemOf(error));
    }
  }

  async #aroundRank(text) {
    const rank = Number(text);
    if (!Number.isSafeInteger(rank) || rank < 1) {
      this.clear();
      say(byId('look-message'), 'A rank is a whole number from 1.');
      return;
    }
    const { rest, board, window, scope } = this.#source();
    const limit = 2 * AROUND + 1;
    let offset = Math.max(0, rank - 1 - AROUND);
    let answer = await rest.entries(board, { window, scope, offset, limit });
    const isBeyond = rank > answer.total;
    if (isBeyond && answer.total > 0) {
      offset = Math.max(0, answer.total - limit);
      answer = await rest.entries(board, { window, scope, offset, limit });
    }
    const place = Math.min(rank, answer.total);
    const end = countAbout(answer.total, estimateOf(answer));
    const words = isBeyond ? `The board ends at rank ${end}` : `Around rank ${count(rank)}`;
    this.#show(answer.entries, answer, words, (_entry, index) => offset + index + 1 === place);
  }

  async #aroundPlayer(playerId) {
    const { rest, board, window, scope } = this.#source();
    const answer = await rest.player(board, playerId, { window, scope, around: AROUND });
    const [rank, total] = [answer.entry.rank, answer.total].map((number) => countAbout(number, estimateOf(answer)));
    const words = `${answer.entry.displayName ?? playerId}: rank ${rank} of ${total}`;
    this.#show(answer.neighbours, answer, words, (entry) => keyOfRow(entry) === keyOfRow(answer.entry));
  }

  #show(rows, answer, words, isPointedAt) {
    const { scores, me } = this.#source();
    this.clear();
    this.#view.scores = scores;
    this.#view.mine = me;
    this.#view.show({ rows, estimate: estimateOf(answer) });
    const pointed = rows.find(isPointedAt);
    this.#view.point(pointed === undefined ? null : keyOfRow(pointed));
    byId('look-table').hidden = rows.length === 0;
    byId('look-caption').textContent = words;
    say(
      byId('look-message'),
      rows.length === 0 ? 'Nobody is on this board yet.' : `${words}, at ${timeOfDay(answer.asOf)}`,
    );
  }
}
