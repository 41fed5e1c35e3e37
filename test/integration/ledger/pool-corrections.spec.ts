// Real: PostgreSQL and the ledger of one process. Checked against a plain replay of the games that are left, to the last bit.
// The random histories print their seed; SEED=… repeats them.
import type { PlayerRating, PoolGame, RatingState } from '@laddercast/domain';
import {
  asAnswered,
  CorrectionFold,
  outcomeOfPoolEvent,
  PoolCorrections,
  replayPool,
  type AskedCorrection,
  type CorrectionOutcome,
  type KeptOutcome,
  type Pool,
  type PoolReplay,
  type RecordedPlayer,
  type VoidMode,
  type VoidSelection,
} from '@laddercast/ledger';
import {
  createTestDatabase,
  Dice,
  foldWithRefunds,
  playersByPlace,
  randomGames,
  seedOfRun,
  type GivenPoints,
  type TestDatabase,
} from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gameOf, PoolNode } from '../nodes/pool-node.js';

const seed = seedOfRun();
const ALL: VoidSelection = { gameIds: null, playerId: null, fromMs: null, toMs: null };
const printed = (rating: number): number => Math.round(rating * 1e6) / 1e6;

interface StoredChange {
  playerId: string;
  position: number;
  before: number;
  after: RatingState;
  expected: number | null;
  k: number | null;
  outcome: string | null;
}

