import { LOG_BATCH_MAX } from './event-log.js';
import type { OutboxReading, OutboxRecord, PostgresOutbox } from './postgres-outbox.js';
import { TOPICS } from './topics.js';

/** Then one reads by itself. */
const WAITS_MAX = 2;

/** What was read last of a lane, whatever the topic. */
interface Stretch extends OutboxReading {
  after: number;
}

/**
 * Readings of the outbox that all groups of a process share: those that stand where a lane ends, which is where they stand
 * most of the time, are given what one of them has read. What is visible up to a position of a lane never changes, so what
 * was read a moment ago is as good as what would be read now.
 */
export class PostgresSharedReadings {
  private readonly stretches = new Map<number, Stretch>();
  private readonly underWay = new Map<number, Promise<unknown>>();

  constructor(private readonly outbox: PostgresOutbox) {}

  /** As {@link PostgresOutbox.read}, of at most {@link LOG_BATCH_MAX} records. */
  async read(lane: number, after: number, topics: readonly string[], span: number): Promise<OutboxReading> {
    for (let waits = 0; ; waits += 1) {
      const known = this.known(lane, after, topics);
      if (known !== null) return known;
      const underWay = this.underWay.get(lane);
      // Of those that wait together for a reading that brings them nothing, the first reads for all.
      if (underWay === undefined || waits === WAITS_MAX) break;
      await underWay.catch(() => undefined);
    }
    // Whoever is behind reads for itself alone.
    if (after < (this.stretches.get(lane)?.through ?? 0)) {
      return this.outbox.read(lane, after, topics, LOG_BATCH_MAX, span);
    }
    const reading = this.outbox.read(lane, after, TOPICS, LOG_BATCH_MAX, span);
    this.underWay.set(lane, reading);
    try {
      const stretch = { ...(await reading), after };
      if (stretch.through >= (this.stretches.get(lane)?.through ?? 0)) this.stretches.set(lane, stretch);
      return ofTopics(stretch, after, topics);
    } finally {
      if (this.underWay.get(lane) === reading) this.underWay.delete(lane);
    }
  }

  private known(lane: number, after: number, topics: readonly string[]): OutboxReading | null {
    const stretch = this.stretches.get(lane);
    if (stretch === undefined || after < stretch.after || after >= stretch.through) return null;
    return ofTopics(stretch, after, topics);
  }
}

function ofTopics({ records, ...stretch }: Stretch, after: number, topics: readonly string[]): OutboxReading {
  const isWanted = ({ position, topic }: OutboxRecord): boolean => position > after && topics.includes(topic);
  return { ...stretch, records: records.filter(isWanted) };
}
