import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

/** The most scopes that a process remembers. */
const SCOPES_CACHED_MAX = 100_000;

/** The numbers of scopes such as `region:EU` and `guild:red`: one for each name, for ever, over all boards. */
@Injectable()
export class ScopeCatalog {
  private readonly uids = new Map<string, number>();
  private readonly names = new Map<number, string>();

  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** The numbers of names, from memory; undefined when one of them is not there. */
  cached(names: readonly string[]): number[] | undefined {
    const uids: number[] = [];
    for (const name of names) {
      const uid = this.uids.get(name);
      if (uid === undefined) return undefined;
      uids.push(uid);
    }
    return uids;
  }

  /** The numbers of names, each drawn at its first use. */
  async ensure(names: readonly string[]): Promise<number[]> {
    const known = this.cached(names);
    if (known) return known;
    const missing = [...new Set(names)].filter((name) => !this.uids.has(name)).sort();
    // Sorted, and no other lock: lanes that meet here cannot deadlock.
    await this.database.query('INSERT INTO scopes (name) SELECT unnest($1::text[]) ON CONFLICT (name) DO NOTHING', [
      missing,
    ]);
    const made = await this.read('name = ANY($1::text[])', missing);
    return names.map((name) => this.uids.get(name) ?? made.get(name)!);
  }

  /** The number of a name, undefined while nothing was ever ranked in it. */
  async find(name: string): Promise<number | undefined> {
    return this.uids.get(name) ?? (await this.read('name = ANY($1::text[])', [name])).get(name);
  }

  /** Those of the names in which something was ranked. */
  async used(names: readonly string[]): Promise<string[]> {
    const missing = names.filter((name) => !this.uids.has(name));
    if (missing.length > 0) await this.read('name = ANY($1::text[])', missing);
    return names.filter((name) => this.uids.has(name));
  }

  /** The names of numbers; those of the built-in lists have none. */
  async namesOf(uids: readonly number[]): Promise<Map<number, string>> {
    const missing = uids.filter((uid) => !this.names.has(uid));
    if (missing.length > 0) await this.read('scope_uid = ANY($1::int[])', missing);
    return new Map(uids.flatMap((uid) => (this.names.has(uid) ? [[uid, this.names.get(uid)!] as const] : [])));
  }

  private async read(condition: string, values: readonly unknown[]): Promise<Map<string, number>> {
    const rows = await this.database.query<{ scope_uid: number; name: string }>(
      `SELECT scope_uid, name FROM scopes WHERE ${condition}`,
      [values],
    );
    if (this.uids.size + rows.length > SCOPES_CACHED_MAX) {
      this.uids.clear();
      this.names.clear();
    }
    for (const { scope_uid, name } of rows) {
      this.uids.set(name, scope_uid);
      this.names.set(scope_uid, name);
    }
    return new Map(rows.map(({ scope_uid, name }) => [name, scope_uid]));
  }
}
