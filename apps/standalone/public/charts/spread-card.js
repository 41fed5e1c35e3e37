import { Chart } from './chart.js';
import { shownName } from '../words.js';
import { spreadChart, spreadOf } from './spread.js';

/** What stands above it comes first. */
const FIRST_LOOK_MS = 1500;
const LOOK_EVERY_MS = 60_000;

const byId = (id) => document.getElementById(id);

/** How the scores of the list on the page are spread, in a card; it looks again each minute while somebody sees it. */
export class SpreadCard {
  #service;
  #chart = new Chart(byId('spread-figure'), { height: 140 });
  #timer = null;
  #turn = 0;

  constructor({ service }) {
    this.#service = service;
  }

  /** Follows a list, `{ board, window, scope, order, scores, me }`. */
  follow(list) {
    this.#stop();
    const turn = this.#turn;
    this.#timer = setTimeout(() => void this.#look(list, turn), byId('spread').hidden ? FIRST_LOOK_MS : 0);
  }

  leave() {
    this.#stop();
    byId('spread').hidden = true;
  }

  #stop() {
    this.#turn += 1;
    clearTimeout(this.#timer);
  }

  async #look(list, turn) {
    if (!document.hidden) {
      const spread = await spreadOf(this.#service, list).catch(() => null);
      const mine = spread && (await this.#placeOf(list));
      if (turn !== this.#turn) return;
      byId('spread').hidden = spread === null;
      if (spread !== null) this.#chart.show(spreadChart(spread, { scores: list.scores, ...mine }));
    }
    this.#timer = setTimeout(() => void this.#look(list, turn), LOOK_EVERY_MS);
  }

  /** Where the player is who is followed. */
  async #placeOf({ board, window, scope, me }) {
    if (me === null) return {};
    const answer = await this.#service.player(board, me, { window, scope }).catch(() => null);
    return answer === null ? {} : { mine: answer.entry.score, name: shownName(answer.entry) };
  }
}
