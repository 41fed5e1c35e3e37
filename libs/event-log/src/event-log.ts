import type { LadderEvent } from '@laddercast/domain';
import type { Topic } from './topics.js';

/**
 * One event as a consumer gets it. Do not change it: other groups and later tries get the same object. Within a lane
 * positions only grow, except that redeliveries may come late.
 */
export interface LogRecord {
  topic: Topic;
  lane: number;
  position: number;
  /** When the ledger wrote it, by the clock of the database: Unix ms. A redelivery has the same time. */
  writtenAtMs: number;
  key: string;
  event: LadderEvent;
  /** W3C trace context of the delivery; absent: it is not traced. */
  traceparent?: string;
}

/** Records of one lane, in order. */
export interface LogBatch {
  lane: number;
  records: LogRecord[];
}

/** Handles a batch. When it resolves, the batch's offset may be committed; when it rejects, the batch comes again. */
export type BatchHandler = (batch: LogBatch) => Promise<void>;

/** How far a group is behind in one lane. */
export interface LaneLag {
  lane: number;
  events: number;
  /** Age of the oldest event not yet handled, in seconds; 0 when nothing waits. */
  seconds: number;
}

/** A running consumer. */
export interface LogSubscription {
  /** Finishes the batch in hand, commits it, and lets others take the lanes. */
  stop(): Promise<void>;
}

/** The most records that a handler gets at once. */
export const LOG_BATCH_MAX = 1000;

/**
 * The log between the ledger and everything that follows the ledger.
 *
 * What it promises: every event is delivered to each group at least once; first deliveries in the order of their lane;
 * an offset is committed only after the handler resolved; a group's lane has one consumer at a time over all processes,
 * and a commit by one that lost its lane changes nothing. A handler that fails with an error that {@link isRetriable}
 * calls retriable is called again for ever with capped backoff; otherwise the batch is bisected, and the one event that
 * fails by itself is parked in `dead_letters` with its cause, and the lane goes on. When lanes are raised, a group begins
 * with one that was added once it has handled what the lanes held that its players come from; the others go on meanwhile.
 */
export abstract class EventLog {
  /**
   * @param group names the consumer; its offsets outlive processes. A new group begins at the oldest event that is
   * kept.
   */
  abstract consume(group: string, topics: readonly Topic[], handler: BatchHandler): Promise<LogSubscription>;

  /**
   * One row per lane.
   * @param topics what the group reads, if no consumer of it runs in this process
   */
  abstract lag(group: string, topics?: readonly Topic[]): Promise<LaneLag[]>;

  /** Ends all consumers of this process, and the log's own work. */
  abstract close(): Promise<void>;
}
