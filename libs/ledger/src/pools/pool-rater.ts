import { foldGames, type FoldedGames } from '@laddercast/domain';
import { Environment, metrics } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { tryEach } from '../database/try-each.js';
import { DRAW_POSITIONS, Lanes, takeLane } from '../lanes/lanes.js';
import { RunAgain } from '../leases/leased-task.js';
import { OutboxNotifier } from '../lanes/outbox-notifier.js';
import { ratingPoolWith } from './pool.js';
import { moveRatedPosition, readGamesToRate, writeRatings, type GamesToRate } from './rating-rows.js';

/** After so many turns in a row a pool waits for its next event, or the sweep: others are to be rated, too. */
const TURNS_MAX = 20;
/** The most pools of one sweep. */
const SWEPT_MAX = 1000;

/** Thrown to roll back a turn whose games another process has rated meanwhile. */
class RatedAlready extends Error {}

/**
 * Rates the games of pools, each exactly once and in the order of their positions: what is next is read from PostgreSQL, and
 * stored in one transaction with the position up to which the pool is rated. So it means nothing how often, how late, or by
 * whom it is called.
 */
@Injectable()
export class PoolRater {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly notifier: OutboxNotifier,
    @Inject(Environment) private readonly settings: Pick<Environment, 'RATING_POOLS_AT_ONCE'>,
  ) {}

  /**
   * Rates what is recorded of the pool. Where another process is at it, that one looks once more when it is done: nothing
   * is left to do here.
   * @returns whether it ended early, with games left
   */
  async rate(poolUid: number): Promise<boolean> {
    for (let turns = 0; turns < TURNS_MAX; turns += 1) {
      const hadTheTurn = await this.oneOfFew(() => this.takeTurn(poolUid));
      // Who came while this process had the turn passed by, and counts on this look after it.
      if (!hadTheTurn || !(await this.isBehind(poolUid))) return false;
    }
    return true;
  }

  /** Rates the pools that are behind: their event was lost, or the process that had it died. */
  async sweep(signal: AbortSignal): Promise<RunAgain | undefined> {
    const behind = await this.database.query<{ uid: number }>(
      `SELECT pool_uid AS uid FROM pools WHERE rated_position < recorded_position AND pool_id IS NOT NULL
       ORDER BY rated_position LIMIT ${SWEPT_MAX}`,
    );
    let isMoreLeft = false;
    await tryEach(behind, signal, async ({ uid }) => {
      if (await this.rate(uid)) isMoreLeft = true;
    });
    return isMoreLeft ? new RunAgain(0) : undefined;
  }

  private async isBehind(poolUid: number): Promise<boolean> {
    const [row] = await this.database.query<{ isBehind: boolean }>(
      `SELECT rated_position < recorded_position AS "isBehind" FROM pools WHERE pool_uid = $1 AND pool_id IS NOT NULL`,
      [poolUid],
    );
    return row?.isBehind ?? false;
  }

  /** Pools side by side, as many as the setting says: each keeps a connection while its lane may be waited for. */
  private async oneOfFew<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= this.settings.RATING_POOLS_AT_ONCE) await new Promise<void>((go) => this.waiting.push(go));
    else this.running += 1;
    try {
      return await work();
    } finally {
      // Who waits takes over the place.
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }

  /** Whether it was this process's turn. */
  private async takeTurn(poolUid: number): Promise<boolean> {
    let lane: number | null = null;
    let folded: FoldedGames | null = null;
    try {
      const hadTheTurn = await this.database.transaction(async (transaction) => {
        const [row] = await transaction.query<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock($1, $2) AS taken', [
          ADVISORY_LOCKS.pools,
          poolUid,
        ]);
        if (!row!.taken) return false;
        const next = await readGamesToRate(transaction, poolUid);
        if (!next || next.games.length === 0) return true;
        folded = foldGames(ratingPoolWith(next.definition), next.ratings, next.games);
        lane = this.lanes.of(next.id);
        await store(transaction, poolUid, lane, next, folded);
        return true;
      });
      count(folded);
      return hadTheTurn;
    } catch (error) {
      if (error instanceof RatedAlready) return true;
      throw error;
    } finally {
      if (lane !== null) this.notifier.wake(lane);
    }
  }
}

/** @throws RatedAlready */
async function store(
  transaction: SqlRunner,
  poolUid: number,
  lane: number,
  { ratedPosition: from, games, ratings }: GamesToRate,
  folded: FoldedGames,
): Promise<void> {
  await takeLane(transaction, lane);
  const to = games.at(-1)!.position;
  const changed = [...folded.players.keys()];
  const newcomers = changed.filter((playerId) => !ratings.has(playerId)).length;
  const moved = await moveRatedPosition(transaction, poolUid, { from, to, games: games.length, newcomers });
  if (!moved) throw new RatedAlready();
  const [drawn] = await transaction.query<{ positions: number[] }>(DRAW_POSITIONS, [changed.length]);
  await writeRatings(transaction, { poolUid, lane, ratedPosition: to }, folded, drawn!.positions);
}

function count(folded: FoldedGames | null): void {
  for (const { unrated } of folded?.games ?? []) metrics.gamesRated.inc({ outcome: unrated ?? 'rated' });
}
