import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeHttp, playerToken, problem, type FakeAnswer } from '../../test/fake-http.js';
import { settled, SteppedClock } from '../../test/stepped-clock.js';
import { vectors } from '../../test/vectors.js';
import { createLadder, type Ladder, type LadderOptions, type Settled, type Storage } from '../index.js';
import { memoryStorage } from './storage.js';

type Body = Record<string, unknown> & { submissionId: string; board: string };

let clock: SteppedClock;
let http: FakeHttp;
let storage: Storage;
let ended: Settled[];
let problems: string[];
const open: Ladder[] = [];

/** A program with the queue of `storage`; another call is another tab, or the program started again. */
function start(options: Partial<LadderOptions> = {}): Ladder {
  const ladder = createLadder({
    ...{ url: 'http://ladder.test', token: 'an-api-key', fetch: http.fetch, clock, storage },
    random: () => 1,
    onProblem: ({ code }) => problems.push(code),
    ...options,
  });
  ladder.queue.onSettled((one) => ended.push(one));
  open.push(ladder);
  return ladder;
}

const isSubmission = ({ method, path }: { method: string; path: string }): boolean =>
  method === 'POST' && path === '/v1/scores';
/** What was submitted, a list for each request. */
const sent = (): Body[][] =>
  http.requests.filter(isSubmission).map(({ body }) => (body as { submissions: Body[] }).submissions);
const idsSent = (): string[][] => sent().map((batch) => batch.map(({ submissionId }) => submissionId));
const outcomes = (): string[][] =>
  ended.map(({ item, outcome, problem: why }) => [item.submissionId, outcome, ...(why ? [why.code] : [])]);

/** Answers every submission with what is asked for, by its id; without, it counted. */
function answers(byId: Record<string, object> = {}): void {
  http.answer = (request) => {
    if (!isSubmission(request)) return { body: { id: 'blitz', clientTime: false } };
    const { submissions } = request.body as { submissions: Body[] };
    return {
      body: {
        results: submissions.map(({ submissionId }) => byId[submissionId] ?? { outcome: 'created', submissionId }),
      },
    };
  };
}

const refusal = (code: string, status: number): object => ({ problem: { code, status, title: code } });

beforeEach(() => {
  for (const ladder of open.splice(0)) ladder.close();
  clock = new SteppedClock();
  http = new FakeHttp(clock);
  storage = memoryStorage();
  ended = [];
  problems = [];
  answers();
});

afterEach(() => vi.unstubAllGlobals());

