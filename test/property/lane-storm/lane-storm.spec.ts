// Real: PostgreSQL, the ledgers of three processes, TCP between them, and proxies on all ways. Runs are sent, and sent again, while
// commits are cancelled and their connections killed, ways are cut and hang, a board begins and ends to keep runs, and lanes are
// raised. At the end every reader says what the sums of what is stored come to. Prints its seed; SEED=… repeats the choices.
import { PATIENCE_MS, takeAllLanes } from '@laddercast/ledger';
import { sleep } from '@laddercast/platform';
import { Dice, seedOfRun } from '@laddercast/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LaneProcesses } from './lane-processes.js';
import { LaneSenders } from './lane-senders.js';
import { readStored, wrongIn } from './lane-truth.js';
import { LaneWeather } from './lane-weather.js';
import { OutboxReader } from './outbox-reader.js';

const STORM_MOST_MS = 10_000;
const SENDERS = 20;
const seed = seedOfRun();

describe(`lanes in a storm (SEED=${seed})`, () => {
  let processes: LaneProcesses;
  let reader: OutboxReader;
  afterEach(async () => {
    vi.restoreAllMocks();
    await reader.stop();
    await processes.end();
  });

  /** Until nothing is on its way any more that could be counted. */
  async function calm(): Promise<void> {
    const { nodes, plain } = processes;
    await expect.poll(() => nodes.map(({ ledger }) => ledger.waiting)).toEqual(nodes.map(() => 0));
    await sleep(PATIENCE_MS);
    await plain.database.transaction((transaction) => takeAllLanes(transaction, plain.lanes));
  }

  it('lose no run, count none twice, and say the same of each everywhere', async () => {
    processes = await LaneProcesses.begin();
    const { database } = processes.plain;
    const senders = new LaneSenders(processes);
    reader = new OutboxReader(database);
    const weather = new LaneWeather(processes, new Dice(seed));
    const ended = new AbortController();
    const sending = Array.from({ length: SENDERS }, (_, at) => senders.send(new Dice(seed + 1 + at), ended.signal));
    await weather.blow(STORM_MOST_MS).finally(() => ended.abort());
    await Promise.all(sending);
    vi.restoreAllMocks();
    await calm();
    const stored = new Set((await readStored(database)).map(({ submissionId }) => submissionId));
    await senders.repeat(new Dice(seed), stored);
    const struck = Object.entries(weather.struck);
    const happened = [...weather.counts, ...struck].map(([what, times]) => `${times} ${what}`).join(', ');
    process.stderr.write(`lanes in a storm: ${stored.size} of ${senders.runs.length} runs stored; ${happened}\n`);
    expect(senders.wrong).toEqual([]);
    expect(await wrongIn(database, senders.runs)).toEqual([]);
    expect(await reader.missed()).toEqual([]);
    expect(weather.counts.get('raise')).toBe(2);
    expect(struck.filter(([, times]) => times === 0)).toEqual([]);
  });
});
