import { setTimeout as sleep } from 'node:timers/promises';
import { CatchUp } from './catch-up.mjs';
import { Problem } from '../problem.mjs';
import { readTable } from './board.mjs';

const K = 20;
const INITIAL = 1500;
const SCALE = 400;
const HOME_ADVANTAGE = 100;
const TITLE = 'World football Elo, 1872–1999';
const ITEM_ATTEMPTS_MAX = 10;
const ITEM_RETRY_DELAY_MS = 1_000;
const faultsShownMax = 5;

/** How far two computations of one rating may lie apart, relative: their sums are made in another order. */
const tolerance = 1e-9;

/** What a match of a tournament is worth, as World Football Elo has it (https://www.eloratings.net/about). */
const worthOf = (tournament) => {
  if (tournament === 'FIFA World Cup') return 60;
  if (CHAMPIONSHIPS.has(tournament)) return 50;
  if (tournament.endsWith(' qualification')) return 40;
  return tournament === 'Friendly' ? 20 : 30;
};

/** Of continents, and between them. */
const CHAMPIONSHIPS = new Set([
  'Copa América',
  'African Cup of Nations',
  'AFC Asian Cup',
  'UEFA Euro',
  'CONCACAF Championship',
  'Gold Cup',
  'Oceania Nations Cup',
  'Confederations Cup',
]);

/** A victory by more goals moves more. */
const worthOfGoals = (difference) => {
  if (difference <= 1) return 1;
  return difference === 2 ? 1.5 : 1.75 + (difference - 3) / 8;
};

/** What multiplies K in a match. */
export const weightOf = ({ tournament, home, away }) =>
  (worthOf(tournament) / K) * worthOfGoals(Math.abs(home.goals - away.goals));

/** The pool of nations beside a board of the demo, and the board that it feeds: both have this id. */
export const ratingsOf = (board) => (board === 'football' ? 'world-elo' : `${board}-elo`);

const definitionOf = (id) => ({
  ...{ title: TITLE, algorithm: 'elo' },
  parameters: { initial: INITIAL, k: K, scale: SCALE, homeAdvantage: HOME_ADVANTAGE },
  boards: [{ board: id, value: 'rating', columns: { games: 'games', peak: 'peak' } }],
});

const boardOfRatings = {
  ...{ title: TITLE, order: 'desc', operator: 'latest', format: { kind: 'number', decimals: 0 } },
  columns: [
    { name: 'games', order: 'desc' },
    { name: 'peak', order: 'desc' },
  ],
  push: { intervalMs: 250, top: 100 },
};

/**
 * Makes sure that the pool and its board are there, and empty when a new replay starts.
 * @throws Problem when there is a pool or a board of that id that the demo did not make
 */
export async function prepareRatings(client, id, { emptied }) {
  const [pool, board] = [`/v1/pools/${id}`, `/v1/boards/${id}`];
  const [known, shown] = [await read(client, pool), await read(client, board)];
  for (const [what, there] of [
    ['pool', known],
    ['board', shown],
  ]) {
    if (there !== null && there.title !== TITLE) {
      throw new Problem(
        `The ${what} "${id}" was not made by this demo, so it is left alone. Take another: --board <id>`,
      );
    }
  }
  if (known !== null && !emptied) return;
  if (known !== null) await client.call('DELETE', pool);
  if (shown !== null) await client.call('DELETE', board);
  await client.call('PUT', board, boardOfRatings);
  await client.call('PUT', pool, definitionOf(id));
}

async function read(client, path) {
  try {
    return (await client.call('GET', path, undefined, { attemptsMax: 4 })).body;
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

/** A match as a game of the pool. Its date is of before 1970, where times begin for the service: it goes along. */
export function gameOf(match, { pool, replay }) {
  const { row, date, tournament, isNeutral, home, away } = match;
  const sideOf = (own, other) => ({
    ...{ playerId: own.team, place: own.goals >= other.goals ? 1 : 2, score: own.goals },
  });
  return {
    ...{ pool, gameId: `${replay.id}-${row}`, weight: weightOf(match) },
    playedAt: new Date(replay.startsAtMs + row).toISOString(),
    players: [{ ...sideOf(home, away), ...(!isNeutral && { home: true }) }, sideOf(away, home)],
    metadata: { date, tournament },
  };
}

/** Sends matches as games, in their order; single games that were refused for now are sent again under their ids. */
export async function sendGames(client, matches, { pool, replay, onFailure }) {
  let open = matches.map((match) => gameOf(match, { pool, replay }));
  for (let attempt = 1; ; attempt += 1) {
    const { body } = await client.call('POST', '/v1/games', { games: open });
    const refused = open.map((game, index) => ({ game, problem: body.results[index].problem })).filter(hasProblem);
    open = refused.filter(({ problem }) => isForNow(problem)).map(({ game }) => game);
    for (const { game, problem } of refused) {
      if (!isForNow(problem) || attempt === ITEM_ATTEMPTS_MAX)
        onFailure({ submissionId: game.gameId, playerId: pool }, problem);
    }
    if (open.length === 0 || attempt === ITEM_ATTEMPTS_MAX) return;
    await sleep(ITEM_RETRY_DELAY_MS);
  }
}

const hasProblem = ({ problem }) => problem !== undefined;
const isForNow = ({ status }) => status === 429 || status === 503;

/** The ratings that the matches come to, computed from them alone: by team. */
export function eloOf(matches) {
  const ratings = new Map();
  const ratingOf = (team) => ratings.get(team) ?? INITIAL;
  for (const match of matches) {
    const { home, away, isNeutral } = match;
    const lead = ratingOf(home.team) + (isNeutral ? 0 : HOME_ADVANTAGE) - ratingOf(away.team);
    const score = (Math.sign(home.goals - away.goals) + 1) / 2;
    const moved = K * weightOf(match) * (score - 1 / (1 + 10 ** (-lead / SCALE)));
    const [ofHome, ofAway] = [ratingOf(home.team) + moved, ratingOf(away.team) - moved];
    ratings.set(home.team, ofHome).set(away.team, ofAway);
  }
  return ratings;
}

/**
 * Reads the board of ratings until it has what the file comes to.
 * @returns `{ shown, faults }`: its entries, and what is wrong with them, in words
 */
export function compareRatings(client, id, matches) {
  const expected = eloOf(matches);
  return new CatchUp().look(
    () => readTable(client, id),
    (shown) => faultsOf(expected, shown),
  );
}

function faultsOf(expected, shown) {
  const faults = shown.flatMap(({ playerId, score }, index) => {
    const wanted = expected.get(playerId);
    const isRight = wanted !== undefined && Math.abs(score - wanted) <= tolerance * Math.abs(wanted);
    if (!isRight) return [`${playerId}: the file says ${wanted ?? 'nothing'}, the board ${score}`];
    return index > 0 && score > shown[index - 1].score ? [`${playerId} stands behind a lower rating`] : [];
  });
  if (shown.length !== expected.size) faults.push(`The file has ${expected.size} nations, the board ${shown.length}`);
  return faults.slice(0, faultsShownMax);
}