describe('the queue', () => {
  interface Step {
    submit?: { id: string; board: string; score?: number };
    answer?: ({ status: number; code: string; retryAfter?: number } | { results: Record<string, object> } | 'none')[];
    service?: 'up' | 'down';
    waitMs?: number;
    restart?: boolean;
    expect?: { sent: string[][]; settled?: string[][]; size: number };
  }
  interface Case {
    name: string;
    identity?: 'key' | 'player';
    clientTime?: boolean;
    aheadMs?: number;
    steps: Step[];
    times?: Record<string, string | null>;
  }
  const { cases } = vectors<{ cases: Case[] }>('queue');

  it.each(cases)(
    'does as the vectors say: $name',
    async ({ identity, clientTime = false, aheadMs = 0, steps, times }) => {
      http.aheadMs = aheadMs;
      const planned: NonNullable<Step['answer']> = [];
      let isUp = true;
      const counted = (submissions: Body[], byId: Record<string, object> = {}): FakeAnswer => ({
        body: {
          results: submissions.map(({ submissionId }) => byId[submissionId] ?? { submissionId, outcome: 'created' }),
        },
      });
      http.answer = (request) => {
        if (!isUp) return null;
        if (!isSubmission(request)) return { body: { clientTime } };
        const { submissions } = request.body as { submissions: Body[] };
        const next = planned.shift();
        if (next === undefined) return counted(submissions);
        if (next === 'none') return null;
        if ('results' in next) return counted(submissions, next.results);
        const { status, code, retryAfter } = next;
        return problem(code, status, retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) });
      };
      const token = identity === 'player' ? playerToken('ada', Date.parse('2030-01-01T00:00:00Z')) : 'an-api-key';
      let program = start({ token });
      for (const [at, step] of steps.entries()) {
        if (step.service) isUp = step.service === 'up';
        planned.push(...(step.answer ?? []));
        if (step.submit) {
          const { id, board, score = 1 } = step.submit;
          await program.queue.submit(board, { submissionId: id, playerId: 'ada', score });
        }
        if (step.restart) {
          program.close();
          program = start({ token });
        }
        await clock.step(step.waitMs ?? 0);
        if (!step.expect) continue;
        // The first look at a lease takes a moment.
        await clock.step(100);
        expect(idsSent(), `sent at step ${at}`).toEqual(step.expect.sent);
        if (step.expect.settled) expect(outcomes(), `settled at step ${at}`).toEqual(step.expect.settled);
        expect(program.queue.size, `size at step ${at}`).toBe(step.expect.size);
      }
      for (const [id, time] of Object.entries(times ?? {})) {
        const bodies = sent()
          .flat()
          .filter(({ submissionId }) => submissionId === id);
        expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
        const { achievedAt } = bodies[0] as { achievedAt?: string };
        if (time === null) expect(achievedAt).toBeUndefined();
        else expect(Math.abs(Date.parse(achievedAt!) - Date.parse(time))).toBeLessThan(1000);
      }
    },
  );

  it('stores an item before submit resolves, and before a byte of it is sent', async () => {
    const program = start();
    const item = await program.queue.submit('blitz', { playerId: 'ada', score: 0.1 });
    expect(item.submissionId).toMatch(/^[0-9a-f-]{36}$/);
    expect(item).toMatchObject({ board: 'blitz', body: { playerId: 'ada', score: 0.1 }, firstSentAt: null, tries: 0 });
    const [key] = await storage.keys('laddercast');
    expect(JSON.parse((await storage.get(key!))!)).toEqual(item);
    let storedAtSending: unknown = null;
    const { answer } = http;
    http.answer = async (request) => {
      if (isSubmission(request)) storedAtSending = JSON.parse((await storage.get(key!))!);
      return answer(request);
    };
    await clock.step(100);
    expect(storedAtSending).toMatchObject({ firstSentAt: expect.any(Number) as number, timeIsKept: true });
    expect(ended).toMatchObject([{ outcome: 'settled', result: { outcome: 'created' } }]);
    expect(await storage.keys('laddercast')).toEqual([]);
  });

  it('rejects what it cannot store, and sends nothing of it', async () => {
    const set = (): Promise<void> => Promise.reject(new Error('the disk is full'));
    const program = start({ storage: { ...storage, set } });
    await expect(program.queue.submit('blitz', { playerId: 'ada', score: 1 })).rejects.toThrow('the disk is full');
    await clock.step(1000);
    expect(sent()).toEqual([]);
    expect(program.queue.size).toBe(0);
  });

  it('takes 1,000 items and no more: QUEUE_FULL; what it has it keeps', async () => {
    http.answer = () => null;
    const program = start();
    for (let at = 0; at < 1000; at += 1) await program.queue.submit('blitz', { playerId: 'ada', score: at });
    await expect(program.queue.submit('blitz', { playerId: 'ada', score: 1 })).rejects.toMatchObject({
      code: 'QUEUE_FULL',
    });
    expect(program.queue.size).toBe(1000);
    answers();
    void program.queue.flush();
    await clock.step(400_000);
    expect(sent().map((batch) => batch.length)).toEqual(Array(10).fill(100));
    expect(
      sent()
        .flat()
        .map(({ score }) => score),
    ).toEqual(Array.from({ length: 1000 }, (_, at) => at));
  });

  it('takes 512 KB and no more', async () => {
    http.answer = () => null;
    const program = start();
    const metadata = { text: 'é'.repeat(10_000) };
    const all = Array.from({ length: 30 }, () =>
      program.queue.submit('blitz', { playerId: 'ada', score: 1, metadata }).then(
        () => 'taken',
        ({ code }: { code: string }) => code,
      ),
    );
    const results = await Promise.all(all);
    expect(results.filter((one) => one === 'taken')).toHaveLength(25);
    expect(results.slice(25)).toEqual(Array(5).fill('QUEUE_FULL'));
  });

  it('is sent by whoever starts next, once the program has ended', async () => {
    http.answer = () => null;
    const first = start();
    await first.queue.submit('blitz', { submissionId: 'a', playerId: 'ada', score: 1 });
    first.close();
    answers();
    start();
    await clock.step(20_000);
    expect(outcomes()).toEqual([['a', 'settled']]);
  });

  it('of two tabs is sent by one at a time, each item once, what one left by the other', async () => {
    let atOnce = 0;
    let most = 0;
    const { answer } = http;
    http.answer = async (request) => {
      if (!isSubmission(request)) return answer(request);
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise<void>((resolve) => clock.setTimeout(resolve, 300));
      atOnce -= 1;
      return answer(request);
    };
    const [one, two] = [start(), start()];
    const ids: string[] = [];
    for (let at = 0; at < 40; at += 1) {
      const { submissionId } = await (at % 2 ? one : two).queue.submit('blitz', { playerId: 'ada', score: at });
      ids.push(submissionId);
      await clock.step(20);
    }
    await clock.step(60_000);
    expect(most).toBe(1);
    expect(idsSent().flat().sort()).toEqual([...ids].sort());
    expect(ended).toHaveLength(40);
    expect([one.queue.size, two.queue.size]).toEqual([0, 0]);
  });

  it('takes what a tab that died had begun, when its lease is over', async () => {
    http.answer = (request) => (isSubmission(request) ? new Promise(() => undefined) : { body: {} });
    const dying = start();
    await dying.queue.submit('blitz', { submissionId: 'a', playerId: 'ada', score: 1 });
    await clock.step(100);
    expect(idsSent()).toEqual([['a']]);
    dying.close();
    answers();
    start();
    await clock.step(10_000);
    // The one that died still holds the lease, and its request is open.
    await clock.step(40_000);
    expect(idsSent().at(-1)).toEqual(['a']);
    expect(outcomes()).toEqual([['a', 'settled']]);
  });

  it('sends the same body again, though the board takes the time of play by now', async () => {
    let clientTime = false;
    let isLost = true;
    const { answer } = http;
    http.answer = (request) => {
      if (!isSubmission(request)) return { body: { clientTime } };
      return isLost ? null : answer(request);
    };
    const token = playerToken('ada', clock.now() + 1e9);
    const first = start({ token });
    await first.queue.submit('blitz', { submissionId: 'a', score: 1 });
    await clock.step(200);
    first.close();
    clientTime = true;
    isLost = false;
    start({ token });
    await clock.step(60_000);
    const bodies = sent().flat();
    expect(bodies.length).toBeGreaterThan(1);
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    expect(ended).toMatchObject([{ outcome: 'settled', item: { timeIsKept: false } }]);
  });

  it('knows what another tab did: what that sent more than six days ago is not sent again', async () => {
    http.answer = () => null;
    const [one, two] = [start(), start()];
    await one.queue.submit('blitz', { submissionId: 'a', playerId: 'ada', score: 1 });
    void two.queue.flush();
    await clock.step(200);
    two.close();
    expect(two.queue.size).toBe(1);
    http.answer = (request) => (isSubmission(request) ? null : { body: {} });
    void one.queue.flush();
    await clock.step(200);
    one.close();
    expect(idsSent()).toEqual([['a']]);
    answers();
    await clock.step(7 * 86_400_000);
    void two.queue.flush();
    await clock.step(1000);
    expect(idsSent()).toEqual([['a']]);
    expect(outcomes()).toEqual([['a', 'unknown']]);
  });

  it('uses the locks of the browser where there are any', async () => {
    const asked: string[] = [];
    const locks = {
      request: async <T>(name: string, work: () => Promise<T>): Promise<T> => (asked.push(name), work()),
    };
    vi.stubGlobal('navigator', { locks });
    vi.stubGlobal('indexedDB', {});
    const program = start();
    await program.queue.submit('blitz', { playerId: 'ada', score: 1 });
    await settled();
    expect(asked).toEqual(['laddercast http://ladder.test flusher']);
    expect(ended).toHaveLength(1);
  });

  it('uses no locks of Node, which another process does not see', async () => {
    const request = vi.fn(async <T>(_name: string, work: () => Promise<T>): Promise<T> => work());
    vi.stubGlobal('navigator', { locks: { request } });
    const program = start();
    await program.queue.submit('blitz', { playerId: 'ada', score: 1 });
    await clock.step(100);
    expect(ended).toHaveLength(1);
    expect(request).not.toHaveBeenCalled();
  });

  it('halves its batches while the service says that they are too many', async () => {
    http.answer = () => null;
    const program = start();
    for (let at = 0; at < 16; at += 1) await program.queue.submit('blitz', { playerId: 'ada', score: at });
    answers();
    const { answer } = http;
    http.answer = (request) => {
      const { submissions = [] } = (request.body ?? {}) as { submissions?: Body[] };
      return submissions.length > 4 ? problem('RATE_LIMITED', 429, { 'retry-after': '1' }) : answer(request);
    };
    await clock.step(60_000);
    expect(
      sent()
        .map((batch) => batch.length)
        .slice(0, 3),
    ).toEqual([16, 8, 4]);
    expect(ended).toHaveLength(16);
    expect(ended.every(({ outcome }) => outcome === 'settled')).toBe(true);
  });

  it('keeps what waits while its identity is refused, and tells that', async () => {
    http.answer = () => problem('UNAUTHENTICATED', 401);
    const program = start();
    await program.queue.submit('blitz', { submissionId: 'a', playerId: 'ada', score: 1 });
    await clock.step(3600_000);
    expect(ended).toEqual([]);
    expect(program.queue.size).toBe(1);
    expect(new Set(problems)).toEqual(new Set(['UNAUTHENTICATED']));
    answers();
    void program.queue.flush();
    await clock.step(100);
    expect(outcomes()).toEqual([['a', 'settled']]);
  });

  it('takes a page of some network for no answer', async () => {
    http.answer = () => ({ status: 200, text: '<html>Please sign in</html>' });
    const program = start();
    await program.queue.submit('blitz', { submissionId: 'a', playerId: 'ada', score: 1 });
    await clock.step(60_000);
    expect(sent()).toEqual([]);
    http.answer = (request) => (isSubmission(request) ? { body: { results: [] } } : { body: {} });
    await clock.step(600_000);
    expect(sent().length).toBeGreaterThan(0);
    expect(ended).toEqual([]);
    expect(program.queue.size).toBe(1);
  });

  it('without a player in the submission is of the player whose token is in use when it is queued', async () => {
    const program = start({ token: playerToken('ada', clock.now() + 1e9) });
    await program.queue.submit('blitz', { score: 9 });
    await clock.step(100);
    expect(sent()[0]![0]).toMatchObject({ playerId: 'ada', score: 9, board: 'blitz' });
    await expect(start().queue.submit('blitz', { score: 9 })).rejects.toThrow('playerId is needed');
  });

  it('tells a refusal that no listener hears as a problem', async () => {
    answers({ a: refusal('SCORE_OUT_OF_BOUNDS', 422) });
    const program = createLadder({
      ...{ url: 'http://ladder.test', token: 'key', fetch: http.fetch, clock, storage },
      onProblem: ({ code }) => problems.push(code),
    });
    await program.queue.submit('blitz', { submissionId: 'a', playerId: 'ada', score: 1 });
    await clock.step(100);
    expect(problems).toEqual(['SCORE_OUT_OF_BOUNDS']);
  });

  it('outlives a storage that fails for a while', async () => {
    let isBroken = false;
    const given = storage;
    const broken = <T>(work: () => Promise<T>): Promise<T> =>
      isBroken ? Promise.reject(new Error('no disk')) : work();
    const program = start({ storage: { ...given, keys: (prefix) => broken(() => given.keys(prefix)) } });
    http.answer = () => null;
    await program.queue.submit('blitz', { submissionId: 'a', playerId: 'ada', score: 1 });
    isBroken = true;
    await clock.step(70_000);
    expect(problems).toContain('UNREACHABLE');
    isBroken = false;
    answers();
    await clock.step(120_000);
    expect(outcomes()).toEqual([['a', 'settled']]);
  });
});
