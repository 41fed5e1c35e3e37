import type { LadderEventType } from '@laddercast/domain';

/**
 * Every topic of the log, in one place. In Kafka each is `<KAFKA_PREFIX>.<topic>` with one partition per lane.
 *
 * | topic | payload | key |
 * |---|---|---|
 * | entry-changed | `EntryChanged`: the whole new state of a player's entries on one board, or their removal | player id |
 * | board-changed | `BoardChanged`: created, redefined, reset or deleted; written once in every lane | board uid |
 */
export const TOPICS = ['entry-changed', 'board-changed'] as const satisfies readonly LadderEventType[];

export type Topic = (typeof TOPICS)[number];