describe('corrections of recorded games', () => {
  let testDatabase: TestDatabase;
  let node: PoolNode;
  let pool: Pool;
  let made = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new PoolNode(testDatabase.url);
    await node.start();
  });
  beforeEach(async () => {
    pool = await node.makePool(`p${(made += 1)}`);
  });
  afterAll(async () => {
    await node.stop();
    await testDatabase.drop();
  });

  const play = async (...games: Record<string, number>[]): Promise<void> => {
    await Promise.all(games.map((places, at) => node.games.record(gameOf(pool.id, `g${at + 1}`, places))));
  };
  const voidOf = (selection: Partial<VoidSelection>, mode: VoidMode = 'recompute'): AskedCorrection => ({
    selection: { ...ALL, ...selection },
    mode,
    reason: 'cheated',
  });
  const correct = async (asked: AskedCorrection): Promise<CorrectionOutcome> => {
    const { position, games } = await node.corrections.record(pool.id, asked, 'test');
    if (games === 0) return { games, players: [] };
    await node.rater.rate(pool.uid);
    return asAnswered((await outcomeOfPoolEvent<KeptOutcome>(node.database, pool.uid, position))!);
  };
  const short = ({ players }: CorrectionOutcome): object =>
    Object.fromEntries(players.map(({ playerId, after }) => [playerId, printed(after)]));

  const storedRatings = async (): Promise<Map<string, PlayerRating>> => {
    const rows = await node.database.query<{ playerId: string }>(
      'SELECT player_id AS "playerId" FROM ratings WHERE pool_uid = $1 ORDER BY player_id',
      [pool.uid],
    );
    const ratings = new Map<string, PlayerRating>();
    for (const { playerId } of rows) ratings.set(playerId, (await node.playerRating(pool, playerId))!);
    return ratings;
  };
  const storedChanges = (): Promise<StoredChange[]> =>
    node.database.query<StoredChange>(
      `SELECT player_id AS "playerId", position, before_rating AS before, expected, k, outcome, json_build_object('rating',
         after_rating, 'deviation', after_deviation, 'volatility', after_volatility, 'memory', coalesce(after_memory, '{}'))
         AS after
       FROM rating_changes WHERE pool_uid = $1 ORDER BY position, player_id`,
      [pool.uid],
    );

  /** What was given back, as it is stored; `of` is the game. */
  const storedRefunds = (): Promise<(GivenPoints & { of: string })[]> =>
    node.database.query(
      `SELECT c.player_id AS "playerId", c.position, c.refund AS points, g.game_id AS of
       FROM rating_changes AS c JOIN games AS g ON g.pool_uid = c.pool_uid AND g.position = c.game_position
       WHERE c.pool_uid = $1 AND refund IS NOT NULL ORDER BY c.position, c.player_id`,
      [pool.uid],
    );

  /** Whether all that is stored is what these games, and the refunds, make from the first on. */
  const expectReplayOf = async (games: readonly PoolGame[]): Promise<void> => {
    const given = await storedRefunds();
    const replay = foldWithRefunds(node.algorithms.poolOf(pool.definition), games, given);
    const withoutPosition = ([playerId, { position: _, ...rating }]: [string, PlayerRating]): unknown => [
      playerId,
      rating,
    ];
    const byId = (a: [string, unknown], b: [string, unknown]): number => (a[0] < b[0] ? -1 : 1);
    expect([...(await storedRatings())].sort(byId).map(withoutPosition)).toEqual(
      [...replay.players].sort(byId).map(withoutPosition),
    );
    const changes = replay.games.flatMap(({ game, changes: ofGame }) =>
      ofGame.map(({ playerId, before, after, expected, k, outcome }): StoredChange => ({
        ...{ playerId, position: game.position, before: before.rating, after, expected, k, outcome },
      })),
    );
    changes.push(
      ...replay.refunds.map(({ playerId, position, before, after }) => ({
        ...{ playerId, position, before: before.rating, after, expected: null, k: null, outcome: null },
      })),
    );
    changes.sort((a, b) => a.position - b.position || (a.playerId < b.playerId ? -1 : 1));
    expect(await storedChanges()).toEqual(changes);
    const { players, pending, refunded } = await node.pools.get(pool.id);
    expect({ players, pending }).toEqual({ players: replay.players.size, pending: 0 });
    expect(refunded).toBeCloseTo(
      given.reduce((sum, { points }) => sum + points, 0),
      6,
    );
  };
  /** What the service's own replay says. */
  const replayed = async (): Promise<PoolReplay> => {
    const rating = node.algorithms.poolOf(pool.definition);
    return replayPool(node.database, await node.pools.get(pool.id), rating);
  };
  const storedGames = (): Promise<PoolGame[]> =>
    node.database.query<PoolGame>(
      `SELECT game_id AS "gameId", position, played_at_ms AS "playedAtMs", weight, players, results FROM games
       WHERE pool_uid = $1 AND unrated IS DISTINCT FROM 'VOID' ORDER BY position`,
      [pool.uid],
    );

  it('leave the ratings that would be had the game never been', async () => {
    await play({ ada: 1, bob: 2 }, { bob: 1, cy: 2 }, { ada: 1, bob: 1 });
    await node.rater.rate(pool.uid);
    const dry = await node.corrections.dryRun(pool.id, voidOf({ gameIds: ['g1'] }));
    expect(short(dry)).toEqual({ ada: 1500.736307, bob: 1515.263693, cy: 1484 });
    expect(printed((await node.ratingOf(pool, 'ada'))!)).toBe(1515.297533);
    expect(await correct(voidOf({ gameIds: ['g1'] }))).toEqual(dry);
    expect(dry.games).toBe(1);
    await expectReplayOf(await storedGames());
  });

  it('can be of games that are not rated yet', async () => {
    await play({ ada: 1, bob: 2 }, { bob: 1, cy: 2 }, { ada: 1, bob: 1 });
    await correct(voidOf({ gameIds: ['g1', 'g3'] }));
    expect(await storedGames()).toHaveLength(1);
    await expectReplayOf(await storedGames());
    // Nobody is left of the first game but through others.
    expect([...(await storedRatings()).keys()]).toEqual(['bob', 'cy']);
  });

  it('take a peak back, and a player whose games are all void', async () => {
    await play({ ada: 1, bob: 2 }, { bob: 1, ada: 2 });
    await node.rater.rate(pool.uid);
    expect((await node.playerRating(pool, 'ada'))!.peak).toMatchObject({ rating: 1516, gameId: 'g1' });
    await correct(voidOf({ gameIds: ['g1'] }));
    expect((await node.playerRating(pool, 'ada'))!.peak).toMatchObject({ rating: 1484, gameId: 'g2' });
    await correct(voidOf({ playerId: 'ada' }));
    expect(await node.playerRating(pool, 'ada')).toBeUndefined();
    await expectReplayOf([]);
    const told = await node.database.query<{ games: number }>(
      `SELECT (payload::json -> 'rating' ->> 'games')::int AS games FROM outbox
       WHERE topic = 'rating-changed' AND key = 'ada' AND (payload::json ->> 'poolUid')::int = $1 ORDER BY position`,
      [pool.uid],
    );
    expect(told.map(({ games }) => games)).toEqual([2, 1, 0]);
  });

  it('only mark the game where that is asked', async () => {
    await play({ ada: 1, bob: 2 });
    await node.rater.rate(pool.uid);
    expect(await correct(voidOf({ gameIds: ['g1'] }, 'keep'))).toEqual({ games: 1, players: [] });
    expect(await node.ratingOf(pool, 'ada')).toBe(1516);
    await expect(correct(voidOf({ gameIds: ['g1'] }))).rejects.toMatchObject({ code: 'GAME_VOIDED' });
  });

  it('give opponents back what they lost, where that is asked, and leave the winner its points', async () => {
    await play({ ada: 1, bob: 2 }, { bob: 1, cy: 2 }, { ada: 1, bob: 1 });
    await node.rater.rate(pool.uid);
    const dry = await node.corrections.dryRun(pool.id, voidOf({ gameIds: ['g1'] }, 'refund'));
    expect(short(dry)).toEqual({ bob: 1517.438774 });
    expect((await storedRefunds()).length).toBe(0);
    expect(await correct(voidOf({ gameIds: ['g1'] }, 'refund'))).toEqual(dry);
    expect(await storedRefunds()).toMatchObject([{ playerId: 'bob', points: 16, of: 'g1' }]);
    expect(printed((await node.ratingOf(pool, 'ada'))!)).toBe(1515.297533);
    // It is no game: counts and peaks are of games.
    expect(await node.playerRating(pool, 'bob')).toMatchObject({ games: 3, losses: 1, peak: { gameId: 'g3' } });
    await expect(correct(voidOf({ gameIds: ['g1'] }))).rejects.toMatchObject({ code: 'GAME_VOIDED' });
    await node.games.record(gameOf(pool.id, 'g4', { bob: 1, ada: 2 }));
    await node.rater.rate(pool.uid);
    await expectReplayOf(await storedGames());
    // A later void of another game: the refund is of the same points, from the rating that bob has then.
    await correct(voidOf({ gameIds: ['g2'] }));
    await expectReplayOf(await storedGames());
    expect((await node.pools.get(pool.id)).refunded).toBe(16);
  });

  it('give a draw back, too, and of games that a player cheated in to opponents alone', async () => {
    pool = await node.makePool('teams', { sides: { min: 2, max: 10, teamMax: 2 }, onVoid: 'refund' });
    const teams = [
      { playerId: 'cheat', place: 1, team: 'a' },
      { playerId: 'mate', place: 1, team: 'a' },
      { playerId: 'ada', place: 2, team: 'b' },
      { playerId: 'bob', place: 2, team: 'b' },
    ].map((player) => ({ ...player, status: 'played' as const, isHome: false, score: null }));
    await node.games.record({ ...gameOf(pool.id, 'g1', {}), players: teams });
    await node.games.record(gameOf(pool.id, 'g2', { cheat: 1, ada: 1 }));
    await node.games.record(gameOf(pool.id, 'g3', { cheat: 2, bob: 1 }));
    await node.games.record(gameOf(pool.id, 'g4', { mate: 1, bob: 2 }));
    await node.rater.rate(pool.uid);
    await correct({ selection: { ...ALL, playerId: 'cheat' }, mode: null, reason: 'a bot' });
    // Against ada the cheat was the better one: of the draw it lost points, and ada none.
    const refunds = await storedRefunds();
    expect(refunds.map(({ playerId, of }) => `${of} ${playerId}`)).toEqual(['g1 ada', 'g1 bob']);
    expect(refunds.map(({ points }) => points)).toEqual([16, 16]);
    await expectReplayOf(await storedGames());
    const draw = { players: playersByPlace({ eve: 1, ada: 1 }).map((player) => ({ ...player, score: null })) };
    await node.games.record({ ...gameOf(pool.id, 'g5', {}), ...draw });
    await node.rater.rate(pool.uid);
    await correct({ selection: { ...ALL, gameIds: ['g5'] }, mode: null, reason: 'not played' });
    const [refund] = (await storedRefunds()).slice(2);
    expect(refund).toMatchObject({ of: 'g5', playerId: 'ada' });
    await expectReplayOf(await storedGames());
  });

  it('give a game as many sides and members as it has, whatever the pool takes by now', async () => {
    await play({ ada: 1, bob: 2, cy: 3 });
    await node.makePool(pool.id, { sides: { min: 2, max: 2, teamMax: 1 } });
    const result = (places: Record<string, number>): AskedCorrection => ({
      gameId: 'g1',
      players: playersByPlace(places).map((player) => ({ ...player, score: null })),
      reason: 'swapped',
    });
    await correct(result({ cy: 1, bob: 2, ada: 3 }));
    await expectReplayOf(await storedGames());
    const larger: Record<string, number>[] = [
      { ada: 1, bob: 2, cy: 3, di: 4 },
      { 'ada+bob': 1, cy: 2 },
    ];
    for (const places of larger) {
      await expect(correct(result(places))).rejects.toMatchObject({ code: 'GAME_TOO_LARGE' });
    }
    await node.makePool(pool.id, { sides: { min: 4 } });
    await correct(result({ ada: 1, bob: 2, cy: 3 }));
    await expect(correct(result({ ada: 1, bob: 2 }))).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
  });

  it('name players that are called like what every object has, and the pool goes on', async () => {
    await play({ ada: 1, bob: 2 }, { bob: 1, cy: 2 });
    await node.rater.rate(pool.uid);
    const players = playersByPlace({ ada: 1, constructor: 2 }).map((player) => ({ ...player, score: null }));
    const outcome = await correct({ gameId: 'g1', players, reason: 'another player' });
    expect(outcome.players.map(({ playerId }) => playerId)).toEqual(['bob', 'constructor', 'cy']);
    await expectReplayOf(await storedGames());
  });

  it('give a game its real result, with its place among the others', async () => {
    await play({ ada: 1, bob: 2 }, { bob: 1, cy: 2 }, { ada: 1, bob: 1 });
    await node.rater.rate(pool.uid);
    const players: RecordedPlayer[] = playersByPlace({ bob: 1, di: 2 }).map((player) => ({ ...player, score: null }));
    const { games } = await correct({ gameId: 'g1', players, reason: 'wrong players' });
    expect(games).toBe(1);
    const stored = await storedGames();
    expect(stored[0]!.players.map(({ playerId }) => playerId)).toEqual(['bob', 'di']);
    await expectReplayOf(stored);
    // Later corrections find the new players by their games, and not the old ones.
    await correct(voidOf({ playerId: 'di' }));
    await expectReplayOf(await storedGames());
    await expect(correct({ gameId: 'g1', players, reason: 'again' })).rejects.toMatchObject({ code: 'GAME_VOIDED' });
  });

  it('write nothing of a result that the game has already, also where it got that just before', async () => {
    await play({ ada: 1, bob: 2 }, { bob: 1, ada: 2 });
    await node.rater.rate(pool.uid);
    const resultOf = (places: Record<string, number>): AskedCorrection => ({
      gameId: 'g1',
      players: playersByPlace(places).map((player) => ({ ...player, score: null })),
      reason: 'typo',
    });
    const before = await node.playerRating(pool, 'ada');
    const nothing = { games: 0, players: [] };
    expect(await node.corrections.dryRun(pool.id, resultOf({ ada: 1, bob: 2 }))).toEqual(nothing);
    // In whatever order they are named.
    expect(await correct(resultOf({ bob: 2, ada: 1 }))).toEqual(nothing);
    expect(await node.playerRating(pool, 'ada')).toEqual(before);
    await node.corrections.record(pool.id, resultOf({ ada: 2, bob: 1 }), 'test');
    expect(await correct(resultOf({ ada: 2, bob: 1 }))).toEqual(nothing);
    await expectReplayOf(await storedGames());
    const acts = await node.database.query(
      `SELECT actor, details ->> 'mode' AS mode FROM audit_log WHERE action = 'pool.result' AND subject = $1`,
      [pool.id],
    );
    // A mode is of voids alone.
    expect(acts).toEqual([{ actor: 'test', mode: null }]);
  });

  it('are refused whole where they reach too far, and the game is as it was', async () => {
    const few = { RECOMPUTE_GAMES_MAX: 2 };
    const corrections = new PoolCorrections(node.database, node.work, node.algorithms, few);
    await play({ ada: 1, bob: 2 }, { bob: 1, cy: 2 }, { ada: 1, bob: 1 });
    await node.rater.rate(pool.uid);
    const before = await storedChanges();
    const tooLarge = { code: 'RECOMPUTE_TOO_LARGE', extensions: { gamesMax: 2 } };
    await expect(corrections.dryRun(pool.id, voidOf({ gameIds: ['g1'] }))).rejects.toMatchObject(tooLarge);
    node.folds.splice(0, 1, new CorrectionFold(node.algorithms, few));
    const acts = (): Promise<object[]> =>
      node.database.query(
        `SELECT actor, details ->> 'reason' AS reason FROM audit_log
        WHERE action = 'pool.void' AND subject = $1`,
        [pool.id],
      );
    try {
      await expect(correct(voidOf({ gameIds: ['g1'] }))).rejects.toMatchObject(tooLarge);
    } finally {
      node.folds.splice(0, 1, new CorrectionFold(node.algorithms, { RECOMPUTE_GAMES_MAX: 100_000 }));
    }
    expect(await storedChanges()).toEqual(before);
    expect(await acts()).toEqual([]);
    await correct(voidOf({ gameIds: ['g1'] }));
    expect(await acts()).toEqual([{ actor: 'test', reason: 'cheated' }]);
    await expectReplayOf(await storedGames());
  });

  it('take the games that fit all that is said', async () => {
    const at = (playedAtMs: number) => ({ playedAtMs });
    await node.games.record(gameOf(pool.id, 'a', { ada: 1, bob: 2 }, at(1000)));
    await node.games.record(gameOf(pool.id, 'b', { ada: 1, cy: 2 }, at(2000)));
    await node.games.record(gameOf(pool.id, 'c', { bob: 1, cy: 2 }, at(3000)));
    const count = async (selection: object): Promise<number> =>
      (await node.corrections.dryRun(pool.id, voidOf(selection))).games;
    expect(await count({ playerId: 'ada' })).toBe(2);
    expect(await count({ playerId: 'ada', fromMs: 2000 })).toBe(1);
    expect(await count({ fromMs: 1000, toMs: 3000 })).toBe(2);
    expect(await count({ gameIds: ['a', 'c'], playerId: 'bob', toMs: 3000 })).toBe(1);
    expect(await count({ playerId: 'nobody' })).toBe(0);
    await expect(count({ gameIds: ['a', 'zz'] })).rejects.toMatchObject({ code: 'GAME_NOT_FOUND' });
  });

  it('that no game fits leave no trace: neither an act of an operator nor an event of the pool', async () => {
    await play({ ada: 1, bob: 2 });
    const traces = (): Promise<object[]> =>
      node.database.query(
        `SELECT recorded_position AS position, (SELECT count(*) FROM pool_events AS e WHERE e.pool_uid = p.pool_uid) AS events,
           (SELECT count(*) FROM audit_log WHERE subject = p.pool_id) AS acts
         FROM pools AS p WHERE pool_uid = $1`,
        [pool.uid],
      );
    const before = await traces();
    const { games } = await node.corrections.record(pool.id, voidOf({ playerId: 'nobody' }, 'refund'), 'test');
    expect(games).toBe(0);
    expect(await traces()).toEqual(before);
  });

  it('are known by a replay from what was changed by others, to the last bit', async () => {
    await play({ ada: 1, bob: 2 }, { bob: 1, cy: 2 }, { ada: 1, bob: 1 });
    await correct(voidOf({ gameIds: ['g2'] }, 'refund'));
    expect(await replayed()).toMatchObject({ games: 3, changes: 7, players: 3, differences: 0, named: [] });
    const tamper = async (statement: string): Promise<void> => {
      await node.database.query(statement, [pool.uid]);
    };
    const lastBit = '(1 + 2.220446049250313e-16)';
    await tamper(
      `UPDATE rating_changes SET after_rating = after_rating * ${lastBit} WHERE pool_uid = $1 AND refund IS NOT NULL`,
    );
    const [refund] = await storedRefunds();
    expect(await replayed()).toMatchObject({
      differences: 1,
      named: [{ playerId: 'cy', position: refund!.position }],
    });
    // Of another engine's rows the last bits say nothing.
    await tamper(`UPDATE rating_changes SET engine = 'elo@0' WHERE pool_uid = $1 AND refund IS NULL`);
    expect(await replayed()).toMatchObject({ differences: 0, ofOtherEngines: 6 });
    await tamper(`UPDATE ratings SET wins = wins + 1 WHERE pool_uid = $1 AND player_id = 'ada'`);
    expect((await replayed()).named).toMatchObject([{ playerId: 'ada', position: null, replayed: { wins: 1 } }]);
    await tamper(`DELETE FROM rating_changes WHERE pool_uid = $1 AND player_id = 'bob'`);
    await tamper(`DELETE FROM ratings WHERE pool_uid = $1 AND player_id = 'ada'`);
    expect(await replayed()).toMatchObject({ differences: 4 });
  });

  it(`equal a replay in random histories (SEED=${seed})`, { timeout: 600_000 }, async () => {
    const dice = new Dice(seed);
    for (let round = 0; round < 8; round += 1) {
      const parameters = { k: dice.oneOf([32, 'fide']), homeAdvantage: 60 };
      pool = await node.makePool(`random-${round}`, { parameters, sides: { min: 2, max: 100, teamMax: 10 } });
      const rating = node.algorithms.poolOf(pool.definition);
      const games = randomGames(dice, rating, { games: 150, players: dice.oneOf([6, 40]), stepMs: 1000 });
      const ids: string[] = [];
      for (const { gameId, players, playedAtMs, weight } of games) {
        const write = gameOf(pool.id, gameId, {}, { playedAtMs, weight });
        await node.games.record({ ...write, players: players.map((player) => ({ ...player, score: null })) });
        ids.push(gameId);
        if (dice.isUnder(0.1)) await node.rater.rate(pool.uid);
        if (!dice.isUnder(0.06)) continue;
        const open = await node.database.query<{ gameId: string }>(
          'SELECT game_id AS "gameId" FROM games WHERE pool_uid = $1 AND void_position IS NULL',
          [pool.uid],
        );
        const { gameId: chosen } = dice.oneOf(open);
        const other = randomGames(dice, rating, { games: 1, players: 40, stepMs: 1 })[0]!;
        await correct(
          dice.isUnder(0.3)
            ? { gameId: chosen, players: other.players.map((player) => ({ ...player, score: 1 })), reason: 'r' }
            : voidOf(
                dice.isUnder(0.8) ? { gameIds: [chosen] } : { playerId: `p-${dice.below(6)}`, fromMs: 100_000 },
                dice.isUnder(0.5) ? 'refund' : 'recompute',
              ),
        );
      }
      await node.rater.rate(pool.uid);
      await expectReplayOf(await storedGames());
      const { differences, players, named } = await replayed();
      expect(named).toEqual([]);
      expect({ differences, players }).toEqual({ differences: 0, players: (await storedRatings()).size });
    }
  });
});
