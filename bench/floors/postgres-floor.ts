import pg from 'pg';
import { built } from '../installation/built-code.js';

/** What the floor writes, and where. */
export interface PostgresFloorOptions {
  root: string;
  databaseUrl: string;
  board: { uid: number; windowUid: number };
  players: readonly string[];
  /** An event as it stands in the outbox, and the answer of a submission, both as text. */
  template: { event: string; answer: string };
}

/** Places of so many players, those behind the first `written`. */
const playersOf = (batch: number, written: number, players: number): number[] =>
  Array.from({ length: batch }, (_, index) => (written + index) % players);

/**
 * A group-commit loop on one connection: the very statement that the service writes a batch with, into tables of the same
 * shape and size beside its own; nothing is looked up, nothing is computed.
 */
export class PostgresFloor {
  #commits = 0;
  #written = 0;

  private constructor(
    private readonly client: pg.Client,
    private readonly statement: string,
    private readonly options: PostgresFloorOptions,
  ) {}

  static async open(options: PostgresFloorOptions): Promise<PostgresFloor> {
    type LaneSql = { WRITE_LANE_BATCH: string };
    const { WRITE_LANE_BATCH: statement } = await built<LaneSql>(options.root, 'ledger', 'entries/lane-sql');
    const client = new pg.Client({ connectionString: options.databaseUrl });
    client.on('error', () => {});
    await client.connect();
    await client.query('CREATE SCHEMA floor');
    for (const table of ['entries', 'submissions', 'outbox']) {
      await client.query(`CREATE TABLE floor.${table} (LIKE public.${table} INCLUDING ALL)`);
    }
    await client.query('INSERT INTO floor.entries SELECT * FROM public.entries');
    await client.query('ANALYZE floor.entries');
    await client.query('SET search_path = floor, public');
    return new PostgresFloor(client, statement, options);
  }

  /**
   * Submissions a second.
   * @param load `batch`: how many are committed together; `changing`: how many of a hundred of them change an entry
   */
  async measure({ batch, changing, seconds }: { batch: number; changing: number; seconds: number }): Promise<number> {
    const startedAt = performance.now();
    const endsAt = startedAt + 1000 * seconds;
    let written = 0;
    while (performance.now() < endsAt) {
      await this.client.query('BEGIN');
      await this.client.query(this.statement, this.#parameters(batch, Math.round((batch * changing) / 100)));
      await this.client.query('COMMIT');
      this.#commits += 1;
      this.#written += batch;
      written += batch;
    }
    return (1000 * written) / (performance.now() - startedAt);
  }

  async close(): Promise<void> {
    // What failed may have left a transaction behind; its error is the one to be told.
    await this.client.query('ROLLBACK').catch(() => {});
    await this.client.query('DROP SCHEMA floor CASCADE').catch(() => {});
    await this.client.end();
  }

  #parameters(batch: number, changes: number): unknown[] {
    const { board, players, template } = this.options;
    const all = playersOf(batch, this.#written, players.length).map((at) => players[at]!);
    const changed = [...new Set(all.slice(0, changes))];
    const now = Date.now();
    const position = this.#written + 1;
    const many = (value: unknown): unknown[] => all.map(() => value);
    const some = (value: unknown): unknown[] => changed.map(() => value);
    const submissions = all.map((_, index) => `floor-${this.#commits}-${String(index).padStart(4, '0')}`);
    return [
      ...[0, now, many(board.uid), many(''), submissions, all, many(Buffer.alloc(32)), many(1), many('{}'), many(now)],
      ...[many(null), many(template.answer)],
      ...[some(board.windowUid), changed, some(board.uid), changed.map((_, index) => position + index), some(false)],
      ...[changed.map(() => Math.random()), some('{}'), some(now), some(null), some('{}'), some('{}')],
      ...[changed.map((_, index) => position + index), some('entry-changed'), changed, some(template.event)],
      some(false),
    ];
  }
}
