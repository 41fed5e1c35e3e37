import type { EntryChanged } from '@laddercast/domain';
import type { LogRecord } from '@laddercast/event-log';
import { LaneRaiser } from '@laddercast/ledger';
import { ProjectionWatch, RedisLaneMarks } from '@laddercast/projections';
import { LayoutNode } from './layout-node.js';
import { OUTBOX_COLUMNS, outboxEventOf, type LaneOutboxRow } from './outbox-events.js';
import type { Redis } from './redis-client.js';

const never = new AbortController().signal;

/** A ledger and a projector to which the test gives the outbox by hand, a few events of a lane at a time. */
export class RaisedNode extends LayoutNode {
  readonly raiser = new LaneRaiser(this.allLanes, this.lanes);
  readonly watch = new ProjectionWatch(new RedisLaneMarks(this.redis), this.committed, this.lanes);
  /** Up to where each lane is handled. */
  readonly handled = new Map<number, number>();
  /** The versions of entries that were handled, by player. */
  readonly told = new Map<string, number>();

  /**
   * Gives the saga the next events of a lane, as far as the log may: nothing of a lane that was raised before those are handled
   * that its players left.
   * @returns how many it was given
   */
  async feed(lane: number, most = 1000): Promise<number> {
    for (const { lane: from, position } of this.lanes.barriersOf(lane)) {
      const [left] = await this.next(from, 1);
      if (left && left.position <= position) return 0;
    }
    const records = await this.next(lane, most);
    if (records.length === 0) return 0;
    await this.saga.project({ lane, records });
    for (const { position, event } of records) {
      this.handled.set(lane, position);
      const { playerId, version } = event as EntryChanged;
      if (playerId !== '') this.told.set(playerId, version);
    }
    return records.length;
  }

  /** Gives it everything there is. */
  async feedAll(): Promise<void> {
    for (let fed = 1; fed > 0;) {
      fed = 0;
      for (const lane of this.lanes.all) fed += await this.feed(lane);
    }
  }

  async recoverAll(): Promise<void> {
    for (const lane of this.lanes.all) await this.recovery.check(lane, never);
  }

  /** Whether the ranks would be read now. */
  async isWhole(): Promise<boolean> {
    await this.watch.look();
    try {
      this.watch.assertWhole();
      await this.watch.prove();
      return true;
    } catch {
      return false;
    }
  }

  private async next(lane: number, most: number): Promise<LogRecord[]> {
    const rows = await this.database.query<LaneOutboxRow>(
      `SELECT ${OUTBOX_COLUMNS} FROM outbox
       WHERE lane = $1 AND position > $2 AND topic = 'entry-changed' ORDER BY position LIMIT $3`,
      [lane, this.handled.get(lane) ?? 0, most],
    );
    return rows.map((row) => ({ ...outboxEventOf(row), topic: 'entry-changed', writtenAtMs: 0 }));
  }
}

/** All keys of a Redis, as a dump has them. */
export type RedisDump = readonly { key: Buffer; value: Buffer; expiresAtMs: number }[];

export async function dumped(redis: Redis): Promise<RedisDump> {
  const keys = await redis.keysBuffer('*');
  const found = await Promise.all(
    keys.map(async (key) => ({
      key,
      value: await redis.dumpBuffer(key),
      expiresAtMs: Math.max(0, await redis.pexpiretime(key)),
    })),
  );
  return found.filter((entry): entry is RedisDump[number] => entry.value !== null);
}

/** Has Redis be what it was when it was dumped. */
export async function restored(redis: Redis, dump: RedisDump): Promise<void> {
  await redis.flushall();
  for (const { key, value, expiresAtMs } of dump) await redis.restore(key, expiresAtMs, value, 'ABSTTL');
}
