import { historyOf } from '../player/player-facts.js';
import { count } from '../words.js';

const SVG = 'http://www.w3.org/2000/svg';
const [WIDTH, HEIGHT] = [64, 20];
const ROWS_MAX = 50;
const AT_ONCE = 2;
const KNOWN_MAX = 500;

/** A small line beside each row: how its rank came about, where the board keeps history. Each is read once. */
export class Sparks {
  #service;
  #list = null;
  #known = new Map();
  #open = [];
  #reading = 0;

  constructor({ service }) {
    this.#service = service;
  }

  /** Another list, `{ board, window }`; null: none with history. */
  set list(list) {
    const isSame = JSON.stringify(list) === JSON.stringify(this.#list);
    this.#list = list;
    this.#open = [];
    if (!isSame) this.#known.clear();
  }

  /** Draws beside these rows, `[{ playerId, spark }]`. */
  draw(rows) {
    if (this.#list === null) return;
    this.#open = [];
    for (const row of rows.slice(0, ROWS_MAX)) {
      if (row.spark === null || row.spark.hasChildNodes()) continue;
      const ranks = this.#known.get(row.playerId);
      if (ranks === undefined) this.#open.push(row);
      else if (ranks !== null) this.#put(row, ranks);
    }
    while (this.#reading < AT_ONCE && this.#open.length > 0) void this.#read();
  }

  async #read() {
    this.#reading += 1;
    for (let row = this.#open.shift(); row !== undefined; row = this.#open.shift()) {
      const list = this.#list;
      const points = await historyOf(this.#service, list, row.playerId);
      if (list !== this.#list) continue;
      const ranks = (points ?? []).map(({ rank }) => rank).filter((rank) => rank !== null);
      if (this.#known.size < KNOWN_MAX) this.#known.set(row.playerId, ranks.length < 2 ? null : ranks);
      if (ranks.length >= 2) this.#put(row, ranks);
    }
    this.#reading -= 1;
  }

  #put({ spark, element }, ranks) {
    if (element.isConnected) spark.replaceChildren(lineOf(ranks));
  }
}

function lineOf(ranks) {
  const [best, worst] = [Math.min(...ranks), Math.max(...ranks)];
  const x = (at) => 2 + (at * (WIDTH - 6)) / (ranks.length - 1);
  const y = (rank) => (worst === best ? HEIGHT / 2 : 3 + ((rank - best) * (HEIGHT - 6)) / (worst - best));
  const line = shape('polyline', {
    points: ranks.map((rank, at) => `${x(at).toFixed(1)},${y(rank).toFixed(1)}`).join(' '),
  });
  const end = shape('circle', { cx: x(ranks.length - 1).toFixed(1), cy: y(ranks.at(-1)).toFixed(1), r: 2.5 });
  const svg = shape('svg', { width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img' });
  const words = `rank ${count(ranks[0])} to ${count(ranks.at(-1))}, best ${count(best)}`;
  svg.setAttribute('aria-label', words);
  const title = shape('title', {});
  title.textContent = words;
  svg.append(title, line, end);
  return svg;
}

function shape(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}
