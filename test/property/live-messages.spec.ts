// Real: HTTP server, WebSocket clients, gateway, publisher. In memory: ranks and snapshots. What clients send is random.
import fc from 'fast-check';
import { ERRORS } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../libs/realtime/test/boards.js';
import type { LiveClient, ServerFrame } from '../../libs/realtime/test/follower.js';
import { MemoryLive, topRequest } from '../../libs/realtime/test/memory-live.js';
import { GOOD_IDS } from '../e2e/hostile-inputs.js';

const live = new MemoryLive();
const RUNS = Number(process.env.FUZZ_RUNS ?? 150);
/** Below what a socket may send at once. */
const FRAMES_MAX = 100;

const hostileText = fc.oneof(fc.constantFrom(...GOOD_IDS), fc.string({ unit: 'binary', maxLength: 80 }));
/** JSON that JSON.stringify would never write. */
const rawJson = fc.oneof(
  fc.constantFrom('1e400', '-1e400', '5e-324', '-0', '9007199254740993', '9'.repeat(400), '"\\ud800"', '"\\u0000"'),
  fc.integer({ min: 1, max: 7000 }).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`),
  fc.integer({ min: 1, max: 2000 }).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
  fc.integer({ min: 1, max: 800 }).map((n) => `{${Array.from({ length: n }, (_, i) => `"k${i}":${i}`).join()}}`),
);
const value = fc.oneof(
  hostileText.map((text) => JSON.stringify(text)),
  fc.jsonValue({ maxDepth: 3 }).map((json) => JSON.stringify(json)),
  rawJson,
);
const id = fc.oneof(fc.constantFrom('1', '2', '3', '__proto__', 'constructor', '😀'), hostileText);
const fieldName = fc.oneof(
  fc.constantFrom(
    'type',
    'id',
    'board',
    'window',
    'scope',
    'channel',
    'limit',
    'playerId',
    'around',
    'offset',
    'seq',
    'pool',
  ),
  fc.constantFrom('token', 'rankStyle', '__proto__', 'constructor', 'toString', 'hasOwnProperty', ''),
  hostileText,
);

const good = fc.oneof(
  fc.record({ type: fc.constant('subscribe'), id, board: fc.constant('blitz'), channel: fc.constant('top') }),
  fc.record({
    type: fc.constantFrom('subscribe', 'resume'),
    id,
    board: fc.constantFrom('blitz', 'club', 'nowhere'),
    channel: fc.constantFrom('player', 'friends', 'range', 'guilds', 'top'),
    playerId: hostileText,
    seq: fc.integer(),
  }),
  fc.record({
    type: fc.constant('subscribe'),
    id,
    board: fc.constant('blitz'),
    channel: fc.constant('player'),
    playerId: fc.constantFrom(...GOOD_IDS),
  }),
  fc.record({
    type: fc.constantFrom('subscribe', 'resume'),
    id,
    channel: fc.constant('rating'),
    pool: fc.constant('nowhere'),
    playerId: hostileText,
    seq: fc.integer(),
  }),
  fc.record({ type: fc.constant('unsubscribe'), id }),
  fc.record({ type: fc.constant('authenticate'), token: hostileText }),
);
/** A message as text, with some of its fields replaced, repeated or added. */
const spoilt = fc.tuple(good, fc.array(fc.tuple(fieldName, value), { maxLength: 3 })).map(([message, spoils]) => {
  const fields = Object.entries(message).map(([name, field]) => `${JSON.stringify(name)}:${JSON.stringify(field)}`);
  return `{${[...fields, ...spoils.map(([name, json]) => `${JSON.stringify(name)}:${json}`)].join()}}`;
});
const frame: fc.Arbitrary<string | Buffer> = fc.oneof(
  { weight: 3, arbitrary: good.map((message) => JSON.stringify(message)) },
  { weight: 4, arbitrary: spoilt },
  { weight: 1, arbitrary: fc.tuple(spoilt, fc.nat()).map(([text, at]) => text.slice(0, at % text.length)) },
  { weight: 1, arbitrary: value },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.integer({ min: 16_000, max: 60_000 }).map((length) => '"'.padEnd(length, 'x')) },
);

/** Only these are done without a word. */
function isSilent(sent: string | Buffer): boolean {
  try {
    const { type, id, ...others } = JSON.parse(String(sent)) as Record<string, unknown>;
    const isId = typeof id === 'string' && [...id].length >= 1 && [...id].length <= 64;
    return type === 'unsubscribe' && isId && Object.keys(others).length === 0;
  } catch {
    return false;
  }
}

describe('whatever clients send', () => {
  it('each frame is answered, with a code of a client where it is wrong; others get their deltas; nothing is left', async () => {
    const app = await live.gateway();
    const writer = await live.writerOf('blitz');
    const witness = await live.connect(app.url);
    expect((await witness.ask(topRequest('witness', 10))).type).toBe('snapshot');
    let score = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: FRAMES_MAX }), async (frames) => {
        const client = await live.connect(app.url);
        for (const one of frames) client.socket.send(one);
        score += 1;
        await writer.write({ runner: score });
        const expected = frames.filter((one) => !isSilent(one)).length;
        await eventually(`${expected} answers`, () => answersOf(client).length >= expected).catch(() => undefined);
        await eventually('the delta of the others', () => witness.list('witness').rows.get('runner')?.score === score);
        const answers = answersOf(client);
        expect(client.closed).toBeNull();
        expect(answers.length).toBe(expected);
        for (const { problem } of answers) {
          if (!problem) continue;
          expect(ERRORS).toHaveProperty(problem.code);
          expect(problem.status, JSON.stringify(problem)).toBeLessThan(500);
        }
        client.socket.terminate();
        await eventually('all of it is gone', () => {
          const { subscriptions, sockets } = app.gateway.stats();
          return subscriptions === 1 && sockets === 1;
        }).catch(() => undefined);
        expect(app.gateway.stats()).toMatchObject({ subscriptions: 1, sockets: 1 });
      }),
      { numRuns: RUNS, endOnFailure: process.env.CI !== undefined },
    );
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(witness.list('witness')).toMatchObject({ snapshots: 1, gaps: 0 });
  }, 240_000);
});

const answersOf = ({ frames }: LiveClient): ServerFrame[] =>
  frames.filter(({ type }) => type === 'snapshot' || type === 'error');
