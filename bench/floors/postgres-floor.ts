import pg from 'pg';
import { built } from '../installation/built-code.js';

/** Places of so many players, those behind the first `written`. */
const playersOf = (batch, written, players) => Array.from({ length: batch }, (_, index) => (written + index) % players);

/**
 * A group-commit loop on one connection: the very statement that the service writes a batch with, into tables of the same
 * shape and size beside its own; nothing is looked up, nothing is computed.
 */
export class PostgresFloor {
  #client;
  #statement;
  #commits = 0;
  #written = 0;

  /** @param template an event as it stands in the outbox, and the answer of a submission, both as text */
  static async open({ root, databaseUrl, board, players, template }) {
    const floor = new PostgresFloor();
    floor.#statement = (await built(root, 'ledger', 'entries/lane-sql')).WRITE_LANE_BATCH;
    floor.#client = new pg.Client({ connectionString: databaseUrl });
    floor.#client.on('error', () => {});
    await floor.#client.connect();
    await floor.#client.query('CREATE SCHEMA floor');
    for (const table of ['entries', 'submissions', 'outbox']) {
      await floor.#client.query(`CREATE TABLE floor.${table} (LIKE public.${table} INCLUDING ALL)`);
    }
    await floor.#client.query('INSERT INTO floor.entries SELECT * FROM public.entries');
    await floor.#client.query('ANALYZE floor.entries');
    await floor.#client.query('SET search_path = floor, public');
    return Object.assign(floor, { board, players, template });
  }

  /**
   * Submissions a second.
   * @param batch how many are committed together
   * @param changing how many of a hundred of them change an entry
   */
  async measure({ batch, changing, seconds }) {
    const startedAt = performance.now();
    const endsAt = startedAt + 1000 * seconds;
    let written = 0;
    while (performance.now() < endsAt) {
      await this.#client.query('BEGIN');
      await this.#client.query(this.#statement, this.#parameters(batch, Math.round((batch * changing) / 100)));
      await this.#client.query('COMMIT');
      this.#commits += 1;
      this.#written += batch;
      written += batch;
    }
    return (1000 * written) / (performance.now() - startedAt);
  }

  async close() {
    // What failed may have left a transaction behind; its error is the one to be told.
    await this.#client.query('ROLLBACK').catch(() => {});
    await this.#client.query('DROP SCHEMA floor CASCADE').catch(() => {});
    await this.#client.end();
  }

  #parameters(batch, changes) {
    const { board, players, template } = this;
    const all = playersOf(batch, this.#written, players.length).map((at) => players[at]);
    const changed = [...new Set(all.slice(0, changes))];
    const now = Date.now();
    const position = this.#written + 1;
    const [many, some] = [(value) => all.map(() => value), (value) => changed.map(() => value)];
    const submissions = all.map((_, index) => `floor-${this.#commits}-${String(index).padStart(4, '0')}`);
    return [
      ...[0, now, many(board.uid), many(''), submissions, all, many(Buffer.alloc(32)), many(1), many('{}'), many(now)],
      ...[many(null), many(template.answer)],
      ...[some(board.windowUid), changed, some(board.uid), changed.map((_, index) => position + index), some(false)],
      ...[changed.map(() => Math.random()), some('{}'), some(now), some(null), some('{}'), some('{}')],
      ...[changed.map((_, index) => position + index), some('entry-changed'), changed, some(template.event)],
    ];
  }
}
