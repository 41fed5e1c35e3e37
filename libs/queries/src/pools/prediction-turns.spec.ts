import { monotonicMs } from '@laddercast/platform';
import { describe, expect, it } from 'vitest';
import { PredictionTurns } from './prediction-turns.js';

/** Steps of a millisecond each that note the turn of the event loop in which they are done. */
function* busySteps(count: number, done: () => void): Generator<void, number> {
  for (let step = 0; step < count; step += 1) {
    const untilMs = monotonicMs() + 1;
    while (monotonicMs() < untilMs);
    done();
    yield;
  }
  return count;
}

function* failing(): Generator<void, never> {
  yield;
  throw new Error('no such game');
}

describe('predictions that are computed in turns', () => {
  it('let everything else go on in between', async () => {
    const turns = new PredictionTurns();
    let inOneTurn = 0;
    let most = 0;
    let isOver = false;
    const look = (): void => {
      most = Math.max(most, inOneTurn);
      inOneTurn = 0;
      if (!isOver) setImmediate(look);
    };
    setImmediate(look);
    expect(await turns.run(busySteps(60, () => (inOneTurn += 1)))).toBe(60);
    isOver = true;
    // What was done since the last look counts, too.
    look();
    expect(most).toBeLessThanOrEqual(5);
  });

  it('do not wait for the end of longer ones', async () => {
    const turns = new PredictionTurns();
    const ends: string[] = [];
    const run = async (name: string, count: number): Promise<void> => {
      await turns.run(busySteps(count, () => undefined));
      ends.push(name);
    };
    await Promise.all([run('long', 40), run('short', 1)]);
    expect(ends).toEqual(['short', 'long']);
  });

  it('fail by themselves', async () => {
    const turns = new PredictionTurns();
    const [failed, done] = await Promise.allSettled([turns.run(failing()), turns.run(busySteps(9, () => undefined))]);
    expect(failed).toMatchObject({ reason: { message: 'no such game' } });
    expect(done).toEqual({ status: 'fulfilled', value: 9 });
    expect(await turns.run(busySteps(2, () => undefined))).toBe(2);
  });

  it('are refused while as many as may be are under way', async () => {
    const turns = new PredictionTurns();
    const asked = Array.from({ length: 17 }, () => turns.run(busySteps(2, () => undefined)));
    const answers = await Promise.allSettled(asked);
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(16);
    expect(answers.at(-1)).toMatchObject({ reason: { code: 'OVERLOADED', extensions: { retryAfterSeconds: 1 } } });
    expect(await turns.run(busySteps(1, () => undefined))).toBe(1);
  });
});
