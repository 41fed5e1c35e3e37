/** Where the group that feeds the ranks stands in the log. */
export abstract class CommittedPositions {
  /** The log position up to which the lane is committed, 0 when nothing is. */
  abstract of(lane: number): Promise<number>;
}
