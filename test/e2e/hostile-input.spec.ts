// Real: the built service in one process, PostgreSQL, Redis, and a Kafka broker where there is one; input that means harm.
import { randomBytes } from 'node:crypto';
import { PostgresDatabase } from '@laddercast/ledger';
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchDoor, kafkaBrokers, logDoor, singleDoor } from './hostile-doors.js';
import { HOSTILE_RUNS, type HostileRun } from './hostile-inputs.js';
import { RestClient } from './rest-client.js';

const prefix = `test-${randomBytes(6).toString('hex')}`;
const SKIPPED = 'hostile messages of Kafka: no broker. Set KAFKA_BROKERS, or install a JDK 17+ and Maven.';

let service: RunningStandalone;
let admin: RestClient;
let database: PostgresDatabase;

const doors = [
  singleDoor(() => admin),
  batchDoor(() => admin),
  ...(kafkaBrokers ? [logDoor(prefix, () => database)] : []),
];

if (!kafkaBrokers) {
  it.skipIf(process.env.REQUIRE_KAFKA !== '1')(`skips ${SKIPPED}`, () => {
    throw new Error(`REQUIRE_KAFKA=1 does not allow to skip ${SKIPPED}`);
  });
}

beforeAll(async () => {
  const adminKey = randomBytes(24).toString('hex');
  const intake = { KAFKA_BROKERS: kafkaBrokers ?? '', KAFKA_PREFIX: prefix, KAFKA_IN_SCORES_KEY: adminKey };
  service = await startStandalone(kafkaBrokers ? { ...intake, BOOTSTRAP_ADMIN_KEY: adminKey } : {});
  admin = new RestClient(service.url, kafkaBrokers ? adminKey : service.adminKey);
  database = new PostgresDatabase({ url: service.databaseUrl });
  await database.open({ migrate: false });
});
afterAll(async () => {
  await database?.close();
  await service?.stop();
});

describe.each(doors)('hostile runs by $name', (door) => {
  it('count as they are, or are refused with their own code, and the board is right', async () => {
    await admin.makeBoard(door.board);
    const codes = await door.submit(HOSTILE_RUNS);
    const expected = HOSTILE_RUNS.map(({ name, outcome }) => [name, outcome]);
    expect(HOSTILE_RUNS.map(({ name, outcome }, i) => [name, codes[i] ?? outcome])).toEqual(expected);
    // Those that should have been refused, and counted, have a code of null.
    expect(codes.map((code) => code === null)).toEqual(expected.map(([, outcome]) => typeof outcome === 'number'));

    const standing = new Map<string, number>(door.name === 'batches' ? [['beside', -7]] : []);
    for (const run of HOSTILE_RUNS) {
      if (typeof run.outcome === 'number') standing.set(playerOf(run), run.outcome);
    }
    const best = [...standing].sort(([, a], [, b]) => b - a).map(([, score]) => score);
    const read = async (): Promise<[string, number][]> => {
      const response = await admin.get(`/v1/boards/${door.board}/entries?limit=500`);
      const { entries } = response.body as { entries: { playerId: string; score: number }[] };
      return entries.map(({ playerId, score }) => [playerId, score]);
    };
    await expect.poll(async () => new Map(await read())).toEqual(standing);
    const rows = await read();
    expect(rows.map(([, score]) => score)).toEqual(best);
    expect(rows).toHaveLength(standing.size);
    expect(rows.every(([, score]) => !Object.is(score, -0))).toBe(true);
    expect(service.output()).not.toMatch(/request failed|ERROR|"level":"error"/);
  });

  it('of a sum that leaves the doubles are refused, and the sum stays', async () => {
    const board = `${door.board}-sum`;
    await admin.makeBoard(board, { operator: 'sum' });
    const run = (score: string): string => `{"board":"${board}","playerId":"ada","score":${score}}`;
    const body = `{"submissions":[${['1e308', '1e308', '-1e308', '0.1', '0.2'].map(run).join()}]}`;
    const { results } = (await admin.post('/v1/scores', body)).body as {
      results: { score?: number; problem?: { code: string } }[];
    };
    expect(results.map(({ score, problem }) => problem?.code ?? score)).toEqual([
      1e308,
      'SCORE_OUT_OF_BOUNDS',
      0,
      0.1,
      0.1 + 0.2,
    ]);
  });
});

/** As the service should have read it. */
function playerOf({ fields }: HostileRun): string {
  return (JSON.parse(`{${fields}}`) as { playerId: string }).playerId;
}
