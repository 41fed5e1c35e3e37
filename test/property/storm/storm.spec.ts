// Real: api, projector and gateway as processes that are killed with SIGKILL, PostgreSQL, Redis, HTTP, WebSocket, and Kafka in a
// soak; the ledger's clock is the test's. Runs, voids, restores, decisions, sanctions, moves, closings, trims, other layouts,
// rebuilds and redeliveries in random order, while readers of every kind ask. At the end everything equals what plain code folds
// from the answers; then all acts are undone in random order. Prints its seed; SEED=… repeats the choices, SOAK_MINUTES=… goes on.
import { logsUnderTest, seedOfRun, type LogUnderTest } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { Storm } from './storm.js';

const MINUTE_MS = 60_000;
const soakMinutes = Number(process.env['SOAK_MINUTES'] ?? 0);
/** How long acts go on in one storm; comparing and undoing come on top. */
const STORM_MS = 30_000;
const LONG_STORM_MS = 3 * MINUTE_MS;
const ROUNDS_MIN = 26;
const STORMS_MAX = 10_000;
const SAID_EVERY_MS = 15_000;

const firstSeed = seedOfRun();
const logs: LogUnderTest[] = soakMinutes > 0 ? logsUnderTest() : ['postgres'];

describe(`a storm (SEED=${firstSeed})`, { timeout: soakMinutes * MINUTE_MS + 15 * MINUTE_MS }, () => {
  let storm: Storm | undefined;
  afterEach(() => storm?.end());

  async function weather(log: LogUnderTest, seed: number, forMs: number): Promise<void> {
    storm = await Storm.begin(log, seed);
    storm.beginWeather(seed);
    const startedMs = Date.now();
    let saidMs = startedMs;
    while (storm.rounds < ROUNDS_MIN || Date.now() < startedMs + forMs) {
      await storm.round();
      expect(storm.client.wrong).toEqual([]);
      if (Date.now() < saidMs + SAID_EVERY_MS) continue;
      saidMs = Date.now();
      say(`SEED=${seed}, ${log}: ${storm.rounds} rounds, ${storm.model.runs.length} runs`);
    }
    await storm.prove();
    storm.weather.begin(storm.diceOf(seed + 4));
    await storm.undo();
    await storm.readers.end();
    expect(storm.client.wrong).toEqual([]);
    expect(storm.spectatorFaults()).toEqual([]);
    say(`SEED=${seed}, ${log}: ${storm.summary()}`);
    const { counts } = storm.weather;
    expect(counts.get('day')).toBeGreaterThan(1);
    expect(counts.get('season')).toBe(1);
    expect([...counts.keys()].some((what) => what.startsWith('kill'))).toBe(true);
    await storm.end();
    storm = undefined;
  }

  it('leaves what the runs come to that count, and nothing of what is undone', async () => {
    const endsAtMs = Date.now() + soakMinutes * MINUTE_MS;
    for (let number = 0; number < STORMS_MAX; number += 1) {
      const seed = firstSeed + number;
      const log = logs[number % logs.length]!;
      try {
        await weather(log, seed, soakMinutes > 0 ? LONG_STORM_MS : STORM_MS);
      } catch (error) {
        throw new Error(`SEED=${seed}, ${log}: ${(error as Error).message}`, { cause: error });
      }
      if (Date.now() >= endsAtMs || process.env['SEED'] !== undefined) break;
    }
  });
});

function say(what: string): void {
  process.stderr.write(`storm: ${what}\n`);
}
