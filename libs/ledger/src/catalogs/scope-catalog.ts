import { GUILDS_SCOPE } from '@laddercast/domain';
import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { growingCache } from '@laddercast/platform';

/** The most scopes that a process remembers; the least recently used makes room. */
export const SCOPES_CACHED_MAX = 100_000;

/** The numbers of scopes such as `region:EU` and `guild:red`: one for each name, for ever, over all boards. */
@Injectable()
export class ScopeCatalog {
  private readonly uids = growingCache<string, number>(SCOPES_CACHED_MAX);
  private readonly names = growingCache<number, string>(SCOPES_CACHED_MAX);

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
    const { known, missing } = this.remembered(names);
    if (missing.length === 0) return names.map((name) => known.get(name)!);
    // Sorted, and no other lock: lanes that meet here cannot deadlock.
    await this.database.query('INSERT INTO scopes (name) SELECT unnest($1::text[]) ON CONFLICT (name) DO NOTHING', [
      missing.sort(),
    ]);
    const made = await this.read('name = ANY($1::text[])', missing);
    return names.map((name) => known.get(name) ?? made.get(name)!);
  }

  /** The number of a name; undefined if nothing was ever ranked in it. */
  async find(name: string): Promise<number | undefined> {
    return this.uids.get(name) ?? (await this.read('name = ANY($1::text[])', [name])).get(name);
  }

  /** The numbers of those names in which something was ranked. */
  async used(names: readonly string[]): Promise<string[]> {
    const { known, missing } = this.remembered(names);
    const found = missing.length > 0 ? await this.read('name = ANY($1::text[])', missing) : known;
    return names.filter((name) => known.has(name) || found.has(name));
  }

  /** The names of numbers; built-in lists and those of patches have none. */
  async namesOf(uids: readonly number[]): Promise<Map<number, string>> {
    const names = new Map<number, string>();
    const missing: number[] = [];
    for (const uid of uids) {
      const name = this.names.get(uid);
      if (name !== undefined) names.set(uid, name);
      else if (uid > GUILDS_SCOPE) missing.push(uid);
    }
    if (missing.length === 0) return names;
    for (const [name, uid] of await this.read('scope_uid = ANY($1::int[])', missing)) names.set(uid, name);
    return names;
  }

  /** The remembered numbers of these names, and the names without one, each once. */
  private remembered(names: readonly string[]): { known: Map<string, number>; missing: string[] } {
    const known = new Map<string, number>();
    const missing = new Set<string>();
    for (const name of names) {
      const uid = this.uids.get(name);
      if (uid === undefined) missing.add(name);
      else known.set(name, uid);
    }
    return { known, missing: [...missing] };
  }

  private async read(condition: string, values: readonly unknown[]): Promise<Map<string, number>> {
    const rows = await this.database.query<{ scope_uid: number; name: string }>(
      `SELECT scope_uid, name FROM scopes WHERE ${condition}`,
      [values],
    );
    for (const { scope_uid, name } of rows) {
      this.uids.set(name, scope_uid);
      this.names.set(scope_uid, name);
    }
    return new Map(rows.map(({ scope_uid, name }) => [name, scope_uid]));
  }
}
