import type { LadderEventType } from '@laddercast/domain';

/**
 * Every topic of the log, in one place. In Kafka each is `<KAFKA_PREFIX>.<topic>` with one partition per lane.
 *
 * | topic | payload | key |
 * |---|---|---|
 * | entry-changed | `EntryChanged`: the whole new state of a player's entries on one board, or their removal | player id |
 * | player-changed | `PlayerChanged`: another name or face of a player or guild, listed or not any more, or an act on one of its runs | player or guild id |
 * | sanction-changed | `SanctionChanged`: a sanction of a player was put, replaced or lifted | player id |
 * | board-changed | `BoardChanged`: created, redefined, reset or deleted, or its windows changed; written once in every lane | board uid |
 * | window-closed | `WindowClosed`: the final standings are written; once, in the lane of the board | board uid |
 * | standings-revised | `StandingsRevised`: acts changed standings that were written, and another edition is; in the lane of the board | board uid |
 * | game-recorded | `GameRecorded`: a pool has games that are not rated yet; one for all that were committed together | pool uid |
 * | rating-changed | `RatingChanged`: a player's rating after the games that were rated together; in the lane of the pool | player id |
 * | run-recorded | `RunRecorded`: a run was accepted on a board with `integrity` | player id |
 * | flag-raised | `FlagRaised`: something is suspicious, and waits for a moderator | player id, or flag id where several players are concerned |
 */
export const TOPICS = [
  'entry-changed',
  'player-changed',
  'sanction-changed',
  'board-changed',
  'window-closed',
  'standings-revised',
  'game-recorded',
  'rating-changed',
  'run-recorded',
  'flag-raised',
] as const satisfies readonly LadderEventType[];

export type Topic = (typeof TOPICS)[number];
