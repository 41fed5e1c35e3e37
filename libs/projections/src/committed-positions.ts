import type { SqlRunner } from '@laddercast/ledger';

/** How far the ranks are known to be, as positions of the log: what a mark must have reached. */
export abstract class CommittedPositions {
  /** The log position up to which the lane was applied and marked, 0 when nothing was. */
  abstract of(lane: number): Promise<number>;

  /** Told of each mark, before the log's offset is committed. */
  abstract record(lane: number, position: number): Promise<void>;
}

/**
 * Kept in PostgreSQL. The log's own offsets would not do: Kafka's are no positions, and the outbox's also pass over
 * events of other topics, which no mark stands for.
 */
export class LedgerCommittedPositions extends CommittedPositions {
  constructor(private readonly database: SqlRunner) {
    super();
  }

  override async of(lane: number): Promise<number> {
    const [row] = await this.database.query<{ position: number }>(
      'SELECT position FROM projected_positions WHERE lane = $1',
      [lane],
    );
    return row?.position ?? 0;
  }

  override async record(lane: number, position: number): Promise<void> {
    await this.database.query(
      `INSERT INTO projected_positions AS known (lane, position) VALUES ($1, $2)
       ON CONFLICT (lane) DO UPDATE SET position = greatest(known.position, excluded.position)`,
      [lane, position],
    );
  }
}
