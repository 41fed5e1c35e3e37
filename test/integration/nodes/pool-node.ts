import { createHash } from 'node:crypto';
import { parsePoolDefinition } from '@laddercast/commands';
import type { PlayerRating, RatingAlgorithm } from '@laddercast/domain';
import {
  changesOfPlayer,
  CorrectionFold,
  GameWriter,
  HistoryPrunedFold,
  LaneQueue,
  PeriodClosedFold,
  PeriodCloser,
  PoolCorrections,
  PoolFolds,
  PoolRater,
  PoolRegistry,
  RatingAlgorithms,
  RatingHistoryPruner,
  ratingOfPlayer,
  type GameWrite,
  type Pool,
  type PoolEventFold,
  type RecordedPlayer,
} from '@laddercast/ledger';
import { NO_EXTENSIONS } from '@laddercast/extension';
import { playersByPlace } from '@laddercast/testing';
import { LedgerNode } from './ledger-node.js';

/** Where partitions of changes end; a game with its events takes some four positions. */
const ENDS = [20, 60, 150, 400, 1000, 3000, 10_000];
const RECOMPUTES = { RECOMPUTE_GAMES_MAX: 100_000 };

/** The ledger of one process with its rating pools, by hand. */
export class PoolNode extends LedgerNode {
  readonly work = new LaneQueue(this.database, this.lanes, this.notifier);
  /** What a team's modules bring along. */
  readonly ofTeams: RatingAlgorithm[] = [];
  readonly algorithms = new RatingAlgorithms({ ...NO_EXTENSIONS, ratingAlgorithms: this.ofTeams });
  readonly pools = new PoolRegistry(this.database, this.lanes, this.work, this.algorithms, this.allLanes);
  readonly corrections = new PoolCorrections(this.database, this.work, this.algorithms, RECOMPUTES);
  readonly games = new GameWriter(this.ledger, this.lanes, this.work, this.database, this.algorithms, {
    LANE_QUEUE_MAX: 20_000,
  });
  /** What the rater knows beside games. */
  readonly folds: PoolEventFold[] = [
    new CorrectionFold(this.algorithms, RECOMPUTES),
    new PeriodClosedFold(this.database, this.algorithms),
    new HistoryPrunedFold(),
  ];
  readonly closer = new PeriodCloser(this.database, this.work);
  readonly historyPruner = new RatingHistoryPruner(this.database, this.work);
  readonly rater = new PoolRater(this.database, this.lanes, this.notifier, new PoolFolds(this.algorithms, this.folds), {
    RATING_POOLS_AT_ONCE: 2,
  });

  async makePool(id: string, definition: object = {}): Promise<Pool> {
    const full = parsePoolDefinition({ algorithm: 'elo', ...definition }, id, this.algorithms.all);
    return (await this.pools.put(id, full, {}, 'test')).pool;
  }

  /** All that is kept of a player; undefined before the first rated game. */
  async playerRating(pool: Pool, playerId: string): Promise<PlayerRating | undefined> {
    return (await ratingOfPlayer(this.database, pool.uid, playerId))?.rating;
  }

  /** The rating of a player; null before the first rated game. */
  async ratingOf(pool: Pool, playerId: string): Promise<number | null> {
    return (await this.playerRating(pool, playerId))?.state.rating ?? null;
  }

  /** The ratings of a player after each game, the oldest first. */
  async ratingsOf(pool: Pool, playerId: string): Promise<number[]> {
    const changes = await changesOfPlayer(this.database, pool.uid, playerId, { beforePosition: null, limit: 10_000 });
    return changes.map(({ after }) => after).reverse();
  }

  /** Closes periods whose grace is over, all that are. */
  async closePeriods(): Promise<void> {
    while ((await this.closer.run(new AbortController().signal)) !== undefined);
  }

  /** Deletes the changes that a pool keeps no longer, as the projector does. */
  async pruneHistory(pool: Pool): Promise<void> {
    await this.historyPruner.run(new AbortController().signal);
    await this.rater.rate(pool.uid);
    await this.historyPruner.run(new AbortController().signal);
  }

  /** With changes of ratings in small partitions, so that what is tested goes over their ends. */
  override async start(): Promise<void> {
    await super.start();
    const [first, ...others] = await this.database.query<{ name: string }>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'rating_changes'::regclass`,
    );
    // Another node of the test was here.
    if (others.length > 0) return;
    const ranges = ENDS.map((end, at) => `FROM (${end}) TO (${ENDS[at + 1] ?? 'MAXVALUE'})`);
    await this.database.query(`
      ALTER TABLE rating_changes DETACH PARTITION ${first!.name};
      ALTER TABLE rating_changes ATTACH PARTITION ${first!.name} FOR VALUES FROM (MINVALUE) TO (${ENDS[0]});
      ${ranges.map((range, at) => `CREATE TABLE changes_${at} PARTITION OF rating_changes FOR VALUES ${range}`).join(';')}`);
  }

  override async stop(): Promise<void> {
    await this.rater.stop();
    await this.notifier.settled();
    await super.stop();
  }
}

/** A game as the commands hand it to the ledger: players by their places, `ada+bob` are a team. */
export function gameOf(
  poolId: string,
  gameId: string,
  places: Record<string, number>,
  more: Partial<GameWrite> = {},
): GameWrite {
  const players: RecordedPlayer[] = playersByPlace(places).map((player) => ({ ...player, score: null }));
  const bodySha256 = createHash('sha256')
    .update(JSON.stringify([gameId, places]))
    .digest();
  return { poolId, gameId, players, playedAtMs: null, weight: 1, metadata: null, bodySha256, ...more };
}
