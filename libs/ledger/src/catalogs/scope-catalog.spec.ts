import { GLOBAL_SCOPE, GUILDS_SCOPE, patchScopeOf } from '@laddercast/domain';
import { expect, it } from 'vitest';
import type { SqlRunner } from '../database/postgres-database.js';
import { ScopeCatalog, SCOPES_CACHED_MAX } from './scope-catalog.js';

/** The table of scopes: inserts draw numbers from 16 on, as its migration says; reads find by name or by number. */
class ScopesTable implements SqlRunner {
  private readonly uids = new Map<string, number>();
  private readonly names = new Array<string>(16);
  reads = 0;

  async query<Row>(sql: string, [values]: readonly unknown[] = []): Promise<Row[]> {
    if (sql.startsWith('INSERT')) {
      for (const name of values as string[]) if (!this.uids.has(name)) this.uids.set(name, this.names.push(name) - 1);
      return [];
    }
    this.reads++;
    const names = sql.includes('name =') ? (values as string[]) : (values as number[]).map((uid) => this.names[uid]!);
    const known = names.filter((name) => this.uids.has(name));
    return known.map((name) => ({ scope_uid: this.uids.get(name), name })) as Row[];
  }
}

it('tells all that it is asked, also where what it remembers makes room for the rest', async () => {
  const scopes = new ScopeCatalog(new ScopesTable());
  const [early, late] = ['guild:early', 'guild:late'];
  const [uid] = await scopes.ensure([early]);
  await scopes.ensure(Array.from({ length: SCOPES_CACHED_MAX - 1 }, (_, at) => `guild:${at}`));
  // The cache is full, and has what was asked for first.
  expect(scopes.cached([early])).toEqual([uid]);
  const many = Array.from({ length: SCOPES_CACHED_MAX }, (_, at) => `region:${at}`);
  expect(await scopes.used([early, late, ...many])).toEqual([early]);
  const uids = await scopes.ensure([early, ...many]);
  expect([uids[0], uids.length, uids.includes(undefined as never)]).toEqual([uid, many.length + 1, false]);
  expect((await scopes.namesOf([uid!, ...uids])).get(uid!)).toBe(early);
  expect(await scopes.used([...many, early])).toHaveLength(many.length + 1);
});

it('asks nobody for the names of built-in lists and those of patches, which have none', async () => {
  const table = new ScopesTable();
  const scopes = new ScopeCatalog(table);
  const [red] = await scopes.ensure(['guild:red']);
  const before = table.reads;
  expect([...(await scopes.namesOf([GLOBAL_SCOPE, GUILDS_SCOPE, patchScopeOf(3), red!]))]).toEqual([
    [red, 'guild:red'],
  ]);
  expect(table.reads).toBe(before);
});
