import type { UnratedReason } from '@laddercast/domain';
import { Environment, metrics, RateLimitedLog } from '@laddercast/platform';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { tryEach } from '../database/try-each.js';
import { drawPositions } from '../lanes/lane-events.js';
import { takeLane } from '../lanes/lane-locks.js';
import { Lanes, placedAnew, type Place } from '../lanes/lanes.js';
import { RunAgain } from '../leases/leased-task.js';
import { OutboxNotifier } from '../lanes/outbox-notifier.js';
import { FewAtOnce } from './few-at-once.js';
import { tryPoolTurn } from './pool.js';
import { writeOutcome, type LookedGames, type PoolEventFold } from './pool-events.js';
import { PoolFolds } from './pool-folds.js';
import { AlgorithmMissing, isOfPools, type PoolsOf } from './rating-algorithms.js';
import {
  moveRatedPosition,
  readWorkOfTurn,
  tellRatings,
  writeRatings,
  type RatedStep,
  type RatedTurn,
  type WorkOfTurn,
} from './rating-rows.js';
import { leaveUntold, tellUntold, TOLD_AT_ONCE } from './untold-ratings.js';

/** After so many turns in a row a pool waits for its next event, or the sweep: others are to be rated, too. */
const TURNS_MAX = 20;
/** The most pools of one sweep. */
const SWEPT_MAX = 1000;
/** Events that are not quick may take minutes. Their places are beside those of games, and each has a connection of its own. */
const EVENTS_AT_ONCE = 2;
/** The most that one statement of an event may take: some read and write all that players have ever played. */
const EVENT_TIMEOUT_MS = 60_000;

const POOLS_BEHIND = prepared(`
  WITH RECURSIVE untold AS (
    (SELECT pool_uid FROM untold_ratings WHERE pool_uid > $2 ORDER BY pool_uid LIMIT 1)
    UNION ALL
    SELECT (SELECT pool_uid FROM untold_ratings WHERE pool_uid > untold.pool_uid ORDER BY pool_uid LIMIT 1)
    FROM untold WHERE pool_uid IS NOT NULL
  )
  SELECT uid FROM (
    SELECT pool_uid AS uid FROM pools
    WHERE rated_position < recorded_position AND pool_id IS NOT NULL AND ${isOfPools("definition ->> 'algorithm'")}
    UNION
    SELECT pool_uid FROM untold JOIN pools USING (pool_uid) WHERE pool_id IS NOT NULL) AS behind
  WHERE uid > $2 ORDER BY uid LIMIT ${SWEPT_MAX}`);

/** Thrown to roll back a turn whose games another process has rated meanwhile. */
class RatedAlready extends Error {}

/** What became of a turn: another had it, or what was next is done, or told, or it was left as an event is next. */
type Turn = 'passed-by' | 'done' | 'told' | 'event';

/**
 * Rates the games of pools and folds what else happens to them, each exactly once and in the order of their positions: what is next is read from PostgreSQL, and
 * stored in one transaction with the position up to which the pool is rated. So it means nothing how often, how late, or by
 * whom it is called.
 */
