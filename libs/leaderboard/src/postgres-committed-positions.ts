import type { SqlRunner } from '@laddercast/ledger';
import { CommittedPositions } from '@laddercast/projections';
import { SCORE_GROUP } from '@laddercast/sagas';

/** The offsets of the group that feeds the ranks. */
export class PostgresCommittedPositions extends CommittedPositions {
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
}
