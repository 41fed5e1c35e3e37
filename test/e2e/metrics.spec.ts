// Real: the built service with its stores behind proxies; what was done is compared with what Prometheus would read.
import {
  createTestDatabase,
  emptyTestRedis,
  freePort,
  logsUnderTest,
  newInstallation,
  openTcpProxy,
  settingsOfLog,
  startApp,
  type AppName,
  type Installation,
  type RunningApp,
  type TcpProxy,
  type TestDatabase,
} from '@laddercast/testing';
import { PostgresDatabase } from '@laddercast/ledger';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RestClient } from './rest-client.js';

const SINGLES = 30;
const BATCH = 70;
const SOON = { timeout: 40_000, interval: 250 };
/** A second for the sources, and what a machine that is busy adds; who waits for PostgreSQL waits six. */
const SCRAPE_WITHIN_MS = 5000;

/** One reading of GET /metrics. */
class Scrape {
  constructor(readonly text: string) {}

  /** The sum of all rows of a series whose labels include these; undefined when there is none. */
  value(name: string, labels: Record<string, string> = {}): number | undefined {
    const rows = this.text.split('\n').filter((row) => row.startsWith(`${name}{`) || row.startsWith(`${name} `));
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const found = rows.filter((row) => wanted.every((one) => new RegExp(`[{,]${escaped(one)}[,}]`).test(row)));
    return found.length === 0 ? undefined : found.reduce((sum, row) => sum + Number(row.split(' ').at(-1)), 0);
  }
}

const escaped = (text: string): string => text.replace(/[/.:*+?^${}()|[\]\\]/g, '\\$&');

class MeasuredApp {
  private constructor(
    readonly app: RunningApp,
    private readonly metricsPort: number,
  ) {}

  static async start(name: AppName, installation: Installation): Promise<MeasuredApp> {
    const port = await freePort();
    const settings = { ...installation.settings, METRICS_PORT: String(port) };
    return new MeasuredApp(await startApp(name, { ...installation, settings }), port);
  }

  async scrape(): Promise<Scrape> {
    const answer = await fetch(`http://127.0.0.1:${this.metricsPort}/metrics`, { signal: AbortSignal.timeout(20_000) });
    expect(answer.status).toBe(200);
    return new Scrape(await answer.text());
  }

  /** One value of a fresh scrape. */
  async value(name: string, labels?: Record<string, string>): Promise<number | undefined> {
    return (await this.scrape()).value(name, labels);
  }
}

async function behindProxy(url: string): Promise<{ url: string; proxy: TcpProxy }> {
  const address = new URL(url);
  const proxy = await openTcpProxy(address.hostname, Number(address.port));
  address.hostname = '127.0.0.1';
  address.port = String(proxy.port);
  return { url: address.href, proxy };
}

