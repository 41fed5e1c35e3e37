import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeHttp, type FakeAnswer, type FakeRequest } from '../../test/fake-http.js';
import { SteppedClock } from '../../test/stepped-clock.js';
import { createLadder, type Ladder, type Settled, type Storage } from '../index.js';
import { memoryStorage } from './storage.js';

type Body = Record<string, unknown> & { submissionId: string };

let clock: SteppedClock;
let http: FakeHttp;
let storage: Storage;
let ended: Settled[];
let problems: string[];
let open: Ladder[];

function start(): Ladder {
  const ladder = createLadder({
    ...{ url: 'http://ladder.test', token: 'an-api-key', fetch: http.fetch, clock, storage },
    random: () => 1,
    onProblem: ({ code }) => problems.push(code),
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
  const page = (status: number): FakeAnswer => ({ status, text: '<html>A proxy says no</html>' });

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
