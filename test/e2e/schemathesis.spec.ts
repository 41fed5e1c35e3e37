// Real: the built service in one process, and schemathesis, which reads openapi.json from it and sends it requests of its own making.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { optionalService, startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RestClient } from './rest-client.js';

const command = optionalService('TEST_SCHEMATHESIS');
/** The same requests in each run, so that a change is judged by what it changed; SEED for others. */
const seed = process.env.SEED ?? '20261123';
/** Requests of each operation and phase; SCHEMATHESIS_EXAMPLES for a longer run. */
const examples = process.env.SCHEMATHESIS_EXAMPLES ?? '10';
/** For what hangs. */
const WITHIN_MS = 3_600_000;

/** The boards that test/schemathesis/hooks.py asks for; two pools have names of theirs. */
const BOARDS: Record<string, object> = {
  blitz: {},
  sums: { operator: 'sum', limits: { scoreMin: -1e300 } },
  columns: { order: 'asc', columns: [{ name: 'moves', order: 'asc' }], sharding: { by: 'hash', count: 3 } },
  daily: {
    operator: 'latest',
    windows: ['daily', 'weekly', 'alltime', { rolling: '24h' }],
    scopes: ['global', 'region', { attribute: 'country' }],
    snapshot: { keepEveryMinutes: 1 },
  },
  guilded: { scopes: ['global', 'guild'] },
  recorded: { history: {} },
  kept: { runs: { keepDays: 30 }, proof: 'everyone' },
};

describe.skipIf(!command)('openapi.json, tried by schemathesis', () => {
  let service: RunningStandalone;
  let admin: RestClient;

  beforeAll(async () => {
    // Thousands of requests in a minute, many of them with keys that are wrong.
    const limits = [
      'RATE_LIMIT_KEY_PER_SECOND',
      'RATE_LIMIT_ADDRESS_PER_SECOND',
      'RATE_LIMIT_FAILED_IDENTITY_PER_SECOND',
    ];
    service = await startStandalone(Object.fromEntries(limits.map((limit) => [limit, '0'])));
    admin = new RestClient(service.url, service.adminKey);
    for (const [id, definition] of Object.entries(BOARDS)) await admin.makeBoard(id, definition);
    for (const player of ['ada', 'bob']) {
      for (const board of Object.keys(BOARDS)) {
        const columns = board === 'columns' ? { moves: 3 } : undefined;
        // Acts on runs find one by the ids that players have.
        const run = { submissionId: player, playerId: player, score: 5, columns };
        const response = await admin.post(`/v1/boards/${board}/scores`, run);
        expect(response.status, response.text).toBe(200);
      }
    }
    for (const pool of ['blitz', 'sums']) {
      const algorithm = pool === 'blitz' ? 'elo' : 'weng-lin';
      expect((await admin.put(`/v1/pools/${pool}`, { algorithm })).status).toBe(201);
      const players = ['ada', 'bob'].map((playerId, at) => ({ playerId, place: at + 1 }));
      expect((await admin.post('/v1/games', { pool, gameId: 'g', players }, { Prefer: 'wait=10' })).status).toBe(200);
    }
    expect((await admin.put('/v1/guilds/red', {})).status).toBe(201);
    expect((await admin.put('/v1/guilds/red/members/ada')).status).toBe(200);
    expect((await admin.put('/v1/circles/class-of-2026/members/ada')).status).toBe(200);
  });
  afterAll(() => service?.stop());

  it(
    `is true for every request that it makes (SEED=${seed})`,
    async () => {
      const { code, output } = await run();
      expect(code, `SEED=${seed} repeats this run.\n${output}`).toBe(0);
      // Nothing that it was asked for had it write of a failure of its own, and it serves still.
      expect(service.output()).not.toMatch(/request failed/);
      expect((await admin.get('/health/ready')).status).toBe(200);
      await admin.makeBoard('afterwards');
      expect((await admin.get('/v1/boards/afterwards/entries')).status).toBe(200);
    },
    WITHIN_MS,
  );

  async function run(): Promise<{ code: number | null; output: string }> {
    const args = ['--no-color', '--config-file', 'test/schemathesis/schemathesis.toml', 'run'];
    const ofRun = [
      '--seed',
      seed,
      '--max-examples',
      examples,
      '--generation-database',
      'none',
      '--request-timeout',
      '60',
    ];
    const database = mkdtempSync(join(tmpdir(), 'ladder-hypothesis-'));
    const child = spawn(
      command!,
      [...args, `${service.url}/openapi.json`, ...ofRun, '--header', `Authorization: Bearer ${service.adminKey}`],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', HYPOTHESIS_STORAGE_DIRECTORY: database },
      },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    }
    const killer = setTimeout(() => child.kill('SIGKILL'), WITHIN_MS - 10_000);
    const [code] = (await once(child, 'close')) as [number | null];
    clearTimeout(killer);
    rmSync(database, { recursive: true, force: true });
    return { code, output: output.slice(-20_000) };
  }
});