describe.each(logsUnderTest())('what a standalone says of itself, over %s', (log) => {
  let database: TestDatabase;
  let postgres: TcpProxy;
  let redis: TcpProxy;
  let app: MeasuredApp;
  let admin: RestClient;

  beforeAll(async () => {
    database = await createTestDatabase();
    const ledger = await behindProxy(database.url);
    const ranks = await behindProxy(await emptyTestRedis());
    postgres = ledger.proxy;
    redis = ranks.proxy;
    const installation = { ...newInstallation(ledger.url, ranks.url), settings: settingsOfLog(log) };
    app = await MeasuredApp.start('standalone', installation);
    admin = new RestClient(app.app.url, installation.adminKey);
    const board = { order: 'desc', operator: 'best', sharding: { by: 'hash', count: 2 }, push: { intervalMs: 100 } };
    expect((await admin.put('/v1/boards/counted', board)).status).toBe(201);
  });
  afterAll(async () => {
    postgres?.thaw();
    redis?.mend();
    await app?.app.stop();
    await Promise.all([postgres?.close(), redis?.close()]);
    await database?.drop();
  });

  it('counts every submission once, by what became of it', async () => {
    for (let i = 0; i < SINGLES; i += 1) {
      const score = { playerId: `p${i}`, score: i, submissionId: `s${i}` };
      expect((await admin.post('/v1/boards/counted/scores', score)).status).toBe(200);
    }
    const again = { playerId: 'p0', score: 0, submissionId: 's0' };
    expect((await admin.post('/v1/boards/counted/scores', again)).body.replayed).toBe(true);
    const submissions = Array.from({ length: BATCH }, (_, i) => ({ board: 'counted', playerId: `q${i}`, score: i }));
    const unknown = { board: 'nowhere', playerId: 'x', score: 1 };
    const prefer = { Prefer: 'wait=10' };
    expect((await admin.post('/v1/scores', { submissions: [...submissions, unknown] }, prefer)).status).toBe(200);

    const scrape = await app.scrape();
    const ended = (outcome: string) => scrape.value('laddercast_submission_seconds_count', { outcome });
    expect(ended('committed')).toBe(SINGLES + BATCH);
    expect(ended('repeated')).toBe(1);
    expect(scrape.value('laddercast_submission_seconds_count')).toBe(SINGLES + BATCH + 1);
    expect(scrape.value('laddercast_submissions_refused_total', { code: 'BOARD_NOT_FOUND' })).toBe(1);
    expect(scrape.value('laddercast_group_commit_submissions_sum')).toBe(SINGLES + BATCH + 1);
    expect(scrape.value('laddercast_group_commit_submissions_count')).toBe(
      scrape.value('laddercast_commit_seconds_count'),
    );
    const ranked = scrape.value('laddercast_rank_answers_total', { of: 'submission' });
    expect(ranked).toBe(SINGLES + BATCH + 1);
  });

  it('counts what the projector made of it', async () => {
    const counted = async (): Promise<object> => {
      const scrape = await app.scrape();
      return {
        applied: scrape.value('laddercast_changes_applied_total'),
        handled: scrape.value('laddercast_events_handled_total', { group: 'score' }),
        unranked:
          scrape.value('laddercast_batch_seconds_count', { group: 'score' })! -
          scrape.value('laddercast_event_to_rank_seconds_count')!,
      };
    };
    const all = SINGLES + BATCH;
    await expect.poll(counted, SOON).toEqual({ applied: all, handled: all, unranked: 0 });
    const shards = async () => app.value('laddercast_shard_entries', { board: 'counted', window: 'alltime' });
    await expect.poll(shards, SOON).toBe(SINGLES + BATCH);
    for (const lane of ['0', '1']) {
      const lag = () => app.value('laddercast_consumer_lag_events', { group: 'score', lane });
      await expect.poll(lag, SOON).toBe(0);
    }
  });

  it('counts requests by the pattern of their route, and never by what was asked for', async () => {
    const count = (scrape: Scrape, labels: Record<string, string>) =>
      scrape.value('laddercast_request_seconds_count', labels) ?? 0;
    const read = { method: 'GET', route: '/v1/boards/:board/entries', status: '200' };
    const before = count(await app.scrape(), read);
    for (let i = 0; i < 5; i += 1) await admin.get(`/v1/boards/counted/entries?limit=${i + 1}`);
    for (let i = 0; i < 3; i += 1) await admin.get(`/made/up/${i}`);
    await expect.poll(async () => count(await app.scrape(), read), SOON).toBe(before + 5);
    const scrape = await app.scrape();
    expect(count(scrape, { route: 'none', status: '404' })).toBe(3);
    expect(scrape.value('laddercast_rank_answers_total', { of: 'list', accuracy: 'exact' })).toBeGreaterThanOrEqual(5);
    expect(scrape.text).not.toContain('/made');
    // Of the process itself.
    expect(scrape.value('process_cpu_user_seconds_total')).toBeGreaterThan(0);
    const named = scrape.text.split('\n').filter((row) => !row.startsWith('#') && row.includes('counted'));
    expect(named.filter((row) => !row.startsWith('laddercast_shard_entries'))).toEqual([]);
  });

  it('counts the ranks of games beside those of submissions', async () => {
    const board = { order: 'desc', operator: 'latest' };
    expect((await admin.put('/v1/boards/rated', board)).status).toBe(201);
    expect((await admin.put('/v1/pools/rated', { algorithm: 'elo', board: 'rated' })).status).toBe(201);
    const ofSubmissions = async () => app.value('laddercast_rank_answers_total', { of: 'submission' });
    const before = await ofSubmissions();
    const players = ['ada', 'bob', 'cy'].map((playerId, at) => ({ playerId, place: at + 1 }));
    const { body } = await admin.post('/v1/games', { pool: 'rated', gameId: 'g', players }, { Prefer: 'wait=10' });
    expect(body).toMatchObject({ rated: { players: players.map((_, at) => ({ rank: { after: at + 1 } })) } });
    expect(await app.value('laddercast_rank_answers_total', { of: 'game', accuracy: 'exact' })).toBe(3);
    expect(await ofSubmissions()).toBe(before);
  });

  it('counts sockets, subscriptions and frames', async () => {
    const socket = new WebSocket(`${app.app.url.replace('http', 'ws')}/v1/live`, ['ladder.v1']);
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', board: 'counted', channel: 'top', limit: 10 }));
    await once(socket, 'message');
    const open = await app.scrape();
    expect(open.value('laddercast_sockets')).toBe(1);
    expect(open.value('laddercast_subscriptions')).toBe(1);
    expect(open.value('laddercast_frames_sent_total')).toBeGreaterThanOrEqual(1);
    await expect.poll(() => app.value('laddercast_lists_in_use'), SOON).toBe(1);
    await expect.poll(async () => ((await app.value('laddercast_tick_seconds_count')) ?? 0) > 0, SOON).toBe(true);
    socket.close();
    await expect.poll(() => app.value('laddercast_sockets'), SOON).toBe(0);
    await expect.poll(() => app.value('laddercast_subscriptions'), SOON).toBe(0);
  });

  it('counts an event that is parked, and those that lie there', async () => {
    const ledger = new PostgresDatabase({ url: database.url, poolMax: 1 });
    await ledger.open({ migrate: false });
    await ledger.query(
      `INSERT INTO outbox (lane, position, topic, key, payload)
       VALUES (0, nextval('ladder_position'), 'entry-changed', 'x', '{}')`,
    );
    await ledger.close();
    for (const group of ['score', 'guild', 'history']) {
      await expect.poll(() => app.value('laddercast_dead_letters_parked_total', { group }), SOON).toBe(1);
      await expect.poll(() => app.value('laddercast_dead_letters', { group }), SOON).toBe(1);
    }
    expect(await app.value('laddercast_dead_letters')).toBe(3);
  });

  it('counts windows whose standings could not be written', async () => {
    expect(await app.value('laddercast_settlement_failures')).toBe(0);
    const ledger = new PostgresDatabase({ url: database.url, poolMax: 1 });
    await ledger.open({ migrate: false });
    await ledger.query(
      `INSERT INTO settlement_failures (window_uid, kind, failures, error, failed_at, retry_at)
       SELECT window_uid, 'kept', 1, 'no room', ladder_now(), 'infinity' FROM windows WHERE state = 'open' LIMIT 1`,
    );
    await ledger.close();
    await expect.poll(() => app.value('laddercast_settlement_failures'), SOON).toBe(1);
  });

  it('says that Redis is away, and counts what it did not answer', async () => {
    const failures = (await app.value('laddercast_redis_failures_total')) ?? 0;
    await expect.poll(() => app.value('laddercast_store_up', { store: 'redis' }), SOON).toBe(1);
    redis.cut();
    await expect.poll(() => app.value('laddercast_store_up', { store: 'redis' }), SOON).toBe(0);
    expect((await admin.get('/v1/boards/counted/players/p1')).status).toBe(503);
    expect(await app.value('laddercast_redis_failures_total')).toBeGreaterThan(failures);
    await expect.poll(() => app.value('laddercast_store_up', { store: 'postgresql' }), SOON).toBe(1);
    // It is said of masters that answer only.
    await expect.poll(() => app.value('laddercast_redis_memory_bytes'), SOON).toBeUndefined();
    redis.mend();
    await expect.poll(() => app.value('laddercast_store_up', { store: 'redis' }), SOON).toBe(1);
    await expect.poll(() => app.value('laddercast_redis_memory_bytes'), SOON).toBeGreaterThan(0);
  });

  it('answers Prometheus soon while PostgreSQL hangs, says so, and stops saying what it cannot know', async () => {
    await expect.poll(() => app.value('laddercast_outbox_events'), SOON).toBeGreaterThan(0);
    postgres.freeze();
    let slowestMs = 0;
    const value = async (name: string, labels?: Record<string, string>) => {
      const beganAt = Date.now();
      const scraped = await app.value(name, labels);
      slowestMs = Math.max(slowestMs, Date.now() - beganAt);
      return scraped;
    };
    await expect.poll(() => value('laddercast_store_up', { store: 'postgresql' }), SOON).toBe(0);
    // The lease of the keeper runs out: another process may say it from then on.
    await expect.poll(() => value('laddercast_outbox_events'), SOON).toBeUndefined();
    expect(slowestMs).toBeLessThan(SCRAPE_WITHIN_MS);
    postgres.thaw();
    await expect.poll(() => app.value('laddercast_store_up', { store: 'postgresql' }), SOON).toBe(1);
    await expect.poll(() => app.value('laddercast_outbox_events'), SOON).toBeGreaterThan(0);
  });
});

