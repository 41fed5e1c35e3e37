import type { SqlRunner } from '@laddercast/ledger';
import { CommittedPositions } from '@laddercast/projections';
import { SCORE_GROUP } from '@laddercast/sagas';

/** Where the outbox is the log: the offsets of the group that feeds the ranks are positions. */
export class OutboxCommittedPositions extends CommittedPositions {
  constructor(private readonly database: SqlRunner) {
    super();
  }

  override async of(lane: number): Promise<number> {
    const [row] = await this.database.query<{ position: number }>(
      'SELECT position FROM log_offsets WHERE consumer_group = $1 AND lane = $2',
      [SCORE_GROUP, lane],
    );
    return row?.position ?? 0;
  }

  override async record(): Promise<void> {
    // The log writes its offset itself.
  }
}

/** Where Kafka is the log: its offsets say nothing of positions, so these are kept beside. */
export class KafkaCommittedPositions extends CommittedPositions {
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
