import type { LadderEventType } from '@laddercast/domain';

/**
 * Every topic of the log, in one place. In Kafka each is `<KAFKA_PREFIX>.<topic>` with one partition per lane.
 *
 * | topic | payload | key |
 * |---|---|---|
 * | entry-changed | `EntryChanged`: the whole new state of a player's entries on one board, or their removal | player id |
 * | player-changed | `PlayerChanged`: another name of a player or guild, or listed or not any more | player or guild id |
 * | board-changed | `BoardChanged`: created, redefined, reset or deleted, or its windows changed; written once in every lane | board uid |
 * | window-closed | `WindowClosed`: the final standings are written; once, in the lane of the board | board uid |
 */
export const TOPICS = [
  'entry-changed',
  'player-changed',
  'board-changed',
  'window-closed',
] as const satisfies readonly LadderEventType[];

export type Topic = (typeof TOPICS)[number];