describe.each(logsUnderTest())('what an api says while no projector runs, over %s', (log) => {
  let database: TestDatabase;
  let installation: Installation;
  let api: MeasuredApp;
  let projector: MeasuredApp;

  beforeAll(async () => {
    database = await createTestDatabase();
    installation = { ...newInstallation(database.url, await emptyTestRedis()), settings: settingsOfLog(log) };
    projector = await MeasuredApp.start('projector', installation);
    api = await MeasuredApp.start('api', installation);
  });
  afterAll(async () => {
    await Promise.all([api?.app.stop(), projector?.app.stop()]);
    await database?.drop();
  });

  it('is how far the ranks are behind, in events and in seconds, until one runs again', async () => {
    const admin = new RestClient(api.app.url, installation.adminKey);
    expect((await admin.put('/v1/boards/behind', { order: 'desc', operator: 'best' })).status).toBe(201);
    await projector.app.stop();
    const submissions = Array.from({ length: 40 }, (_, i) => ({ board: 'behind', playerId: `p${i}`, score: i }));
    expect((await admin.post('/v1/scores', { submissions })).status).toBe(200);
    // Without a projector nothing comes from the outbox to Kafka.
    const group = log === 'kafka' ? 'kafka-relay' : 'score';
    const lag = (what: string) => api.value(`laddercast_consumer_lag_${what}`, { group });
    await expect.poll(() => lag('events'), SOON).toBeGreaterThanOrEqual(40);
    const firstSeconds = (await lag('seconds'))!;
    await expect.poll(() => lag('seconds'), SOON).toBeGreaterThan(firstSeconds + 2);
    await expect.poll(() => api.value('laddercast_outbox_age_seconds'), SOON).toBeGreaterThan(2);
    await expect.poll(() => api.value('laddercast_process', { role: 'projector' }), SOON).toBeUndefined();

    projector = await MeasuredApp.start('projector', installation);
    const said = async (what: string) => (await lag(what)) ?? (await projector.value(what, { group }));
    await expect.poll(() => said('events'), SOON).toBe(0);
    await expect.poll(() => said('seconds'), SOON).toBe(0);
    // One of them says it, so that a sum is right.
    const sayers = async (): Promise<number> => {
      const said = await Promise.all([api, projector].map((one) => one.value('laddercast_outbox_events')));
      return said.filter((value) => value !== undefined).length;
    };
    await expect.poll(sayers, SOON).toBe(1);
  });
});
