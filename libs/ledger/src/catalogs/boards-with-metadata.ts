import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import type { LedgerWrite } from '../entries/ledger-writes.js';
import { growingCache } from '@laddercast/platform';

/** The most boards that a process remembers; a forgotten one is noted again. */
const KNOWN_MAX = 100_000;

const NOTE = 'INSERT INTO metadata_boards (board_uid) SELECT unnest($1::int[]) ON CONFLICT DO NOTHING';
const READ = prepared('SELECT board_uid FROM metadata_boards WHERE board_uid = ANY($1::int[])');

/**
 * The boards to which a run has brought metadata: for rows of other boards PostgreSQL is not asked for it. A board is
 * noted before the log position of such a run is drawn, so a missing note proves that rows already seen have none.
 */
@Injectable()
export class BoardsWithMetadata {
  private readonly known = growingCache<number, true>(KNOWN_MAX);

  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** To be called before the transaction that stores these writes. */
  async note(writes: readonly LedgerWrite[]): Promise<void> {
    const brought = writes.filter((write) => write.kind === 'submit' && write.metadata !== null);
    const unknown = new Set(brought.map(({ board }) => board.uid).filter((uid) => !this.known.get(uid)));
    if (unknown.size === 0) return;
    await this.database.query(NOTE, [[...unknown].sort((a, b) => a - b)]);
    for (const uid of unknown) this.known.set(uid, true);
  }

  /** Notes the boards again: a server that took over may lack what the other one had noted. */
  forget(): void {
    this.known.clear();
  }

  /** Which of these boards are noted now. */
  async read(boardUids: readonly number[]): Promise<number[]> {
    const rows = await this.database.query<{ board_uid: number }>(READ, [boardUids]);
    return rows.map((row) => row.board_uid);
  }
}
