// Real: PostgreSQL; the processes are connections of their own.
import { PostgresLogGroups, type LogLine } from '@laddercast/event-log';
import { PostgresDatabase } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const quiet: LogLine = () => undefined;
const SOON = { interval: 20 };

describe('the groups of the log', () => {
  let database: TestDatabase;
  let projector: PostgresDatabase;
  let api: PostgresDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    projector = new PostgresDatabase({ url: database.url });
    api = new PostgresDatabase({ url: database.url });
    await projector.open({ migrate: true });
    await api.open({ migrate: false });
  });
  afterAll(async () => {
    await projector?.close();
    await api?.close();
    await database?.drop();
  });
  beforeEach(async () => {
    await api.query(`DELETE FROM installation WHERE starts_with(name, 'log-group/')`);
  });

  const known = () => new PostgresLogGroups(api, quiet).all();

  it('are known in every process once one has registered them', async () => {
    const groups = new PostgresLogGroups(projector, quiet);
    groups.start([
      { group: 'team.news', topics: ['window-closed', 'entry-changed'] },
      { group: 'score', topics: ['entry-changed'] },
    ]);
    await expect.poll(known, SOON).toEqual([
      { group: 'score', topics: ['entry-changed'] },
      { group: 'team.news', topics: ['entry-changed', 'window-closed'] },
    ]);
    await groups.stop();
    expect(await known()).toHaveLength(2);
  });

  it('are gone when nobody has renewed them for seven days', async () => {
    const groups = new PostgresLogGroups(projector, quiet);
    groups.start([{ group: 'team.gone', topics: ['entry-changed'] }]);
    await expect.poll(known, SOON).toHaveLength(1);
    const weekAgo = (minutes: number) =>
      api.query(
        `UPDATE installation SET value = jsonb_set(value::jsonb, '{renewedAtMs}', to_jsonb(floor(extract(epoch
           FROM statement_timestamp() - interval '7 days' + $1 * interval '1 minute') * 1000)))::text
         WHERE name = 'log-group/team.gone'`,
        [minutes],
      );
    await weekAgo(1);
    expect(await known()).toHaveLength(1);
    await weekAgo(-1);
    expect(await known()).toEqual([]);
    await groups.stop();
  });

  it('lose topics that this release does not know, which another may have written', async () => {
    await api.query(`INSERT INTO installation (name, value)
      SELECT 'log-group/newer', jsonb_build_object('topics', '["entry-changed", "topic-to-come"]'::jsonb, 'renewedAtMs',
        extract(epoch FROM statement_timestamp()) * 1000)::text`);
    expect(await known()).toEqual([{ group: 'newer', topics: ['entry-changed'] }]);
  });
});
