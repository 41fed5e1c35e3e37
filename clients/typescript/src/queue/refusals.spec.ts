import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeHttp, playerToken, problem, type FakeAnswer, type FakeRequest } from '../../test/fake-http.js';
import { SteppedClock } from '../../test/stepped-clock.js';
import { createLadder, type Ladder, type LadderOptions, type Settled, type Storage } from '../index.js';
import { memoryStorage } from './storage.js';

type Body = Record<string, unknown> & { submissionId: string };

let clock: SteppedClock;
let http: FakeHttp;
let storage: Storage;
let ended: Settled[];
let problems: string[];
let open: Ladder[];

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

const submissionsOf = ({ body }: FakeRequest): Body[] =>
  (body as { submissions?: Body[] } | undefined)?.submissions ?? [];
const outcomes = (): string[][] => ended.map(({ item, outcome }) => [item.submissionId, outcome]);
const counted = (request: FakeRequest): FakeAnswer => ({
  body: { clientTime: false, results: submissionsOf(request).map(() => ({ outcome: 'created' })) },
});
/** What a proxy says. */
const page = (status: number): FakeAnswer => ({ status, text: '<html>A proxy says no</html>' });

beforeEach(() => {
  clock = new SteppedClock();
  http = new FakeHttp(clock);
  storage = memoryStorage();
  [ended, problems, open] = [[], [], []];
});
afterEach(() => {
  for (const ladder of open) ladder.close();
});

describe('a refusal that is not of the service', () => {
  it.each([400, 413, 422])('(%i) refuses no score: they stay, and that is told', async (status) => {
    http.answer = (request) => (request.method === 'POST' ? page(status) : counted(request));
    const { queue } = start();
    for (const submissionId of ['a', 'b', 'c'])
      await queue.submit('blitz', { submissionId, playerId: 'ada', score: 1 });
    await clock.step(60_000);
    expect(ended).toEqual([]);
    expect(queue.size).toBe(3);
    expect(new Set(problems)).toEqual(new Set(['UNREADABLE']));
    http.answer = counted;
    await clock.step(400_000);
    expect(outcomes()).toEqual(['a', 'b', 'c'].map((id) => [id, 'settled']));
  });

  it('of too much is of the batch: its halves are sent', async () => {
    http.answer = (request) => (submissionsOf(request).length > 2 ? page(413) : counted(request));
    const { queue } = start();
    http.next.push(...Array<null>(4).fill(null));
    for (let score = 0; score < 4; score += 1) await queue.submit('blitz', { playerId: 'ada', score });
    await clock.step(60_000);
    expect(http.requests.map((request) => submissionsOf(request).length)).toContain(4);
    expect(ended.map(({ outcome, item }) => [outcome, item.body['score']])).toEqual(
      [0, 1, 2, 3].map((score) => ['settled', score]),
    );
  });
});

describe('a score that a proxy lets not through', () => {
  const isBad = (request: FakeRequest): boolean =>
    submissionsOf(request).some(({ metadata }) => metadata !== undefined);

  it.each([400, 413, 422])('(%i) holds up its own board alone', async (status) => {
    http.answer = (request) => (isBad(request) ? page(status) : counted(request));
    const { queue } = start();
    http.next.push(...Array<null>(4).fill(null));
    await queue.submit('blitz', { submissionId: 'bad', playerId: 'ada', score: 1, metadata: { text: 'select 1' } });
    await queue.submit('blitz', { submissionId: 'behind', playerId: 'ada', score: 2 });
    for (const board of ['rapid', 'bullet', 'daily'])
      await queue.submit(board, { submissionId: board, playerId: 'ada', score: 1 });
    await clock.step(3_600_000);
    expect(outcomes()).toEqual(['rapid', 'bullet', 'daily'].map((id) => [id, 'settled']));
    // It is tried every five minutes: with the one behind it, then alone.
    const sent = http.requests.filter(isBad).length;
    await clock.step(3_600_000);
    expect(http.requests.filter(isBad).length - sent).toBeLessThanOrEqual(24);
    http.answer = counted;
    await clock.step(600_000);
    expect(outcomes().slice(3)).toEqual([
      ['bad', 'settled'],
      ['behind', 'settled'],
    ]);
  });

  it('is asked for by no more than one request each time while the proxy lets nothing through', async () => {
    http.answer = () => page(400);
    const { queue } = start();
    for (const board of ['rapid', 'bullet', 'daily']) await queue.submit(board, { playerId: 'ada', score: 1 });
    await clock.step(3_600_000);
    expect(ended).toEqual([]);
    expect(http.requests.length).toBeLessThan(40);
  });
});

