import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { SqlRunner } from '../database/postgres-database.js';
import { RunAgain, type Duty } from './leased-task.js';
import { SharedLook } from './shared-look.js';

/** A database that says of each question that is asked whether it has rows. */
class Answers implements SqlRunner {
  minute = 1;
  isAway = false;
  readonly due = new Set<number>();
  readonly asked: boolean[][] = [];

  async query<Row>(_sql: string, [isAsked]: [boolean[]]): Promise<Row[]> {
    this.asked.push(isAsked);
    if (this.isAway) throw new Error('away');
    return [{ minute: this.minute, found: isAsked.map((is, at) => (is ? this.due.has(at) : null)) }] as Row[];
  }
}

let answers: Answers;
let look: SharedLook;
let ran: string[];

beforeEach(() => {
  vi.useFakeTimers({ now: 0, toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  [answers, ran] = [new Answers(), []];
  look = new SharedLook(answers);
});

afterEach(() => vi.useRealTimers());

const duty = (name: string, everyMs = 500): Duty => ({ everyMs, run: async () => void ran.push(name) });

/** Runs duties side by side; how long each waits then, ms. */
async function runAll(...duties: Duty[]): Promise<number[]> {
  const runs = duties.map(({ run }) => run(new AbortController().signal));
  await vi.advanceTimersByTimeAsync(100);
  return Promise.all(runs.map(async (run) => ((await run) as RunAgain).inMs));
}

it('asks one question for all duties that look at the same time, and runs those that have something to do', async () => {
  const duties = [look.duty('first', duty('a')), look.duty('second', duty('b')), look.duty('third', duty('c'))];
  answers.due.add(1);
  await runAll(...duties);
  expect([answers.asked, ran]).toEqual([[[true, true, true]], ['b']]);
});

it('asks nothing for duties that do not look here', async () => {
  const mine = look.duty('mine', duty('mine'));
  const other = look.duty('of another process', duty('other'));
  await runAll(mine);
  await runAll(mine, other);
  await runAll(mine);
  expect(answers.asked).toEqual([
    [true, false],
    [true, true],
    [true, false],
  ]);
});

it('runs what a minute brings about when the database says that it is another', async () => {
  const minutely = look.duty((minute) => minute > 1, duty('of the minute'));
  await runAll(minutely);
  expect(ran).toEqual([]);
  answers.minute = 2;
  await runAll(minutely);
  expect(ran).toEqual(['of the minute']);
});

it('has each look for itself when the question fails, and asks it again', async () => {
  const duties = [look.duty('first', duty('a')), look.duty(() => false, duty('b'))];
  answers.isAway = true;
  await runAll(...duties);
  expect(ran).toEqual(['a', 'b']);
  answers.isAway = false;
  await runAll(...duties);
  expect([answers.asked.length, ran]).toEqual([2, ['a', 'b']]);
});

it('answers nobody by what was asked before', async () => {
  const one = look.duty('first', duty('a'));
  const began = one.run(new AbortController().signal);
  await vi.advanceTimersByTimeAsync(11);
  await began;
  answers.due.add(0);
  await runAll(one);
  expect(ran).toEqual(['a']);
});

it('has duties that fell out of step look at the next beat, and never later than they would have', async () => {
  await vi.advanceTimersByTimeAsync(120);
  const [fast, slow] = await runAll(look.duty('first', duty('a', 250)), look.duty('second', duty('b', 500)));
  expect([fast, slow]).toEqual([120, 370]);
});

it('leaves it to a duty that ran when it runs again', async () => {
  answers.due.add(0);
  const again = look.duty('first', { everyMs: 500, run: async () => new RunAgain(50) });
  expect(await runAll(again)).toEqual([50]);
});
