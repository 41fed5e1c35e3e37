import { beforeEach, describe, expect, it } from 'vitest';
import { FakeHttp, playerToken, problem } from '../../test/fake-http.js';
import { settled, SteppedClock } from '../../test/stepped-clock.js';
import { createRest, LadderProblem, type Rest, type RestOptions } from '../rest.js';

let clock: SteppedClock;
let http: FakeHttp;

const rest = (options: Partial<RestOptions> = {}) =>
  createRest({ url: 'http://ladder.test', fetch: http.fetch, clock, random: () => 1, ...options });

/** How a call ended, when it has. */
function outcome<Answer>(call: Promise<Answer>): { answer?: Answer; problem?: LadderProblem } {
  const seen: { answer?: Answer; problem?: LadderProblem } = {};
  call.then(
    (answer) => (seen.answer = answer),
    (error: LadderProblem) => (seen.problem = error),
  );
  return seen;
}

beforeEach(() => {
  clock = new SteppedClock();
  http = new FakeHttp(clock);
});

describe('a call', () => {
  it('asks the address below the url, with encoded parts and without what is not given', async () => {
    const { board } = rest({ url: 'http://ladder.test/base/' });
    await board('blitz').player('São Tomé/1', { around: 5, window: undefined });
    expect(http.last).toMatchObject({
      method: 'GET',
      path: '/base/v1/boards/blitz/players/S%C3%A3o%20Tom%C3%A9%2F1',
      query: { around: '5' },
    });
    expect(http.last.headers).not.toHaveProperty('authorization');
  });

  it('rejects with the problem of the service', async () => {
    http.next.push(problem('VALIDATION_FAILED', 400, {}, { errors: [{ pointer: '?limit', message: 'is too large' }] }));
    const error: unknown = await rest()
      .board('blitz')
      .entries({ limit: 900 })
      .catch((one: unknown) => one);
    expect(error).toBeInstanceOf(LadderProblem);
    expect(error).toMatchObject({
      ...{ name: 'LadderProblem', code: 'VALIDATION_FAILED', status: 400, retryAfterMs: null },
      ...{ message: 'VALIDATION_FAILED: Because.', errors: [{ pointer: '?limit', message: 'is too large' }] },
    });
  });

  it.each([
    ['no connection', null],
    ['a time-out', problem('REQUEST_TIMEOUT', 408)],
    ['a proxy without the service', { status: 502, text: '<html>Bad gateway</html>' }],
    ['an overload', problem('OVERLOADED', 503)],
    ['a proxy that waited', { status: 504, text: '' }],
    ['a failure of the service', problem('INTERNAL', 500)],
    ['final standings that are not written', problem('WINDOW_NOT_SETTLED', 409)],
    ['a sign-in page of a network', { status: 200, text: '<html>Welcome</html>' }],
  ])('is made again after %s', async (_what, answer) => {
    http.next.push(answer);
    const seen = outcome(rest().board('blitz').definition());
    await clock.step(249);
    expect(http.requests).toHaveLength(1);
    await clock.step(1);
    expect(http.requests).toHaveLength(2);
    expect(seen.answer).toEqual({});
  });

  it.each([
    ['a wrong request', problem('VALIDATION_FAILED', 400)],
    ['a board that is not there', problem('BOARD_NOT_FOUND', 404)],
    ['a window that is closed', problem('WINDOW_CLOSED', 409)],
    ['a cursor that is over', problem('CURSOR_EXPIRED', 410)],
    ['a page of some proxy', { status: 404, text: '<html>Not found</html>' }],
  ])('is not made again after %s', async (_what, answer) => {
    http.next.push(answer);
    const seen = outcome(rest().board('blitz').definition());
    await clock.step(20_000);
    expect(http.requests).toHaveLength(1);
    expect(seen.problem?.status).toBeGreaterThanOrEqual(400);
  });

  it('waits a random part of 250 ms, 500 ms, 1 s and 2 s, and then gives up', async () => {
    http.answer = () => null;
    const seen = outcome(rest().board('blitz').definition());
    await clock.step(9000);
    const waits = http.requests.map(({ at }, index) => at - (http.requests[index - 1]?.at ?? at));
    expect(waits).toEqual([0, 250, 500, 1000, 2000]);
    expect(seen.problem).toMatchObject({ code: 'UNREACHABLE', status: 0 });
    http.requests.length = 0;
    void outcome(
      rest({ random: () => 0.5 })
        .board('blitz')
        .definition(),
    );
    await clock.step(9000);
    expect(http.requests.map(({ at }, index) => at - (http.requests[index - 1]?.at ?? at))).toEqual([
      0, 125, 250, 500, 1000,
    ]);
  });

  it.each([
    ['3', 3000],
    ['Fri, 20 Nov 2026 12:00:05 GMT', 4500],
  ])('waits as long as the service says: Retry-After %s', async (stated, ms) => {
    http.next.push(problem('RATE_LIMITED', 429, { 'retry-after': stated }));
    void outcome(rest().board('blitz').definition());
    await clock.step(ms - 1);
    expect(http.requests).toHaveLength(1);
    await clock.step(1);
    expect(http.requests).toHaveLength(2);
  });

  it('waits as long as a proxy in front of the service says, in words of its own', async () => {
    http.next.push({ status: 503, text: '<h1>Back soon</h1>', headers: { 'retry-after': '3' } });
    const seen = outcome(rest().board('blitz').definition());
    await clock.step(2999);
    expect(http.requests).toHaveLength(1);
    await clock.step(1);
    expect(http.requests).toHaveLength(2);
    expect(seen.problem).toBeUndefined();
  });

  it('is given up at once where the service asks to wait longer than the call may take', async () => {
    http.next.push(problem('RATE_LIMITED', 429, { 'retry-after': '60' }));
    const seen = outcome(rest().board('blitz').definition());
    await settled();
    expect(seen.problem).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 60_000 });
  });

  it('ends after its time, though no answer ever comes', async () => {
    http.answer = () => new Promise(() => undefined);
    const seen = outcome(rest({ timeoutMs: 3000 }).board('blitz').definition());
    await clock.step(2999);
    expect(seen).toEqual({});
    await clock.step(1);
    expect(seen.problem).toMatchObject({ code: 'UNREACHABLE', status: 0 });
    expect(clock.timersSet).toBe(0);
  });

  it('of a POST without an id is made once', async () => {
    http.answer = () => null;
    void outcome(rest().call('POST', '/v1/admin/boards/blitz/reset'));
    await clock.step(20_000);
    expect(http.requests).toHaveLength(1);
  });
});

