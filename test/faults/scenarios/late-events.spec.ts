// Real: api, projector and gateway processes on PostgreSQL, Redis and Kafka, under load: what was said of an entry, a
// board and a window that are gone comes again, late.
import { randomBytes } from 'node:crypto';
import { logsUnderTest, requiredService } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { call, type Answer } from '../call.js';
import { untilRead } from '../kafka-admin.js';
import { openPostgres, type PostgresSession } from '../postgres-session.js';
import { lastEvents, redeliver, untilHandled, type StoredEvent } from '../redelivery.js';
import { openRedis } from '../redis-session.js';
import { Scenario } from '../scenario.js';

const EVENTS = 20_000;
/** The season ends while the scenario runs, and its keys leave Redis soon after. */
const SEASON_MS = 15_000;
const GONE_WITHIN_MS = SEASON_MS + 60_000;

describe.each(logsUnderTest())('late events of what is gone, over the log in %s', (log) => {
  let scenario: Scenario | undefined;
  let database: PostgresSession | undefined;
  let redis: ReturnType<typeof openRedis> | undefined;
  afterEach(async () => {
    redis?.disconnect();
    await database?.end();
    await scenario?.stop();
  });

  it('bring back no removed entry, no deleted board and no closed window', async () => {
    const prefix = `test-${randomBytes(6).toString('hex')}`;
    const settings: Record<string, string> = log === 'kafka' ? { KAFKA_PREFIX: prefix } : {};
    scenario = await Scenario.start({ fault: '6 late events', log, settings });
    const { installation } = scenario;
    database = await openPostgres(installation.databaseUrl);
    redis = openRedis(requiredService('TEST_REDIS_URL'));
    const ask = (method: string, path: string, body?: object): Promise<Answer> =>
      call(`${installation.apis[0]!.url}${path}`, { method, key: installation.adminKey, ...(body && { body }) });
    const made = async (method: string, path: string, body?: object): Promise<void> => {
      const { status, body: answer } = await ask(method, path, body);
      if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
    };
    const submit = (board: string, playerId: string, score: number): Promise<void> =>
      made('POST', `/v1/boards/${board}/scores`, { submissionId: `${playerId}-${score}`, playerId, score });

    const endsAt = new Date(Date.now() + SEASON_MS).toISOString();
    const season = { season: 's1', startsAt: '2026-01-01T00:00:00Z', endsAt };
    const ofSeason = { windows: ['alltime', season], graceSeconds: 0, keepEndedSeconds: 0 };
    for (const [board, more] of [
      // First, so that all of its players are there before it ends.
      ['late-closed', ofSeason],
      ['late-removed', {}],
      ['late-deleted', {}],
    ] as const) {
      await made('PUT', `/v1/boards/${board}`, { order: 'desc', operator: 'best', ...more });
      for (const [playerId, score] of [
        ['ada', 10],
        ['bob', 20],
        ['cy', 30],
      ] as const)
        await submit(board, playerId, score);
    }
    const uids = new Map(
      (
        await database.query<{ id: string; uid: number }>(
          `SELECT board_id AS id, board_uid::int AS uid FROM boards WHERE board_id LIKE 'late-%'`,
        )
      ).map(({ id, uid }) => [id, uid]),
    );
    const said = await eventsOf(database, [...uids.values()]);
    expect(said.length).toBeGreaterThanOrEqual(9);

    await made('DELETE', '/v1/boards/late-removed/players/bob');
    await made('DELETE', '/v1/boards/late-deleted');
    await expect
      .poll(() => settledWindows(database!, uids.get('late-closed')!), { timeout: GONE_WITHIN_MS })
      .toEqual(['season:s1']);
    const windowUid = await windowOf(database, uids.get('late-closed')!);
    const keysOf = (pattern: string): Promise<string[]> => lastingKeys(redis!, `*{${pattern}*`);
    await expect.poll(() => keysOf(`${uids.get('late-deleted')}.`), { timeout: GONE_WITHIN_MS }).toEqual([]);
    await expect
      .poll(() => keysOf(`${uids.get('late-closed')}.${windowUid}.`), { timeout: GONE_WITHIN_MS })
      .toEqual([]);
    const standings = await ask('GET', '/v1/boards/late-closed/entries?window=season:s1');
    expect(standings.status, JSON.stringify(standings)).toBe(200);
    expect(entriesOf(standings), 'the season ended before all had played').toEqual(['cy', 'bob', 'ada']);

    await redeliver(database, [...said].reverse());
    await redeliver(database, said);
    await untilHandled(database);
    if (log === 'kafka') {
      await untilRead(requiredService('TEST_KAFKA_BROKERS'), `${prefix}.score`, `${prefix}.entry-changed`);
    }
    await scenario.prove(`${2 * said.length} events of what is gone`, { overridden: ['late-removed'] });

    expect(await keysOf(`${uids.get('late-deleted')}.`)).toEqual([]);
    expect(await keysOf(`${uids.get('late-closed')}.${windowUid}.`)).toEqual([]);
    expect((await ask('GET', '/v1/boards/late-deleted/entries')).status).toBe(404);
    const after = await ask('GET', '/v1/boards/late-closed/entries?window=season:s1');
    expect(entriesOf(after)).toEqual(entriesOf(standings));
    expect(entriesOf(await ask('GET', '/v1/boards/late-removed/entries'))).toEqual(['cy', 'ada']);
    expect(await database.query('SELECT cause FROM dead_letters')).toEqual([]);
  });
});

/** Keys that hold entries, and those that stay for ever: a list that is gone leaves a note for a while that it is. */
async function lastingKeys(redis: ReturnType<typeof openRedis>, pattern: string): Promise<string[]> {
  const keys = await redis.keys(pattern);
  const expiries = await Promise.all(keys.map((key) => redis.pttl(key)));
  return keys.filter((key, at) => /:(z|i:\d+)$/.test(key) || expiries[at] === -1);
}

const entriesOf = ({ body }: Answer): string[] =>
  (body as { entries: { playerId: string }[] }).entries.map(({ playerId }) => playerId);

const eventsOf = async (database: PostgresSession, uids: readonly number[]): Promise<StoredEvent[]> =>
  (await lastEvents(database, EVENTS, `topic IN ('entry-changed', 'window-closed')`)).filter(({ payload }) =>
    uids.includes((JSON.parse(payload) as { boardUid: number }).boardUid),
  );

const settledWindows = async (database: PostgresSession, boardUid: number): Promise<string[]> =>
  (
    await database.query<{ id: string }>(
      "SELECT window_id AS id FROM windows WHERE board_uid = $1 AND state = 'settled'",
      [boardUid],
    )
  ).map(({ id }) => id);

const windowOf = async (database: PostgresSession, boardUid: number): Promise<number> =>
  (
    await database.query<{ uid: number }>(
      `SELECT window_uid::int AS uid FROM windows WHERE board_uid = $1 AND window_id = 'season:s1'`,
      [boardUid],
    )
  )[0]!.uid;
