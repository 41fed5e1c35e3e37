// Real: api, projector and gateway as processes of their own, PostgreSQL, Redis, each log; a collector that keeps spans.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  createTestDatabase,
  emptyTestRedis,
  freePort,
  logsUnderTest,
  newInstallation,
  settingsOfLog,
  startApp,
  type Installation,
  type RunningApp,
  type TestDatabase,
} from '@laddercast/testing';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { RestClient } from './rest-client.js';
import { TraceCollector, type CollectedSpan } from './trace-collector.js';

const newTraceparent = (flags: '00' | '01'): { traceparent: string; traceId: string; spanId: string } => {
  const traceId = randomBytes(16).toString('hex');
  const spanId = randomBytes(8).toString('hex');
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, traceId, spanId };
};

describe.each(logsUnderTest())('a traced submission, over %s', (log) => {
  let database: TestDatabase;
  let collector: TraceCollector;
  let installation: Installation;
  let apps: Record<'api' | 'projector' | 'gateway', RunningApp>;
  let admin: RestClient;
  let socket: WebSocket;
  const frames: { type: string; changes?: { playerId: string }[] }[] = [];

  const seen = (playerId: string): boolean =>
    frames.some(({ type, changes }) => type === 'delta' && changes?.some((change) => change.playerId === playerId));
  const submit = async (playerId: string, traceparent?: string): Promise<void> => {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${installation.adminKey}` };
    const response = await fetch(`${apps.api.url}/v1/boards/traced/scores`, {
      method: 'POST',
      headers: { ...headers, ...(traceparent !== undefined && { traceparent }) },
      body: JSON.stringify({ playerId, score: 10 }),
    });
    expect(response.status).toBe(200);
    await vi.waitUntil(() => seen(playerId), { timeout: 60_000 });
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    collector = await TraceCollector.start();
    const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '0' };
    const settings = { ...settingsOfLog(log), ...traces };
    installation = { ...newInstallation(database.url, await emptyTestRedis()), settings };
    const api = await startApp('api', installation);
    apps = {
      api,
      projector: await startApp('projector', installation),
      gateway: await startApp('gateway', installation),
    };
    admin = new RestClient(apps.api.url, installation.adminKey);
    await admin.makeBoard('traced', { push: { intervalMs: 100 } });
    socket = new WebSocket(`${apps.gateway.url.replace('http', 'ws')}/v1/live`, ['ladder.v1']);
    const subscribe = (): void =>
      socket.send(JSON.stringify({ type: 'subscribe', id: '1', board: 'traced', channel: 'top', limit: 10 }));
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as { type: string };
      frames.push(frame);
      // The gateway sees a new board within a second: until then it answers BOARD_NOT_FOUND.
      if (frame.type === 'error') setTimeout(subscribe, 100);
    });
    await once(socket, 'open');
    subscribe();
    await vi.waitUntil(() => frames.some(({ type }) => type === 'snapshot'), { timeout: 60_000 });
    await submit('first');
  });
  afterAll(async () => {
    socket?.terminate();
    await Promise.all(Object.values(apps ?? {}).map((app) => app.stop()));
    await collector?.stop();
    await database?.drop();
  });

  it('is one trace from the POST to the socket frame, each span below what it follows from', async () => {
    const { traceparent, traceId, spanId } = newTraceparent('01');
    await submit('ada', traceparent);
    const relayed = log === 'kafka' ? ['relay to kafka'] : [];
    const path = ['POST /v1/boards/:board/scores', 'ledger commit', ...relayed, 'saga score', 'apply entries'];
    const chain = [...path, 'snapshot tick', 'delta published', 'socket frame'];
    const named = (name: string): CollectedSpan | undefined => collector.of(traceId).find((span) => span.name === name);
    await expect.poll(() => chain.filter((name) => !named(name))).toEqual([]);
    expect(named(chain[0]!)!.parentSpanId).toBe(spanId);
    for (const [index, name] of chain.slice(1).entries()) {
      const span = named(name)!;
      expect({ name, parent: span.parentSpanId }).toEqual({ name, parent: named(chain[index]!)!.spanId });
      expect(span.endMs).toBeGreaterThanOrEqual(span.startMs);
    }
    expect(chain.map((name) => named(name)!.service.replace('laddercast-', ''))).toEqual([
      ...['api', 'api'],
      ...[...relayed, 'saga', 'apply', 'tick', 'publish'].map(() => 'projector'),
      'gateway',
    ]);
    const [post, commit] = [named(chain[0]!)!, named('ledger commit')!];
    expect(post.attributes).toMatchObject({
      'http.route': '/v1/boards/:board/scores',
      'http.response.status_code': 200,
    });
    expect(commit.attributes).toMatchObject({ 'laddercast.commit.submissions': 1 });
    expect(named('socket frame')!.attributes).toMatchObject({ 'laddercast.subscribers': 1 });
  });

  it('of several in one batch has the work in the trace of each', async () => {
    const traces = Array.from({ length: 3 }, () => newTraceparent('01'));
    await Promise.all(traces.map(({ traceparent }, index) => submit(`together-${index}`, traceparent)));
    for (const { traceId } of traces) {
      await expect
        .poll(() => collector.of(traceId).map(({ name }) => name))
        .toEqual(expect.arrayContaining(['ledger commit', 'apply entries', 'delta published', 'socket frame']));
    }
  });

  it('leaves nothing behind when it is not sampled', async () => {
    const { traceparent, traceId } = newTraceparent('00');
    // What is still on its way of them is of these traces, too.
    const known = new Set(collector.spans.map((span) => span.traceId));
    await submit('bob', traceparent);
    await submit('cy');
    await submit('dee', 'no traceparent at all');
    const sampled = newTraceparent('01');
    await submit('eve', sampled.traceparent);
    await expect.poll(() => collector.of(sampled.traceId).map(({ name }) => name)).toContain('socket frame');
    expect(collector.of(traceId)).toEqual([]);
    const since = collector.spans.map((span) => span.traceId).filter((id) => !known.has(id));
    expect([...new Set(since)]).toEqual([sampled.traceId]);
  });
});

describe('a collector that is away', () => {
  it('costs no submission, and what is not kept is counted', async () => {
    const database = await createTestDatabase();
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_TRACES_SAMPLER_ARG: '1' };
    const installation = { ...newInstallation(database.url, await emptyTestRedis()), settings };
    const metricsPort = await freePort();
    const app = await startApp('api', {
      ...installation,
      settings: { ...settings, METRICS_PORT: String(metricsPort) },
    });
    try {
      const admin = new RestClient(app.url, installation.adminKey);
      await admin.makeBoard('alone');
      const dropped = async (): Promise<number> => {
        const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
        return Number(/laddercast_spans_dropped_total\{reason="export"\} (\d+)/.exec(text)?.[1] ?? 0);
      };
      for (let i = 0; i < 5; i += 1) {
        expect((await admin.post('/v1/boards/alone/scores', { playerId: `p${i}`, score: i })).status).toBe(200);
      }
      await expect.poll(dropped, { interval: 250 }).toBeGreaterThanOrEqual(5);
    } finally {
      await app.stop();
      await database.drop();
    }
  });
});