describe('a score whose identity was refused is decided anew', () => {
  const token = (): string => playerToken('ada', clock.now() + 1e9);
  const bodies = (): Body[] => http.requests.flatMap(submissionsOf);

  it('sent without a token, it keeps no time of play that players may not give', async () => {
    let mine: string | null = token();
    http.answer = () => null;
    const first = start({ token: () => mine });
    await first.queue.submit('blitz', { submissionId: 'a', score: 9 });
    await clock.step(100);
    first.close();
    mine = null;
    http.answer = (request) => {
      if (request.method === 'POST' && !request.headers['authorization']) return problem('UNAUTHENTICATED', 401);
      return counted(request);
    };
    const { queue } = start({ token: () => mine });
    await clock.step(60_000);
    expect(problems).toContain('UNAUTHENTICATED');
    mine = token();
    void queue.flush();
    await clock.step(1000);
    expect(ended).toMatchObject([{ outcome: 'settled', item: { timeIsKept: false } }]);
    expect(bodies().at(-1)).not.toHaveProperty('achievedAt');
  });

  it('sent without a token, and never answered, it keeps no time of play either', async () => {
    let mine: string | null = null;
    http.answer = (request) => (request.method === 'POST' ? null : counted(request));
    const { queue } = start({ token: () => mine });
    await queue.submit('blitz', { submissionId: 'a', playerId: 'ada', score: 9 });
    await clock.step(1000);
    expect(bodies()).toMatchObject([{ submissionId: 'a' }]);
    mine = token();
    http.answer = counted;
    await clock.step(60_000);
    expect(ended).toMatchObject([{ outcome: 'settled' }]);
    expect(bodies().filter((body) => 'achievedAt' in body)).toEqual([]);
  });

  it('sent with a token that is refused, it keeps the time of play where the board takes it', async () => {
    const playedAt = clock.now();
    http.answer = () => problem('UNAUTHENTICATED', 401);
    const { queue } = start({ token: token() });
    await queue.submit('blitz', { submissionId: 'a', score: 9 });
    await clock.step(60_000);
    http.answer = (request) => (request.method === 'GET' ? { body: { clientTime: true } } : counted(request));
    void queue.flush();
    await clock.step(1000);
    expect(ended).toMatchObject([{ outcome: 'settled', item: { timeIsKept: true } }]);
    expect(Math.abs(Date.parse(String(bodies().at(-1)!['achievedAt'])) - playedAt)).toBeLessThan(1000);
  });

  it('a board that a key may not read is sent to all the same', async () => {
    http.answer = (request) => (request.method === 'GET' ? problem('FORBIDDEN', 403) : counted(request));
    await start().queue.submit('blitz', { submissionId: 'a', playerId: 'ada', score: 9 });
    await clock.step(1000);
    expect(outcomes()).toEqual([['a', 'settled']]);
  });
});

describe('a run in the future', () => {
  const title = 'The run lies in the future';
  const future = { problem: { code: 'ACHIEVED_AT_IN_FUTURE', status: 422, title } };

  it('for the service is sent again with the time as it is, once the clock of the device was set right', async () => {
    const timesOf = (request: FakeRequest): number[] =>
      submissionsOf(request).map(({ achievedAt }) => Date.parse(String(achievedAt)) - clock.now());
    http.answer = (request) => ({
      body: { results: timesOf(request).map((aheadMs) => (aheadMs > 60_000 ? future : { outcome: 'created' })) },
    });
    http.aheadMs = 600_000;
    const ladder = start();
    for (let answers = 0; answers < 5; answers += 1) await ladder.board('blitz').definition();
    http.aheadMs = 0;
    await clock.jump(600_000);
    const playedAt = clock.now();
    await ladder.queue.submit('blitz', { submissionId: 'a', playerId: 'ada', score: 1 });
    await clock.step(60_000);
    expect(outcomes()).toEqual([['a', 'settled']]);
    const keptAt = Date.parse(String(submissionsOf(http.last)[0]!['achievedAt']));
    expect(Math.abs(keptAt - playedAt)).toBeLessThan(10_000);
  });

  const isAhead = (request: FakeRequest): boolean =>
    submissionsOf(request).some(
      ({ achievedAt }) => Date.parse(String(achievedAt)) > clock.now() + http.aheadMs + 60_000,
    );
  const judged = (request: FakeRequest): FakeAnswer =>
    request.method === 'GET' || !isAhead(request) ? counted(request) : { body: { results: [future] } };
  const settledClock = async (): Promise<Ladder> => {
    http.answer = judged;
    const ladder = start();
    for (let answers = 0; answers < 5; answers += 1) await ladder.board('blitz').definition();
    return ladder;
  };

  it('is sent again however long it waited without a network before', async () => {
    const { queue } = await settledClock();
    http.answer = () => null;
    await clock.jump(3_600_000);
    http.aheadMs = -3_600_000;
    await queue.submit('blitz', { submissionId: 'a', playerId: 'ada', score: 1 });
    await clock.step(600_000);
    http.answer = judged;
    await clock.step(1_200_000);
    expect(http.requests.filter(isAhead).length).toBeGreaterThan(0);
    expect(outcomes()).toEqual([['a', 'settled']]);
  });

  it('is decided anew also where it was sent before, and nothing is known of that', async () => {
    const { queue } = await settledClock();
    await clock.jump(3_600_000);
    http.aheadMs = -3_600_000;
    let failures = 1;
    http.answer = (request) => (request.method === 'POST' && failures-- > 0 ? null : judged(request));
    await queue.submit('blitz', { submissionId: 'a', playerId: 'ada', score: 1 });
    await clock.step(600_000);
    expect(outcomes()).toEqual([['a', 'settled']]);
  });

  it('whatever is tried is refused in the end', async () => {
    http.answer = (request) => ({ body: { results: submissionsOf(request).map(() => future) } });
    await start().queue.submit('blitz', { submissionId: 'a', playerId: 'ada', score: 1 });
    await clock.step(60_000);
    expect(outcomes()).toEqual([['a', 'refused']]);
  });
});
