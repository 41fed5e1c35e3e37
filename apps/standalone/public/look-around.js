import { keyOf } from './client.js';
import { BoardView } from './table/board-view.js';
import { problemOf, say, sayProblem } from './messages.js';
import { count, countAbout, estimateOf, isolated, shownName, timeOfDay } from './words.js';

const AROUND = 5;

const byId = (id) => document.getElementById(id);

/** The part of the board around a rank or a player that the reader types: read once, when asked. */
export class LookAround {
  #source;
  #view = new BoardView(byId('look-rows'), { isCompact: true });

  /** `source()` gives `{ service, board, window, scope, scores, me }` of the moment. */
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
    const { service, board, window, scope } = this.#source();
    const limit = 2 * AROUND + 1;
    let offset = Math.max(0, rank - 1 - AROUND);
    let answer = await service.entries(board, { window, scope, offset, limit, fields: 'player' });
    const isBeyond = rank > answer.total;
    if (isBeyond && answer.total > 0) {
      offset = Math.max(0, answer.total - limit);
      answer = await service.entries(board, { window, scope, offset, limit, fields: 'player' });
    }
    const place = Math.min(rank, answer.total);
    const end = countAbout(answer.total, estimateOf(answer));
    const words = isBeyond ? `The board ends at rank ${end}` : `Around rank ${count(rank)}`;
    this.#show(answer.entries, answer, words, (_entry, index) => offset + index + 1 === place);
  }

  async #aroundPlayer(playerId) {
    const { service, board, window, scope } = this.#source();
    const answer = await service.player(board, playerId, { window, scope, around: AROUND, fields: 'player' });
    const [rank, total] = [answer.entry.rank, answer.total].map((number) => countAbout(number, estimateOf(answer)));
    const words = `${isolated(shownName(answer.entry))}: rank ${rank} of ${total}`;
    this.#show(answer.neighbours, answer, words, (entry) => keyOf(entry) === keyOf(answer.entry));
  }

  #show(rows, answer, words, isPointedAt) {
    const { scores, me } = this.#source();
    this.clear();
    this.#view.scores = scores;
    this.#view.mine = me;
    this.#view.show({ ...answer, entries: rows });
    const pointed = rows.find(isPointedAt);
    this.#view.point(pointed === undefined ? null : keyOf(pointed));
    byId('look-table').hidden = rows.length === 0;
    byId('look-caption').textContent = words;
    say(
      byId('look-message'),
      rows.length === 0 ? 'Nobody is on this board yet.' : `${words}, at ${timeOfDay(answer.asOf)}`,
    );
  }
}
