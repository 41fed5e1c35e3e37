// Real: the built service in one process, and a hundred clients on sockets behind a wire that is cut.
import {
  Dice,
  openTcpProxy,
  seedOfRun,
  startStandalone,
  type RunningStandalone,
  type TcpProxy,
} from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createLadder, type Ladder } from '../../clients/typescript/src/index.js';
import { RestClient } from '../e2e/rest-client.js';

const CLIENTS = 100;
const FIRST_DELAY_MS = 500;
const seed = seedOfRun();

describe(`a hundred clients that are cut at once (SEED=${seed})`, () => {
  let service: RunningStandalone;
  let wire: TcpProxy;
  let admin: RestClient;
  const ladders: Ladder[] = [];
  const opened: number[] = [];

  class TimedSocket extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      opened.push(performance.now());
    }
  }

  beforeAll(async () => {
    service = await startStandalone({ RATE_LIMIT_ADDRESS_PER_SECOND: '0' });
    wire = await openTcpProxy('127.0.0.1', Number(new URL(service.url).port));
    admin = new RestClient(service.url, service.adminKey);
    await admin.makeBoard('blitz', { push: { intervalMs: 100 } });
  });
  afterAll(async () => {
    for (const ladder of ladders) ladder.close();
    await wire?.close();
    await service?.stop();
  });

  it('come back spread over half a second, and each shows what was scored meanwhile', async () => {
    const dice = new Dice(seed);
    const watches = Array.from({ length: CLIENTS }, () => {
      const ladder = createLadder({ url: `http://127.0.0.1:${wire.port}`, WebSocket: TimedSocket, random: dice.next });
      ladders.push(ladder);
      return ladder.board('blitz').watchTop({ limit: 10 }, () => undefined);
    });
    const totals = (): number[] => watches.map(({ list }) => list?.total ?? -1);
    await expect.poll(totals).toEqual(Array(CLIENTS).fill(0));
    opened.length = 0;
    const cutAt = performance.now();
    wire.cut();
    wire.mend();
    await admin.post('/v1/boards/blitz/scores', { playerId: 'ada', score: 5 });
    await expect.poll(totals).toEqual(Array(CLIENTS).fill(1));
    // The first try of each; a wire that was mended in the meantime lets all of them through.
    const delays = opened.map((at) => at - cutAt).sort((a, b) => a - b);
    expect(delays.length).toBe(CLIENTS);
    expect(delays.at(-1)!).toBeGreaterThan(FIRST_DELAY_MS * 0.8);
    const tenths = Array.from({ length: 10 }, (_, tenth) => {
      const from = (tenth * FIRST_DELAY_MS) / 10;
      return delays.filter((ms) => ms >= from && ms < from + FIRST_DELAY_MS / 10).length;
    });
    // Even spread is ten in each; thirty in one would be a crowd.
    expect(Math.max(...tenths), `${tenths.join(' ')}`).toBeLessThan(30);
  });
});
