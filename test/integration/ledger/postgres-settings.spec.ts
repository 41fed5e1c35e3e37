// Real: the settings of docker/postgres/ladder.conf against what the PostgreSQL of the tests says of each.
import { readFileSync } from 'node:fs';
import { PostgresDatabase } from '@laddercast/ledger';
import { requiredService } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const lines = readFileSync('docker/postgres/ladder.conf', 'utf8').split('\n');
const settings = lines.flatMap((line) => {
  const [, name, value] = /^(\w+) = '?([^']*)'?$/.exec(line) ?? [];
  return name === undefined ? [] : [{ name, value: value! }];
});

describe('docker/postgres/ladder.conf', () => {
  const database = new PostgresDatabase({ url: requiredService('TEST_DATABASE_URL') });
  beforeAll(() => database.open({ migrate: false }));
  afterAll(() => database.close());

  it('has only lines that are understood', () => {
    expect(lines.filter((line) => line !== '' && !line.startsWith('#'))).toHaveLength(settings.length);
  });

  it('names settings that PostgreSQL has, with values of their kind', async () => {
    const known = await database.query<{
      name: string;
      vartype: string;
      enumvals: string[] | null;
    }>('SELECT name, vartype, enumvals FROM pg_settings WHERE lower(name) = ANY($1::text[])', [
      settings.map(({ name }) => name),
    ]);
    for (const { name, value } of settings) {
      const rule = known.find((one) => one.name.toLowerCase() === name);
      expect(rule, name).toBeDefined();
      if (rule!.enumvals) expect(rule!.enumvals, name).toContain(value);
      if (rule!.vartype === 'bool') expect(['on', 'off'], name).toContain(value);
      if (rule!.vartype === 'integer') expect(value, name).toMatch(/^\d+(kB|MB|GB|ms|s|min)?$/);
    }
  });

  it('keeps what was committed', () => {
    const valueOf = (name: string): string | undefined => settings.find((one) => one.name === name)?.value;
    expect(['fsync', 'synchronous_commit', 'full_page_writes'].map(valueOf)).toEqual(['on', 'on', 'on']);
  });
});
