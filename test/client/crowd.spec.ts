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
/** A timer may ring so much before its time. */
const TIMER_EARLY_MS = 2;
const seed = seedOfRun();

/** A client, and what it did: when its sockets were opened and closed, and what it drew. */
interface Member {
  ladder: Ladder;
  opened: number[];
  closed: number[];
  drawn: number[];
}

function memberOf(port: number, dice: Dice): Member {
  class TimedSocket extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      member.opened.push(performance.now());
      this.on('close', () => member.closed.push(performance.now()));
    }
  }
  const random = (): number => {
    const part = dice.next();
    member.drawn.push(part);
    return part;
  };
  const ladder = createLadder({ url: `http://127.0.0.1:${port}`, WebSocket: TimedSocket, random });
  const member: Member = { ladder, opened: [], closed: [], drawn: [] };
  return member;
}

describe(`a hundred clients that are cut at once (SEED=${seed})`, () => {
  let service: RunningStandalone;
  let wire: TcpProxy;
  let admin: RestClient;
  const crowd: Member[] = [];

  beforeAll(async () => {
    service = await startStandalone({ RATE_LIMIT_ADDRESS_PER_SECOND: '0' });
    wire = await openTcpProxy('127.0.0.1', Number(new URL(service.url).port));
    admin = new RestClient(service.url, service.adminKey);
    await admin.makeBoard('blitz', { push: { intervalMs: 100 } });
  });
  afterAll(async () => {
    for (const { ladder } of crowd) ladder.close();
    await wire?.close();
    await service?.stop();
  });

  it('come back spread over half a second, and each shows what was scored meanwhile', async () => {
    const dice = new Dice(seed);
    for (let at = 0; at < CLIENTS; at += 1) crowd.push(memberOf(wire.port, dice));
    const watches = crowd.map(({ ladder }) => ladder.board('blitz').watchTop({ limit: 10 }, () => undefined));
    const totals = (): number[] => watches.map(({ list }) => list?.total ?? -1);
    await expect.poll(totals).toEqual(Array(CLIENTS).fill(0));
    for (const member of crowd) Object.assign(member, { drawn: [], opened: [], closed: [] });
    wire.cut();
    wire.mend();
    await admin.post('/v1/boards/blitz/scores', { playerId: 'ada', score: 5 });
    await expect.poll(totals).toEqual(Array(CLIENTS).fill(1));
    // One try of each, as a wire that was mended in the meantime lets all of them through; each after its own part of the half
    // second, and those parts are of chance.
    for (const { opened, closed, drawn } of crowd) {
      expect([opened.length, drawn.length]).toEqual([1, 1]);
      expect(opened[0]! - closed[0]!).toBeGreaterThan(drawn[0]! * FIRST_DELAY_MS - TIMER_EARLY_MS);
    }
  });
});
