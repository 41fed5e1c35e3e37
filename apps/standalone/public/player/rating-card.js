import { titleOf } from '../best-rated.js';
import { RatingLine } from '../charts/rating-line.js';
import { problemOf, say, sayProblem } from '../messages.js';
import { count, dateOnly, isolated, ratingWords } from '../words.js';
import { ratedGame, timesOf } from './rated-games.js';

const PAGE = 100;
const PAGES_MAX = 10;
const LAST_GAMES = 10;
const LOOK_AGAIN_MS = 3000;

const MISSING = {
  gamesMin: (rule) => `${count(rule)} games`,
  deviationMax: (rule) => `a deviation of ${count(rule)} or less`,
  inactiveDaysMax: (rule) => `a game within ${count(rule)} days`,
};

const byId = (id) => document.getElementById(id);
const share = new Intl.NumberFormat(undefined, { style: 'percent' });

/** A player's rating: where it stands in a pool, how it came there, and its last games. Open, it looks again by itself. */
export class RatingCard {
  #service;
  #line = new RatingLine(byId('player-line'));
  #timer = null;
  #turn = 0;
  #position = null;

  constructor({ service }) {
    this.#service = service;
  }

  /** Shows the rating of a player in a pool, as the service describes it. */
  show(pool, playerId) {
    this.leave();
    byId('player-pool').hidden = false;
    byId('player-pool').textContent = titleOf(pool);
    say(byId('player-message'), 'Reading …');
    void this.#look(pool, playerId, this.#turn);
  }

  /** Takes it away, and asks no more. */
  leave() {
    this.#leave();
    byId('player-pool').hidden = true;
    byId('player-rating').hidden = true;
    say(byId('player-message'), '');
  }

  #leave() {
    clearTimeout(this.#timer);
    this.#turn += 1;
    this.#position = null;
    this.#line.clear();
  }

  async #look(pool, playerId, turn) {
    try {
      const rating = await this.#service.rating(pool.id, playerId);
      const isNew = rating.position !== this.#position;
      const games = isNew ? await this.#gamesOf(pool.id, playerId) : null;
      if (turn !== this.#turn) return;
      say(byId('player-message'), '');
      byId('player-rating').hidden = false;
      this.#showRating(pool, rating);
      if (games) this.#showGames(games, playerId);
      this.#position = rating.position;
    } catch (error) {
      if (turn !== this.#turn) return;
      const problem = problemOf(error);
      byId('player-rating').hidden = true;
      if (problem.code === 'RATING_NOT_FOUND') say(byId('player-message'), 'No rated game in this pool yet.');
      else sayProblem(byId('player-message'), problem);
    }
    this.#timer = setTimeout(() => void this.#look(pool, playerId, turn), LOOK_AGAIN_MS);
  }

  /** The newest first. */
  async #gamesOf(pool, playerId) {
    const games = [];
    let cursor = null;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const answer = await this.#service.gamesOfPlayer(pool, playerId, { cursor, limit: PAGE });
      games.push(...answer.games);
      cursor = answer.next;
      if (cursor === null) break;
    }
    return { games, isWhole: cursor === null };
  }

  #showRating(pool, rating) {
    const { deviation, games, wins, draws, losses, peak, provisional, rankable, missing } = rating;
    byId('player-now').textContent = ratingWords(rating.rating);
    byId('player-now').title = String(rating.rating);
    byId('player-deviation').textContent = deviation === null ? '' : `± ${ratingWords(deviation)}`;
    byId('player-provisional').hidden = !provisional;
    const best = peak ? ` Best ${ratingWords(peak.rating)}.` : '';
    const played = games === 1 ? '1 game' : `${count(games)} games`;
    byId('player-facts').textContent =
      `${played}: ${count(wins)} won, ${count(draws)} drawn, ${count(losses)} lost.${best}`;
    const needs = missing.map((name) => MISSING[name]?.(pool.rankable?.[name]) ?? name).join(', ');
    byId('player-missing').hidden = rankable || needs === '';
    byId('player-missing').textContent = `Not on the board: it takes ${needs}.`;
  }

  #showGames({ games, isWhole }, playerId) {
    const times = timesOf(games);
    const told = games
      .map((game, at) => ({ time: times[at], told: ratedGame(game, playerId) }))
      .filter(({ told }) => told !== null);
    const rows = told.slice(0, LAST_GAMES).map(({ time, told }) => rowOf(time, told));
    byId('player-games-rows').replaceChildren(...rows);
    // The order of games is that in which they count; times on the line do not go back.
    const inOrder = told.toReversed();
    let latest = -Infinity;
    const steps = inOrder.map(({ time }) => (latest = Math.max(latest, time)));
    this.#line.show(
      steps,
      inOrder.map(({ told }) => told.after),
      ratingWords,
    );
    const some = isWhole ? '' : ` The last ${count(told.length)} games.`;
    byId('player-line-words').textContent = told.length === 0 ? '' : `Rating after each game.${some}`;
  }
}

function rowOf(time, { against, result, expected, before, after }) {
  const row = document.createElement('tr');
  const [first, ...more] = against;
  const others = more.length === 0 ? first : `${isolated(first)} and ${count(more.length)} more`;
  const words = [
    dateOnly(time * 1000),
    others ?? '',
    result,
    share.format(expected),
    ratingWords(before),
    ratingWords(after),
  ];
  const cells = words.map((text, at) => {
    const cell = document.createElement('td');
    cell.textContent = text;
    if (at >= 3) cell.className = 'number';
    if (at === 1) Object.assign(cell, { dir: 'auto', title: against.map(isolated).join(', ') });
    return cell;
  });
  if (after !== before) cells.at(-1).classList.add(after > before ? 'up' : 'down');
  row.append(...cells);
  return row;
}