describe('a token', () => {
  it('is asked for once, and again 30 s before it ends', async () => {
    let asked = 0;
    const token = () => playerToken(`ada${(asked += 1)}`, clock.now() + 100_000);
    const { board } = rest({ token });
    await Promise.all([board('blitz').definition(), board('blitz').definition()]);
    expect(asked).toBe(1);
    await clock.step(69_000);
    await board('blitz').definition();
    expect(asked).toBe(1);
    await clock.step(1000);
    await board('blitz').definition();
    expect(asked).toBe(2);
    expect(http.last.headers.authorization).toMatch(/^Bearer ey/);
  });

  it('ends by the time of the service, not by that of the device', async () => {
    http.aheadMs = 3_600_000;
    let asked = 0;
    const token = () => playerToken(`ada${(asked += 1)}`, clock.now() + http.aheadMs + 100_000);
    const { board } = rest({ token });
    for (let call = 0; call < 5; call += 1) await board('blitz').definition();
    // Before the first answer the hour is not known, and nothing seems to end.
    expect(asked).toBe(1);
    await clock.step(71_000);
    await board('blitz').definition();
    expect(asked).toBe(2);
  });

  it('is asked for anew after a 401, once, and the call made again', async () => {
    const tokens = ['old', 'new'];
    http.answer = ({ headers }) =>
      headers.authorization === 'Bearer old' ? problem('UNAUTHENTICATED', 401) : { body: { id: 1 } };
    expect(
      await rest({ token: () => tokens.shift()! })
        .board('blitz')
        .definition(),
    ).toEqual({ id: 1 });
    expect(http.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
  });

  it('that is refused again ends the call with that', async () => {
    http.answer = () => problem('UNAUTHENTICATED', 401);
    let asked = 0;
    const seen = outcome(
      rest({ token: () => `t${(asked += 1)}` })
        .board('blitz')
        .definition(),
    );
    await clock.step(20_000);
    expect(http.requests).toHaveLength(2);
    expect(seen.problem?.code).toBe('UNAUTHENTICATED');
  });

  it('that never changes is not tried twice', async () => {
    http.answer = () => problem('UNAUTHENTICATED', 401);
    await rest({ token: 'fixed' })
      .board('blitz')
      .definition()
      .catch(() => undefined);
    expect(http.requests).toHaveLength(1);
  });

  it('is asked for anew where what gives it threw at once', async () => {
    const given = [new Error('nobody has signed in'), new Error('still nobody'), null];
    const token = (): string => {
      const error = given.shift();
      if (error) throw error;
      return 'token';
    };
    const client = rest({ token });
    await expect(client.call('GET', '/v1/boards')).rejects.toThrow('nobody has signed in');
    await expect(client.call('GET', '/v1/boards')).rejects.toThrow('still nobody');
    await client.call('GET', '/v1/boards');
    expect(http.last.headers).toMatchObject({ authorization: 'Bearer token' });
  });

  it.each<[string, (client: Rest) => Promise<unknown>, number]>([
    ['a call', (client) => client.board('blitz').definition(), 0],
    ['a submission that it names the player of', (client) => client.board('blitz').submit({ score: 9 }), 0],
    ['a call after a 401', (client) => client.call('GET', '/v1/boards'), 1],
  ])('that never comes ends %s after its time', async (_what, call, given) => {
    http.answer = () => problem('UNAUTHENTICATED', 401);
    let asked = 0;
    const token = () => ((asked += 1) > given ? new Promise<string>(() => undefined) : 'old');
    const seen = outcome(call(rest({ token, timeoutMs: 3000 })));
    await clock.step(2999);
    expect(seen).toEqual({});
    await clock.step(1);
    expect(seen.problem).toMatchObject({ code: 'UNREACHABLE', status: 0 });
    expect(clock.timersSet).toBe(0);
    expect(http.requests).toHaveLength(given);
  });

  it('that comes late leaves a call the rest of its time, and is there for the next', async () => {
    http.answer = () => (http.requests.length > 1 ? {} : new Promise(() => undefined));
    const token = () => new Promise<string>((resolve) => clock.setTimeout(() => resolve('late'), 2000));
    const client = rest({ token, timeoutMs: 3000 });
    const seen = outcome(client.board('blitz').submit({ playerId: 'ada', score: 9 }));
    await clock.step(2999);
    expect([seen, http.requests.length]).toEqual([{}, 1]);
    await clock.step(1);
    expect(seen.problem).toMatchObject({ code: 'UNREACHABLE' });
    await client.board('blitz').definition();
    expect(http.last.headers).toMatchObject({ authorization: 'Bearer late' });
  });

  it('of letters beyond ASCII names its player', async () => {
    await rest({ token: playerToken('São Tomé', clock.now() + 1e6) })
      .board('blitz')
      .submit({ score: 9 });
    expect(http.last.body).toMatchObject({ playerId: 'São Tomé' });
  });
});

describe('a submission', () => {
  it('gets an id when it has none, and is sent again with the same body', async () => {
    http.next.push(null, problem('LEDGER_UNAVAILABLE', 503));
    const seen = outcome(
      rest({ token: 'key' }).board('blitz').submit({ playerId: 'ada', score: 0.1 }, { waitSeconds: 1 }),
    );
    await clock.step(5000);
    expect(seen.answer).toEqual({});
    const bodies = http.requests.map(({ body }) => body as { submissionId: string });
    expect(bodies).toHaveLength(3);
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    expect(bodies[0]).toEqual({ submissionId: bodies[0]!.submissionId, playerId: 'ada', score: 0.1 });
    expect(bodies[0]!.submissionId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(http.last.headers.prefer).toBe('wait=1');
  });

  it('tells before each further try which one it is, and why', async () => {
    http.next.push(null, problem('LEDGER_UNAVAILABLE', 503));
    const told: unknown[] = [];
    const onRetry = (tries: number, { code }: LadderProblem): void =>
      void told.push([tries, code, http.requests.length]);
    void rest({ token: 'key' }).board('blitz').submit({ playerId: 'ada', score: 1 }, { onRetry });
    await clock.step(5000);
    expect(told).toEqual([
      [1, 'UNREACHABLE', 1],
      [2, 'LEDGER_UNAVAILABLE', 2],
    ]);
  });

  it('keeps the id that it has', async () => {
    await rest({ token: 'key' }).board('blitz').submit({ submissionId: 'run-1', playerId: 'ada', score: 5 });
    expect(http.last.body).toEqual({ submissionId: 'run-1', playerId: 'ada', score: 5 });
  });

  it('without a player is refused where the token is not a player’s', async () => {
    await expect(rest({ token: 'key' }).board('blitz').submit({ score: 5 })).rejects.toThrow('playerId is needed');
    expect(http.requests).toHaveLength(0);
  });
});

describe('what was read', () => {
  const versionOf = (request: { query: Record<string, string> }) => request.query.minVersion;

  it('does not go backwards: the version of the last read of the list is sent along', async () => {
    const versions = [7, 9, 8];
    http.answer = () => ({ body: { boardVersion: versions.shift() ?? 10 } });
    const blitz = rest().board('blitz');
    await blitz.entries({ limit: 10 });
    await blitz.player('ada');
    await blitz.entries({ offset: 10 });
    await blitz.rankOf(5);
    expect(http.requests.map(versionOf)).toEqual([undefined, '7', '9', '9']);
  });

  it('is told apart by board, window, scope, and guilds from players', async () => {
    http.answer = () => ({ body: { boardVersion: 7 } });
    const { board } = rest();
    await board('blitz').entries();
    await board('rapid').entries();
    await board('blitz').entries({ window: 'daily' });
    await board('blitz').entries({ scope: 'region:EU' });
    await board('blitz').guilds();
    expect(http.requests.map(versionOf)).toEqual(Array(5).fill(undefined));
    await board('blitz').entries({ scope: 'global' });
    expect(versionOf(http.last)).toBe('7');
  });

  it('says nothing of answers that have a version of their own, nor they of it', async () => {
    http.answer = () => ({ body: { boardVersion: 7, entries: [], next: null } });
    const blitz = rest().board('blitz');
    await blitz.entries({ asOf: '2026-11-19T00:00:00.000Z' });
    await blitz.player('ada', { accuracy: 'estimated' });
    for await (const page of blitz.pages()) expect(page.entries).toEqual([]);
    await blitz.entries();
    await blitz.entries({ asOf: '2026-11-19T00:00:00.000Z' });
    expect(http.requests.map(versionOf)).toEqual(Array(5).fill(undefined));
  });

  it('may go backwards where that is wanted', async () => {
    http.answer = () => ({ body: { boardVersion: 7 } });
    const blitz = rest({ readYourReads: false }).board('blitz');
    await blitz.entries();
    await blitz.entries();
    expect(versionOf(http.last)).toBeUndefined();
  });
});

describe('pages', () => {
  it('follow a stable cursor to its end, each asked for when it is wanted', async () => {
    const path = '/v1/boards/blitz/entries';
    http.answer = ({ query }) => ({
      body: { entries: [query.cursor], next: query.cursor === 'start' ? `${path}?cursor=two&limit=2` : null },
    });
    const pages = rest().board('blitz').pages({ limit: 2 });
    expect((await pages.next()).value).toMatchObject({ entries: ['start'] });
    expect(http.requests).toHaveLength(1);
    expect((await pages.next()).value).toMatchObject({ entries: ['two'] });
    expect(await pages.next()).toMatchObject({ done: true });
    expect(http.requests.map(({ query }) => query)).toEqual([
      { cursor: 'start', limit: '2' },
      { cursor: 'two', limit: '2' },
    ]);
  });
});

describe('the time of the service', () => {
  it('is the median of what the last five answers said', async () => {
    const client = rest();
    for (const aheadMs of [10_000, 5000, 20_000, 900_000, 20_000, 21_000]) {
      http.aheadMs = aheadMs;
      await client.call('POST', '/v1/nothing');
    }
    // A Date has no parts of a second: half of one is added.
    expect(client.now() - clock.now()).toBe(20_500);
  });

  it('is not learned from what a cache may have kept', async () => {
    http.aheadMs = 60_000;
    http.answer = () => ({ headers: { 'cache-control': 'public, max-age=5' } });
    const client = rest();
    await client.board('blitz').entries();
    expect(client.now()).toBe(clock.now());
  });
});
