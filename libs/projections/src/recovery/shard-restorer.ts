import { randomUUID } from 'node:crypto';
import { everyLayout } from '@laddercast/domain';
import { BoardCatalog, PostgresDatabase, type SqlRunner } from '@laddercast/ledger';
import { Inject, Injectable } from '@nestjs/common';
import { ChangesByShard } from '../ranks/changes-by-shard.js';
import { entryOfRow, LedgerScan, workOnPages } from './ledger-scan.js';
import type { RecoveredBoards } from './projection-recovery.js';
import { listOfWindow, RankProjection, RecoveryRun, type RankList } from '../ranks/rank-projection.js';
import { RedisLostShards, type LostShard } from '../redis/redis-lost-shards.js';
import { beingBroughtBack } from '../hash-shards/redis-shard-reads.js';
import { WindowLists, type KeptWindow } from '../ranks/window-lists.js';

/** What is brought back: shards of one list. */
interface Restored {
  list: RankList;
  shards: number[];
  window: KeptWindow;
}

/**
 * Brings shards back that have lost a key, by emptying and filling them from PostgreSQL: what is left of them cannot be
 * told from what is missing. All shards of a list by ranges go together, since an entry and its index lie in two.
 *
 * Closed, a shard ignores changes, which are committed in PostgreSQL before they come; so the scan begins after the shard
 * is open to changes again, and finds them. It is read again once the scan is done, unless another began anew meanwhile,
 * or the connection was replaced, so that something of it may be missing.
 */
@Injectable()
export class ShardRestorer {
  constructor(
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    private readonly projection: RankProjection,
    @Inject(BoardCatalog) private readonly boards: RecoveredBoards,
    @Inject(WindowLists) private readonly windowLists: Pick<WindowLists, 'windowsOf'>,
    private readonly lost: RedisLostShards,
  ) {}

  /**
   * Shards that are noted and still closed; those of lists that are gone are forgotten. Changes of a list by ranges wait for
   * each other's shards, so that all of them are closed, unless somebody fills them already.
   * @param isUnderWay what is left alone
   */
  async close(isUnderWay: (shard: LostShard) => boolean = () => false): Promise<LostShard[]> {
    const { lost, boards } = this;
    const noted = await lost.noted();
    if (noted.length > 0) await boards.refresh();
    const left: LostShard[] = [];
    for (const one of noted) {
      if (isUnderWay(one)) continue;
      const found = await this.find(one);
      const state = found && (await lost.stateOf(found.list, one.shard));
      if (found === null || state === null) {
        await lost.forget(one.name);
        continue;
      }
      left.push(one);
      if (state === 'filling') continue;
      for (const shard of found.shards) {
        if ((await lost.stateOf(found.list, shard)) === null) await lost.close(found.list, shard);
      }
    }
    return left;
  }

  /**
   * Brings a shard back.
   * @returns how many entries were applied; null: there is no such list any more
   * @throws PROJECTION_UNAVAILABLE, or a database error: the shard stays closed, and it is to be done again
   */
  async restore(one: LostShard, signal: AbortSignal): Promise<number | null> {
    const found = await this.find(one);
    if (found === null) return null;
    const { lost, projection } = this;
    const { list, shards, window } = found;
    const filler = randomUUID();
    const session = projection.session();
    for (const shard of shards) await lost.close(list, shard);
    for (const shard of shards) await lost.empty(list, shard);
    for (const shard of shards) {
      if (!(await lost.fill(list, shard, filler, window.keepUntilMs))) throw beingBroughtBack();
    }
    const applied = await this.fill(one, found, signal);
    if (projection.session() !== session) throw beingBroughtBack();
    for (const shard of shards) if (!(await lost.finish(list, shard, filler))) throw beingBroughtBack();
    for (const shard of shards) await lost.forget(nameOf(one, shard));
    return applied;
  }

  private async fill(
    { boardUid, windowUid }: LostShard,
    { list, shards, window }: Restored,
    signal: AbortSignal,
  ): Promise<number> {
    const { boards, database, projection } = this;
    const run = new RecoveryRun();
    let applied = 0;
    await workOnPages(new LedgerScan(database).ofWindow(windowUid), async ({ isGuild, rows }) => {
      signal.throwIfAborted();
      const board = await boards.byUid(boardUid);
      if (board === undefined) return;
      const changes = new ChangesByShard();
      for (const row of rows) changes.add(board, entryOfRow(row, isGuild, window));
      applied += await changes.apply(async ({ list: { scope, generation }, shard, changes: some }) =>
        scope === list.scope && generation === list.generation && shards.includes(shard)
          ? projection.apply(list, shard, some, window.keepUntilMs, run)
          : 0,
      );
    });
    return applied;
  }

  /** The list of a shard with its shards that go together; null when nobody reads it any more. */
  private async find({ boardUid, windowUid, scope, generation, shard }: LostShard): Promise<Restored | null> {
    const { boards, windowLists } = this;
    const board = await boards.byUid(boardUid);
    if (board === undefined) return null;
    const window = (await windowLists.windowsOf(board)).find(({ uid }) => uid === windowUid);
    if (window === undefined) return null;
    const list = everyLayout(board.layouts)
      .map((layout) => listOfWindow(board, window, scope, layout))
      .find((one) => one.generation === generation);
    if (list === undefined || shard >= list.shards) return null;
    const shards = list.boundaries === null ? [shard] : Array.from({ length: list.shards }, (_, at) => at);
    return { list, shards, window };
  }
}

const nameOf = ({ boardUid, windowUid, scope, generation }: LostShard, shard: number): string =>
  [boardUid, windowUid, scope, generation, shard].join('.');
