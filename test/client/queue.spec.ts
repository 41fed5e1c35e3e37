// Real: the built service in one process behind a wire that breaks, files, and programs that are killed.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Dice,
  openTcpProxy,
  seedOfRun,
  startStandalone,
  type RunningStandalone,
  type TcpProxy,
} from '@laddercast/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLadder, type Ladder, type LadderOptions, type Settled } from '../../clients/typescript/src/index.js';
import { fileStorage } from '../../clients/typescript/src/node.js';
import { memoryStorage } from '../../clients/typescript/src/queue/storage.js';
import { RestClient } from '../e2e/rest-client.js';

interface ClientBuilder {
  bundleClient(entry: 'index' | 'rest' | 'node'): Promise<string>;
}

const KILLS = 12;
const seed = seedOfRun();
const tools = new URL('../../tools/client.mjs', import.meta.url).href;
const { bundleClient } = (await import(/* @vite-ignore */ tools)) as ClientBuilder;

describe(`the queue on a service (SEED=${seed})`, () => {
  let service: RunningStandalone;
  let wire: TcpProxy;
  let admin: RestClient;
  let folder: string;
  let boards = 0;
  const ladders: Ladder[] = [];

  beforeAll(async () => {
    service = await startStandalone();
    wire = await openTcpProxy('127.0.0.1', Number(new URL(service.url).port));
    admin = new RestClient(service.url, service.adminKey);
    folder = await mkdtemp(join(tmpdir(), 'ladder-queue-'));
    await writeFile(join(folder, 'index.mjs'), await bundleClient('index'));
    await writeFile(join(folder, 'node.mjs'), await bundleClient('node'));
  });
  afterEach(() => {
    for (const ladder of ladders.splice(0)) ladder.close();
  });
  afterAll(async () => {
    await wire?.close();
    await service?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const makeBoard = (definition: object = {}): Promise<string> =>
    admin.makeBoard(`queue-${(boards += 1)}`, { operator: 'sum', ...definition });

  function ladderOf(options: Partial<LadderOptions> = {}): { ladder: Ladder; ended: Settled[] } {
    const url = `http://127.0.0.1:${wire.port}`;
    // Waits a tenth of what it would: a round is to take seconds.
    const ladder = createLadder({ url, token: service.adminKey, random: () => Math.random() / 10, ...options });
    ladders.push(ladder);
    const ended: Settled[] = [];
    ladder.queue.onSettled((one) => ended.push(one));
    return { ladder, ended };
  }

  /** What each player has; every score is 1, so that what counted twice shows. */
  async function scoresOn(board: string): Promise<Map<string, number>> {
    const scores = new Map<string, number>();
    let path: string | null = `/v1/boards/${board}/entries?cursor=start&limit=500`;
    while (path !== null) {
      const { body } = await admin.get(path);
      const page = body as { entries: { playerId: string; score: number }[]; next: string | null };
      for (const { playerId, score } of page.entries) scores.set(playerId, score);
      path = page.next;
    }
    return scores;
  }

  /** Each of these players has exactly 1, and nobody else has anything. */
  async function expectOnce(board: string, players: readonly string[]): Promise<void> {
    const expected = new Map([...players].sort().map((player) => [player, 1]));
    await expect.poll(async () => new Map([...(await scoresOn(board))].sort())).toEqual(expected);
  }

  it('loses nothing and counts nothing twice over programs that are killed, and answers that get lost', async () => {
    const board = await makeBoard();
    const storage = join(folder, 'killed');
    const program = `
      import { createLadder } from './index.mjs';
      import { fileStorage } from './node.mjs';
      const [url, token, board, storage, first] = process.argv.slice(2);
      const ladder = createLadder({ url, token, storage: fileStorage(storage), random: () => Math.random() / 10 });
      for (let at = Number(first); ; at += 1) {
        await ladder.queue.submit(board, { playerId: 'p' + at, score: 1 });
        process.stdout.write('p' + at + '\\n');
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 15));
      }`;
    await writeFile(join(folder, 'program.mjs'), program);
    const dice = new Dice(seed);
    const taken: string[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const args = [`http://127.0.0.1:${wire.port}`, service.adminKey, board, storage, String(kill * 1000)];
      const child: ChildProcess = spawn(process.execPath, [join(folder, 'program.mjs'), ...args], { cwd: folder });
      let output = '';
      child.stdout!.on('data', (chunk: Buffer) => (output += chunk.toString()));
      child.stderr!.on('data', (chunk: Buffer) => process.stderr.write(chunk));
      await once(child.stdout!, 'data');
      // An answer that gets lost: it arrived, and the program does not know.
      if (dice.isUnder(0.7)) void wire.cutAfter('"submissions"');
      await sleep(100 + dice.below(700));
      child.kill('SIGKILL');
      await once(child, 'exit');
      // The last line may have been cut in two.
      taken.push(...output.split('\n').slice(0, -1));
    }
    expect(taken.length).toBeGreaterThan(KILLS * 5);
    const { ladder, ended } = ladderOf({ storage: fileStorage(storage) });
    const waits = async (): Promise<number> => {
      await ladder.queue.flush();
      return ladder.queue.size;
    };
    await expect.poll(waits, { timeout: 60_000, interval: 500 }).toBe(0);
    expect(ended.filter(({ outcome }) => outcome !== 'settled')).toEqual([]);
    expect((await readdir(storage)).filter((file) => !file.endsWith('.part'))).toEqual([]);
    // What was stored, and not yet said to be, may have counted as well, and once.
    await expect.poll(async () => [...(await scoresOn(board)).values()].filter((score) => score !== 1)).toEqual([]);
    await expect
      .poll(async () => {
        const counted = await scoresOn(board);
        return taken.filter((player) => !counted.has(player));
      })
      .toEqual([]);
    process.stdout.write(`Queued: ${taken.length}, counted: ${(await scoresOn(board)).size}\n`);
  });

  it('of two tabs sends each score once', async () => {
    const board = await makeBoard();
    const storage = memoryStorage();
    const tabs = [ladderOf({ storage }), ladderOf({ storage })];
    const players = Array.from({ length: 120 }, (_, at) => `p${at}`);
    for (const [at, playerId] of players.entries()) {
      await tabs[at % 2]!.ladder.queue.submit(board, { playerId, score: 1 });
      if (at % 10 === 0) void wire.cutAfter('"submissions"');
      if (at % 10 === 5) await sleep(60);
    }
    await expect.poll(async () => (await storage.keys('laddercast')).length, { timeout: 60_000 }).toBe(0);
    expect(tabs.flatMap(({ ended }) => ended).every(({ outcome }) => outcome === 'settled')).toBe(true);
    await expectOnce(board, players);
  });

  it('gets everything through limits, in its time', async () => {
    const slow = await startStandalone({ RATE_LIMIT_KEY_PER_SECOND: '10' });
    try {
      const client = new RestClient(slow.url, slow.adminKey);
      await client.makeBoard('slow', { operator: 'sum' });
      const { ladder, ended } = ladderOf({ url: slow.url, token: slow.adminKey });
      for (let at = 0; at < 80; at += 1) await ladder.queue.submit('slow', { playerId: `p${at}`, score: 1 });
      await expect.poll(() => ended.length, { timeout: 60_000 }).toBe(80);
      expect(ended.every(({ outcome, result }) => outcome === 'settled' && result?.replayed === false)).toBe(true);
    } finally {
      await slow.stop();
    }
  });

  it('tells what came too late for its window, and keeps the time of play of what did not', async () => {
    const endsAt = Date.now() + 6000;
    const season = {
      season: 's1',
      startsAt: new Date(endsAt - 3_600_000).toISOString(),
      endsAt: new Date(endsAt).toISOString(),
    };
    const closing = await makeBoard({ windows: [season], graceSeconds: 0 });
    const staying = await makeBoard({ operator: 'latest' });
    const { ladder, ended } = ladderOf();
    await ladder.board(staying).definition();
    wire.cut();
    try {
      const queuedAt = Date.now();
      await ladder.queue.submit(closing, { submissionId: 'late', playerId: 'ada', score: 1 });
      await ladder.queue.submit(staying, { submissionId: 'kept', playerId: 'ada', score: 1 });
      await sleep(endsAt - Date.now() + 1500);
      wire.mend();
      await expect.poll(() => ended.length, { timeout: 60_000 }).toBe(2);
      const of = (id: string): Settled => ended.find(({ item }) => item.submissionId === id)!;
      expect(of('late')).toMatchObject({ outcome: 'refused', problem: { code: 'WINDOW_CLOSED' } });
      expect(of('kept')).toMatchObject({ outcome: 'settled', item: { timeIsKept: true } });
      await expect.poll(async () => (await scoresOn(staying)).size).toBe(1);
      const { body } = await admin.get(`/v1/boards/${staying}/players/ada`);
      const { entry } = body as { entry: { achievedAt: string } };
      expect(Math.abs(Date.parse(entry.achievedAt) - queuedAt)).toBeLessThan(2000);
    } finally {
      wire.mend();
    }
  });
});
