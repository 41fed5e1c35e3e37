/** Where the group that feeds the ranks stands in the log. */
export abstract class CommittedPositions {
  /** The log position up to which the lane is committed, 0 when nothing is. */
  abstract of(lane: number): Promise<number>;

  /** Told of each mark before the offset is committed; for logs whose offsets are not positions. */
  abstract record(lane: number, position: number): Promise<void>;
}
