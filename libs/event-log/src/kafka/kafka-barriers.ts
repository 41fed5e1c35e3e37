import type { Lanes, SqlRunner } from '@laddercast/ledger';
import type { Admin } from 'kafkajs';
import type { LaneBarriers } from './kafka-lane-gate.js';
import { readKept, readOffsets } from './kafka-losses.js';
import { RELAY_GROUP } from './outbox-relay.js';
import type { PostgresOutbox } from '../postgres/postgres-outbox.js';
import { TOPICS } from '../topics.js';

export interface KafkaBarriersOptions {
  database: SqlRunner;
  outbox: Pick<PostgresOutbox, 'hasPassed'>;
  lanes: Lanes;
  groupId: string;
  /** Topics by their names in Kafka. */
  topics: readonly string[];
  withAdmin: <T>(work: (admin: Admin) => Promise<T>) => Promise<T>;
}

/** What a group has to have handled in one partition, up to before `offset`. */
interface Target {
  place: string;
  offset: bigint;
}

/**
 * Where a group stands before lanes that were added. Positions are not looked for in Kafka: once the relay has sent what stood
 * in the outbox before a barrier, the ends of the partitions are behind all of it.
 */
export class KafkaBarriers implements LaneBarriers {
  private readonly opened = new Set<number>();
  /** By lane; once they are read they stay. */
  private readonly targets = new Map<number, readonly Target[]>();

  constructor(private readonly options: KafkaBarriersOptions) {}

  isOpen(lane: number): boolean {
    const { lanes } = this.options;
    return this.opened.has(lane) || (lane < lanes.count && lanes.barriersOf(lane).length === 0);
  }

  async look(closed: readonly number[]): Promise<void> {
    const { database, lanes, groupId, topics, withAdmin } = this.options;
    if (closed.some((lane) => lane >= lanes.count)) await lanes.refresh(database);
    const known = closed.filter((lane) => lane < lanes.count);
    const relayed = new Set<number>();
    for (const lane of known) if (await this.isRelayed(lane)) relayed.add(lane);
    await withAdmin(async (admin) => {
      // Offsets before ends: what is committed meanwhile counts at the next look.
      const offsets = await readOffsets(admin, groupId, topics);
      const kept = await readKept(admin, new Set(topics));
      for (const lane of known) {
        // Whoever has an offset in the lane has passed.
        const hasBegun = topics.some((topic) => (offsets.get(placeOf(topic, lane)) ?? -1n) >= 0n);
        if (!hasBegun && !this.targets.has(lane) && relayed.has(lane)) this.aim(lane, kept);
        if (hasBegun || this.isPassed(lane, offsets, kept)) this.opened.add(lane);
      }
    });
  }

  private async isRelayed(lane: number): Promise<boolean> {
    const { outbox, lanes } = this.options;
    return this.targets.has(lane) || outbox.hasPassed(RELAY_GROUP, lanes.barriersOf(lane), TOPICS);
  }

  /** Notes the ends of the partitions that have to be handled, if the brokers say all of them. */
  private aim(lane: number, kept: ReadonlyMap<string, { high: bigint }>): void {
    const { lanes, topics } = this.options;
    const places = lanes.barriersOf(lane).flatMap((barrier) => topics.map((topic) => placeOf(topic, barrier.lane)));
    const targets = places.flatMap((place) => {
      const end = kept.get(place);
      return end === undefined ? [] : [{ place, offset: end.high }];
    });
    if (targets.length === places.length) this.targets.set(lane, targets);
  }

  /** A group that never had to handle anything in a partition has committed nothing there. */
  private isPassed(
    lane: number,
    offsets: ReadonlyMap<string, bigint>,
    kept: ReadonlyMap<string, { low: bigint }>,
  ): boolean {
    const targets = this.targets.get(lane);
    if (targets === undefined) return false;
    return targets.every(({ place, offset }) => {
      const committed = offsets.get(place) ?? -1n;
      const done = committed >= 0n ? committed : kept.get(place)?.low;
      return done !== undefined && done >= offset;
    });
  }
}

const placeOf = (topic: string, partition: number): string => `${topic}/${partition}`;