@Injectable()
export class PoolRater {
  private readonly ofGames: FewAtOnce;
  private readonly ofEvents = new FewAtOnce(EVENTS_AT_ONCE);
  /** Pools that wait for a place to fold their event. */
  private readonly toFold = new Set<number>();
  /** What nobody waits for. */
  private readonly beside = new Set<Promise<unknown>>();
  private readonly stopping = new AbortController();
  /** The last pool of a sweep that could not look at all; 0: the next begins with the first. */
  private sweptTo = 0;
  /** Algorithms that were said to be missing: once is enough. */
  private readonly said = new Set<string>();
  private readonly log = new Logger('ratings');
  private readonly failures = new RateLimitedLog('ratings');

  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly notifier: OutboxNotifier,
    private readonly folds: PoolFolds,
    @Inject(Environment) settings: Pick<Environment, 'RATING_POOLS_AT_ONCE'>,
  ) {
    // Pools side by side: each keeps a connection while its lane may be waited for.
    this.ofGames = new FewAtOnce(settings.RATING_POOLS_AT_ONCE);
  }

  /**
   * Rates what is recorded of the pool, and folds its events. Where another process is at it, that one looks once more when
   * it is done: nothing is left to do here.
   * @param atEvent called before what may take minutes: an event is folded, or goes on being told
   * @returns whether it ended early, with games left
   */
  async rate(poolUid: number, atEvent: () => void = () => undefined): Promise<boolean> {
    for (let turns = 0; turns < TURNS_MAX;) {
      let turn = await this.ofGames.run(() => this.takeTurn(poolUid, 'games'));
      if (turn === 'event') {
        atEvent();
        turn = await this.foldNext(poolUid);
      }
      if (turn === 'told' && !this.stopping.signal.aborted) {
        atEvent();
        continue;
      }
      turns += 1;
      // Who came while this process had the turn passed by, and counts on this look after it.
      if (turn === 'passed-by' || !(await this.isBehind(poolUid))) return false;
    }
    return true;
  }

  /**
   * As {@link rate}, for who has other pools to look after: where an event is next that may take minutes it resolves, and
   * goes on beside. What fails there is tried again by the sweep.
   */
  ring(poolUid: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      let isBeside = false;
      const goOnBeside = (): void => {
        isBeside = true;
        resolve(false);
      };
      const rated: Promise<void> = this.rate(poolUid, goOnBeside)
        .then(resolve, (error: unknown) => {
          if (!isBeside) return reject(error as Error);
          if (this.stopping.signal.aborted) return;
          this.failures.warn('What happened to a pool beside its games waits', error, { poolUid });
        })
        .finally(() => this.beside.delete(rated));
      this.beside.add(rated);
    });
  }

  /** Resolves once nothing goes on beside. */
  async settled(): Promise<void> {
    while (this.beside.size > 0) await Promise.all(this.beside);
  }

  /** Breaks off the events that are being folded: whoever comes next begins them again. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.settled();
  }

  /**
   * Rings for the pools that are behind: their event was lost, or the process that had it died, or lacks the algorithm.
   * @param of all pools when not given
   */
  async sweep(signal: AbortSignal, of: PoolsOf | null = null): Promise<RunAgain | undefined> {
    const behind = await this.database.query<{ uid: number }>(POOLS_BEHIND, [of, this.sweptTo]);
    // Pools whose algorithm is missing stay behind: the others come in the end, however many those are.
    this.sweptTo = behind.length < SWEPT_MAX ? 0 : behind.at(-1)!.uid;
    let isMoreLeft = false;
    await tryEach(behind, signal, async ({ uid }) => {
      if (await this.ring(uid)) isMoreLeft = true;
    });
    return isMoreLeft ? new RunAgain(0) : undefined;
  }

  private async isBehind(poolUid: number): Promise<boolean> {
    const [row] = await this.database.query<{ isBehind: boolean }>(
      `SELECT rated_position < recorded_position OR EXISTS (SELECT FROM untold_ratings WHERE pool_uid = $1) AS "isBehind"
       FROM pools WHERE pool_uid = $1 AND pool_id IS NOT NULL`,
      [poolUid],
    );
    return row?.isBehind ?? false;
  }

  private async foldNext(poolUid: number): Promise<Turn> {
    // Who waits for a place already reads what is next when it has it.
    if (this.toFold.has(poolUid) || this.stopping.signal.aborted) return 'passed-by';
    this.toFold.add(poolUid);
    return this.ofEvents.run(() => {
      this.toFold.delete(poolUid);
      return this.takeTurn(poolUid, 'all');
    });
  }

  /** @param takes with `games` an event that is not quick is left */
  private takeTurn(poolUid: number, takes: 'games' | 'all'): Promise<Turn> {
    return placedAnew(this.database, this.lanes, () => this.takeTurnPlaced(poolUid, takes));
  }

  private async takeTurnPlaced(poolUid: number, takes: 'games' | 'all'): Promise<Turn> {
    let looked: LookedGames = {};
    let place: Place | null = null;
    try {
      const turn = await this.transactionOf(takes, async (transaction): Promise<Turn> => {
        if (!(await tryPoolTurn(transaction, poolUid))) return 'passed-by';
        const work = await readWorkOfTurn(transaction, poolUid);
        if (!work) return 'done';
        const { games, event, hasUntold } = work;
        if (hasUntold) {
          place = this.lanes.placeOf(work.id);
          await takeLane(transaction, place);
          await tellUntold(transaction, poolUid, place.lane);
          return 'told';
        }
        if (takes === 'games' && games.length === 0 && event && !this.folds.isQuick(event)) return 'event';
        place = this.lanes.placeOf(work.id);
        if (games.length > 0 && work.definition.periods) await passBy(transaction, poolUid, place, work);
        else if (games.length > 0) looked = await rateGames(transaction, poolUid, place, work, this.folds.games(work));
        else if (event) {
          looked = await foldEvent(transaction, poolUid, place, { ...work, fold: this.folds.ofEvent(event) });
        }
        return 'done';
      });
      for (const [outcome, games] of Object.entries(looked)) metrics.gamesRated.inc({ outcome }, games);
      return turn;
    } catch (error) {
      if (error instanceof RatedAlready) return 'done';
      // Its games wait for a process that has it; no other pool waits with them.
      if (error instanceof AlgorithmMissing) return this.leaveToOthers(error);
      throw error;
    } finally {
      if (place !== null) this.notifier.wake((place as Place).lane);
    }
  }

  private transactionOf(takes: 'games' | 'all', work: (transaction: SqlRunner) => Promise<Turn>): Promise<Turn> {
    if (takes === 'games') return this.database.transaction(work);
    return this.database.longTransaction(EVENT_TIMEOUT_MS, work, this.stopping.signal);
  }

  private leaveToOthers({ algorithm }: AlgorithmMissing): Turn {
    metrics.poolTurnsLeft.inc({ algorithm });
    if (!this.said.has(algorithm)) {
      this.said.add(algorithm);
      this.log.error(`Pools of the algorithm "${algorithm}" wait: no module of this process brings it.`);
    }
    return 'passed-by';
  }
}

