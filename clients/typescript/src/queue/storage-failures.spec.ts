import { beforeEach, afterEach, expect, it } from 'vitest';
import { FakeHttp, problem } from '../../test/fake-http.js';
import { SteppedClock } from '../../test/stepped-clock.js';
import { createLadder, type Ladder, type Settled } from '../index.js';
import type { Storage } from '../world.js';
import type { QueueItem } from './items.js';
import { memoryStorage } from './storage.js';

const DAY_MS = 86_400_000;

let clock: SteppedClock;
let http: FakeHttp;
let storage: Storage;
let ended: Settled[];
let problems: string[];
let open: Ladder[];

function start(over: Storage = storage, time: SteppedClock = clock): Ladder {
  const ladder = createLadder({
    ...{
      url: 'http://ladder.test',
      token: 'an-api-key',
      fetch: http.fetch,
      clock: time,
      storage: over,
      random: () => 1,
    },
    onProblem: ({ code }) => problems.push(code),
  });
  ladder.queue.onSettled((one) => ended.push(one));
  open.push(ladder);
  return ladder;
}

const idsSent = (): string[][] =>
  http.requests
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => (body as { submissions: QueueItem[] }).submissions.map(({ submissionId }) => submissionId));

async function stored(): Promise<QueueItem[]> {
  const texts = await Promise.all((await storage.keys('laddercast http://ladder.test item ')).map(storage.get));
  return texts.map((text) => JSON.parse(text!) as QueueItem);
}

beforeEach(() => {
  clock = new SteppedClock();
  http = new FakeHttp(clock);
  storage = memoryStorage();
  [ended, problems, open] = [[], [], []];
  http.answer = ({ body }) => {
    const { submissions = [] } = (body ?? {}) as { submissions?: object[] };
    return { body: { results: submissions.map(() => ({ outcome: 'created' })) } };
  };
});
afterEach(() => {
  for (const ladder of open) ladder.close();
});

it('a score that was sent counts as sent also where the storage fails once the answer is there', async () => {
  let removed = 0;
  const failing: Storage = {
    ...storage,
    delete: (key) =>
      key.includes(' item ') && (removed += 1) > 1 ? Promise.reject(new Error('no disk')) : storage.delete(key),
  };
  http.next.push(null);
  const first = start(failing);
  for (const id of ['a', 'b', 'c']) await first.queue.submit('blitz', { submissionId: id, playerId: 'ada', score: 1 });
  await clock.step(10_000);
  expect(idsSent()[0]).toEqual(['a', 'b', 'c']);
  first.close();
  // What has ended does not come back, and what may have is known to have been sent.
  expect((await stored()).map(({ submissionId, firstSentAt }) => [submissionId, firstSentAt !== null])).toEqual([
    ['b', true],
    ['c', true],
  ]);
  const before = idsSent().length;
  await clock.step(8 * DAY_MS);
  start();
  await clock.step(10_000);
  expect(idsSent()).toHaveLength(before);
  expect(ended.slice(-2).map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown']);
});

it('a text that is no score stays where it is, and stops no other', async () => {
  const prefix = 'laddercast http://ladder.test';
  await storage.set(`${prefix} item 000000001.x`, '{"submissionId":"cut');
  await storage.set(`${prefix} item 000000002.x`, '');
  const ladder = start();
  await ladder.queue.submit('blitz', { submissionId: 'a', playerId: 'ada', score: 1 });
  await clock.step(10_000);
  await ladder.queue.flush();
  expect(ended).toMatchObject([{ outcome: 'settled', item: { submissionId: 'a' } }]);
  expect(problems).toEqual([]);
  expect(await storage.keys(`${prefix} item `)).toHaveLength(2);
});

it('a lease that is none stops nothing, and one of a clock that was set back no more', async () => {
  await storage.set('laddercast http://ladder.test flusher', '{"owner":"cut');
  const ahead = new SteppedClock();
  await ahead.step(DAY_MS);
  http.answer = ({ method }) => (method === 'POST' ? new Promise(() => undefined) : { body: {} });
  const dying = start(storage, ahead);
  await dying.queue.submit('blitz', { submissionId: 'a', playerId: 'ada', score: 1 });
  await ahead.step(1000);
  expect(idsSent()).toEqual([['a']]);
  dying.close();
  start();
  await clock.step(60_000);
  expect(idsSent().at(-1)).toEqual(['a']);
  expect(idsSent().length).toBeGreaterThan(1);
  expect(problems).toEqual([]);
});

it('a score that is to wait for months is waited for, and not looked at all the time', async () => {
  const { answer } = http;
  http.answer = ({ method }) =>
    method === 'POST' ? problem('OVERLOADED', 503, { 'retry-after': `${(40 * DAY_MS) / 1000}` }) : { body: {} };
  await start().queue.submit('blitz', { submissionId: 'a', playerId: 'ada', score: 1 });
  await clock.step(1000);
  http.answer = answer;
  // Node and browsers take a longer time for none.
  expect(clock.nextInMs).toBeLessThan(2 ** 31);
  await clock.step(39 * DAY_MS);
  expect(ended).toEqual([]);
  await clock.step(2 * DAY_MS);
  expect(ended).toHaveLength(1);
});
