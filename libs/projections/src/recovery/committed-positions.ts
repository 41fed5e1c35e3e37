import { drawnPosition, projectedPositions, recordProjected, type SqlRunner } from '@laddercast/ledger';

/** How far the ranks are known to be, as positions of the log: what a mark must have reached. */
export abstract class CommittedPositions {
  /** The log positions up to which the lanes were applied and marked, in the order given; 0 where nothing was. */
  abstract ofAll(lanes: readonly number[]): Promise<number[]>;

  /** As {@link ofAll}, of one lane. */
  async of(lane: number): Promise<number> {
    return (await this.ofAll([lane]))[0]!;
  }

  /** Told of each mark, before the log's offset is committed. */
  abstract record(lane: number, position: number): Promise<void>;

  /** The last position that the ledger drew, in any lane. */
  abstract drawn(): Promise<number>;
}

/**
 * Kept in PostgreSQL. The log's own offsets would not do: Kafka's are no positions, and the outbox's also pass over
 * events of other topics, which no mark stands for.
 */
export class LedgerCommittedPositions extends CommittedPositions {
  /**
   * @param isLogBeside whether the log's offsets are in PostgreSQL, too: what a crash of it forgets of the positions, it has
   * forgotten of the offsets that were committed after them, and the events come again. Then nothing waits for the disk.
   */
  constructor(
    private readonly database: SqlRunner,
    private readonly isLogBeside = false,
  ) {
    super();
  }

  override ofAll(lanes: readonly number[]): Promise<number[]> {
    return projectedPositions(this.database, lanes);
  }

  override record(lane: number, position: number): Promise<void> {
    return recordProjected(this.database, lane, position, this.isLogBeside);
  }

  override drawn(): Promise<number> {
    return drawnPosition(this.database);
  }
}