/** @throws RatedAlready */
async function rateGames(
  transaction: SqlRunner,
  poolUid: number,
  place: Place,
  { ratedPosition: from, games, ratings }: WorkOfTurn,
  folded: RatedTurn,
): Promise<LookedGames> {
  await takeLane(transaction, place);
  const to = games.at(-1)!.position;
  const changed = [...folded.players.keys()];
  const newcomers = changed.filter((playerId) => !ratings.has(playerId)).length;
  await moveOn(transaction, poolUid, { from, to, games: games.length, newcomers });
  const positions = await drawPositions(transaction, changed.length);
  await writeRatings(transaction, { poolUid, lane: place.lane, ratedPosition: to }, folded, positions);
  const looked: Partial<Record<UnratedReason | 'rated', number>> = {};
  for (const { unrated } of folded.games) looked[unrated ?? 'rated'] = (looked[unrated ?? 'rated'] ?? 0) + 1;
  return looked;
}

/**
 * Leaves games to the close of their period.
 * @throws RatedAlready
 */
async function passBy(
  transaction: SqlRunner,
  poolUid: number,
  place: Place,
  { ratedPosition: from, games }: WorkOfTurn,
): Promise<void> {
  await takeLane(transaction, place);
  await moveOn(transaction, poolUid, { from, to: games.at(-1)!.position, games: 0, newcomers: 0 });
}

/** @throws RatedAlready */
async function foldEvent(
  transaction: SqlRunner,
  poolUid: number,
  place: Place,
  { fold, event, id, definition, ratedPosition: from }: WorkOfTurn & { fold: PoolEventFold },
): Promise<LookedGames> {
  const { position: to } = event!;
  const pool = { uid: poolUid, id, definition, ratedPosition: from };
  const { outcome, games = 0, newcomers, changed, looked = {}, store } = await fold.fold(transaction, pool, event!);
  // All that can be done before others wait for the lane.
  const isMuch = changed.length > TOLD_AT_ONCE;
  if (isMuch) await leaveUntold(transaction, { poolUid, ratedPosition: to }, changed);
  await writeOutcome(transaction, poolUid, to, outcome);
  await takeLane(transaction, place);
  await moveOn(transaction, poolUid, { from, to, games, newcomers });
  await store?.(transaction);
  if (!isMuch) await tellRatings(transaction, place.lane, { poolUid, ratedPosition: to }, changed);
  return looked;
}

/** @throws RatedAlready */
async function moveOn(transaction: SqlRunner, poolUid: number, step: RatedStep): Promise<void> {
  if (!(await moveRatedPosition(transaction, poolUid, step))) throw new RatedAlready();
}
