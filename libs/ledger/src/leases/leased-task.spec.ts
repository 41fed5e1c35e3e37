import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { SqlRunner } from '../database/postgres-database.js';
import { LeasedTask, RunAgain, type Duty, type LeasedTaskOptions } from './leased-task.js';
import { PostgresLeases } from './postgres-leases.js';

/** A database that gives the lease whenever it is free. */
class LeaseTable implements SqlRunner {
  isFree = true;
  isHeld = true;
  asked = 0;
  released = 0;

  async query<Row>(sql: string): Promise<Row[]> {
    if (sql.startsWith('INSERT')) this.asked += 1;
    else if (sql.includes('expires_at = ladder_now() WHERE')) this.released += 1;
    else return (this.isHeld ? [{ name: 'a task', epoch: 1 }] : []) as Row[];
    return (this.isFree ? [{ epoch: 1 }] : []) as Row[];
  }
}

let table: LeaseTable;
let task: LeasedTask | null;
let failures: string[];
let ranAtMs: number[];

beforeEach(() => {
  vi.useFakeTimers({
    now: 0,
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
  });
  [table, task, failures, ranAtMs] = [new LeaseTable(), null, [], []];
});

afterEach(async () => {
  const stopped = task?.stop();
  await vi.runAllTimersAsync();
  await stopped;
  vi.useRealTimers();
});

function start(duties: Duty[], more: Partial<LeasedTaskOptions> = {}): void {
  const onFailure = (error: unknown): void => void failures.push((error as Error).message);
  const options = { name: 'a task', ttlMs: 60_000, duties, onFailure, ...more };
  task = new LeasedTask(new PostgresLeases(table), options);
  task.start();
}

const note = async (): Promise<void> => void ranAtMs.push(Date.now());

it('runs a duty at once, and again after its pause', async () => {
  start([{ everyMs: 1000, run: note }]);
  await vi.advanceTimersByTimeAsync(3500);
  expect(ranAtMs).toEqual([0, 1000, 2000, 3000]);
});

it('waits before the first run where the duty says so, and runs sooner where a run says so', async () => {
  const run = async (): Promise<unknown> => {
    await note();
    return ranAtMs.length < 3 ? new RunAgain(10) : 5;
  };
  start([{ everyMs: 1000, firstAfterMs: 300, run }]);
  await vi.advanceTimersByTimeAsync(1500);
  expect(ranAtMs).toEqual([300, 310, 320, 1320]);
});

it('has no duty wait for another', async () => {
  const slow = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  start([
    { everyMs: 1000, run: slow },
    { everyMs: 1000, run: note },
  ]);
  await vi.advanceTimersByTimeAsync(2500);
  expect(ranAtMs).toEqual([0, 1000, 2000]);
});

it('tries a duty that fails again with growing waits, and then goes on as before', async () => {
  const run = async (): Promise<void> => {
    await note();
    if (ranAtMs.length <= 4) throw new Error(`failure ${ranAtMs.length}`);
  };
  start([{ everyMs: 5000, retryMs: 100, retryMaxMs: 300, run }]);
  await vi.advanceTimersByTimeAsync(900);
  expect(failures).toEqual(['failure 1', 'failure 2', 'failure 3', 'failure 4']);
  const waits = ranAtMs.slice(1).map((atMs, at) => atMs - ranAtMs[at]!);
  for (const [at, mostMs] of [100, 200, 300, 300].entries()) {
    expect(waits[at]).toBeGreaterThanOrEqual(mostMs / 2);
    expect(waits[at]).toBeLessThanOrEqual(mostMs);
  }
  const settledAtMs = ranAtMs.at(-1)!;
  await vi.advanceTimersByTimeAsync(settledAtMs + 5000 - Date.now());
  expect([ranAtMs.length, ranAtMs.at(-1)]).toEqual([6, settledAtMs + 5000]);
});

it('runs nothing while another has the lease, and asks for it', async () => {
  table.isFree = false;
  start([{ everyMs: 100, run: note }], { askEveryMs: 1000 });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(ranAtMs).toEqual([]);
  expect(table.asked).toBeGreaterThanOrEqual(6);
  table.isFree = true;
  await vi.advanceTimersByTimeAsync(1600);
  expect(ranAtMs.length).toBeGreaterThan(0);
});

it('ends its duties when the lease is lost, tells no failure of that, and begins anew when it has it again', async () => {
  const terms: string[] = [];
  const run = async (signal: AbortSignal): Promise<void> => {
    await note();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    terms.push('run ended');
    throw new Error('aborted');
  };
  const onTerm = () => {
    terms.push('begun');
    return () => terms.push('over');
  };
  start([{ everyMs: 100, run }], { ttlMs: 3000, askEveryMs: 500, onTerm });
  await vi.advanceTimersByTimeAsync(500);
  [table.isHeld, table.isFree] = [false, false];
  await vi.advanceTimersByTimeAsync(3000);
  expect(terms).toEqual(['begun', 'run ended', 'over']);
  [table.isHeld, table.isFree] = [true, true];
  await vi.advanceTimersByTimeAsync(1000);
  expect([terms.at(-1), ranAtMs.length, failures]).toEqual(['begun', 2, []]);
});

it('gives the lease back once what runs has ended', async () => {
  let finish!: () => void;
  start([{ everyMs: 100, run: () => new Promise<void>((resolve) => (finish = resolve)) }]);
  await vi.advanceTimersByTimeAsync(50);
  const stopped = task!.stop();
  await vi.advanceTimersByTimeAsync(500);
  expect(table.released).toBe(0);
  finish();
  await vi.advanceTimersByTimeAsync(1);
  await stopped;
  expect(table.released).toBe(1);
});
