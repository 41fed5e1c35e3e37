import { randomBytes } from 'node:crypto';
import type { Problem } from '@laddercast/domain';
import type { PostgresDatabase } from '@laddercast/ledger';
import { optionalService } from '@laddercast/testing';
import { expect } from 'vitest';
import type { HostileRun } from './hostile-inputs.js';
import { writeMessages } from './kafka-messages.js';
import type { RestClient } from './rest-client.js';

/** Problem code, or null for a run that counted. */
type Code = string | null;

/** A way into the service for runs. */
export interface Door {
  name: string;
  board: string;
  /** What became of each run, in their order. */
  submit(runs: readonly HostileRun[]): Promise<Code[]>;
}

export function singleDoor(client: () => RestClient): Door {
  const board = 'hostile-single';
  const submit = async (runs: readonly HostileRun[]): Promise<Code[]> => {
    const codes: Code[] = [];
    for (const { fields, name } of runs) {
      const response = await client().post(`/v1/boards/${board}/scores`, `{${fields}}`);
      codes.push(response.status === 200 ? null : codeOf(response.body as Problem, response.status, name));
    }
    return codes;
  };
  return { name: 'a request each', board, submit };
}

/** One run in each batch, between two good ones that count whatever becomes of it, unless the whole is not JSON. */
export function batchDoor(client: () => RestClient): Door {
  const board = 'hostile-batch';
  const submit = async (runs: readonly HostileRun[]): Promise<Code[]> => {
    const codes: Code[] = [];
    const good = `{"board":"${board}","playerId":"beside","score":-7}`;
    for (const { fields, name } of runs) {
      const body = `{"submissions":[${good},{"board":"${board}",${fields}},${good}]}`;
      const response = await client().post('/v1/scores', body);
      if (response.status !== 200) {
        codes.push(codeOf(response.body as Problem, response.status, name));
        continue;
      }
      const [before, result, after] = (response.body as { results: { problem?: Problem }[] }).results;
      for (const one of [before, after]) expect(one, name).not.toHaveProperty('problem');
      codes.push(result!.problem ? codeOf(result!.problem, result!.problem.status, name) : null);
    }
    return codes;
  };
  return { name: 'batches', board, submit };
}

/** All runs as messages of one partition; what counted stands in the ledger, what did not in the dead letters. */
export function logDoor(prefix: string, database: () => PostgresDatabase): Door {
  const board = 'hostile-intake';
  const submit = async (runs: readonly HostileRun[]): Promise<Code[]> => {
    const round = randomBytes(4).toString('hex');
    const idOf = (i: number): string => `${round}-${i}`;
    const messages = runs.map(({ fields }, i) => ({
      partition: 0,
      key: idOf(i),
      value: `{"board":"${board}","submissionId":"${idOf(i)}",${fields}}`,
    }));
    await writeMessages(`${prefix}.in.scores`, messages);
    const outcomes = new Map<string, Code>();
    await expect
      .poll(
        async () => {
          for (const { submission_id: id } of await database().query<{ submission_id: string }>(
            'SELECT submission_id FROM submissions WHERE submission_id LIKE $1',
            [`${round}-%`],
          ))
            outcomes.set(id, null);
          for (const { key, cause } of await database().query<{ key: string; cause: string }>(
            'SELECT key, cause FROM dead_letters WHERE key LIKE $1',
            [`${round}-%`],
          ))
            outcomes.set(key, (JSON.parse(cause) as Problem).code);
          return outcomes.size;
        },
        { timeout: 60_000, interval: 200 },
      )
      .toBe(runs.length);
    return runs.map((_run, i) => outcomes.get(idOf(i))!);
  };
  return { name: 'Kafka', board, submit };
}

export const kafkaBrokers = optionalService('TEST_KAFKA_BROKERS');

function codeOf({ code }: Problem, status: number, name: string): string {
  expect(status, name).toBeGreaterThanOrEqual(400);
  expect(status, `${name}: ${code}`).toBeLessThan(500);
  return code;
}
