// Real: the built service with its PostgreSQL and Redis, and the demo of patches as a user runs it.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RestClient } from './rest-client.js';

const demoProgram = fileURLToPath(new URL('../../tools/demo.mjs', import.meta.url));
const BOARDS = ['demo-london', 'demo-tea', 'demo-islands', 'demo-crusade'];
const DEMO_WITHIN_MS = 180_000;

interface Page {
  total: number;
  entries: { score: number; rawScore: number; patch: string; patchesBehind: number }[];
  decay: { latest: string; retaxing: unknown };
}

describe('npm run demo -- --patches', () => {
  let service: RunningStandalone;
  let client: RestClient;

  beforeAll(async () => {
    service = await startStandalone();
    client = new RestClient(service.url, service.adminKey);
  });
  afterAll(() => service?.stop());

  function demo(...args: string[]): Promise<{ code: number; output: string; tookMs: number }> {
    const env = { ...process.env, LADDER_URL: service.url, LADDER_KEY: service.adminKey };
    const startedAt = performance.now();
    return new Promise((resolve) => {
      const options = { env, timeout: DEMO_WITHIN_MS };
      execFile(process.execPath, [demoProgram, '--patches', ...args], options, (error, stdout, stderr) => {
        const tookMs = performance.now() - startedAt;
        resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr, tookMs });
      });
    });
  }
  const patches = async (): Promise<string[]> => {
    const { body } = await client.get('/v1/patches?family=demo-eu4');
    return (body as { patches: { patch: string }[] }).patches.map(({ patch }) => patch);
  };
  const page = async (board: string): Promise<Page> =>
    (await client.get(`/v1/boards/${board}/entries?limit=500`)).body as Page;

  it('fills boards, publishes a patch while runs come in, and ends with what was sent, taxed by it', async () => {
    const first = await demo('--seconds', '6');
    expect(first.output).toMatch(/A generator made them \(--seed 1\)/);
    expect(first.output).toMatch(/Patch 1\.32 is out/);
    expect(first.output).toMatch(/All 4 boards show the tax of 1\.32/);
    expect(first.output).toMatch(/Every row is right: 1\d\d rows, each what the runs that were sent give/);
    expect(first.code).toBe(0);
    expect(first.tookMs).toBeGreaterThan(6000);
    expect(await patches()).toEqual(['1.28', '1.28.1', '1.29', '1.30', '1.31', '1.32']);
    const template = (await client.get('/v1/board-templates/demo-eu4')).body as { boards: { board: string }[] };
    expect(template.boards.map(({ board }) => board)).toEqual(BOARDS);
    for (const board of BOARDS) {
      const { total, entries, decay } = await page(board);
      expect(decay).toMatchObject({ latest: '1.32', retaxing: null });
      expect(total).toBeGreaterThan(30);
      expect(entries.filter((row) => row.score !== (row.rawScore * (10 + row.patchesBehind)) / 10)).toEqual([]);
      expect(new Set(entries.map(({ patchesBehind }) => patchesBehind)).size).toBeGreaterThan(2);
    }
  });

  it('goes on with the boards when it runs again, counts the earlier runs once, and publishes the next patch', async () => {
    const before = await patches();
    const again = await demo('--seconds', '1');
    expect(again.output).toMatch(/All 4 boards show the tax of 1\.33/);
    expect(again.output).toMatch(/each no worse than what the runs that were sent give/);
    expect(again.code).toBe(0);
    expect(await patches()).toEqual([...before, '1.33']);
  });

  it('leaves a board alone that it did not make', async () => {
    await client.delete('/v1/boards/demo-tea');
    await client.put('/v1/boards/demo-tea', { order: 'asc', operator: 'best', title: 'Mine' });
    const result = await demo('--seconds', '1');
    expect(result.output).toMatch(/"demo-tea" is not as this demo makes it, so it is left alone\. ./);
    expect(result.code).toBe(1);
    expect(result.output).not.toMatch(/ {4}at /);
  });
});
