// Real: one process of each; its data are falsified by hand, each time in one way, to see the audit notice it.
import { requiredService } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { audit, type AuditResult } from './audit.js';
import { makeBoards } from './boards.js';
import { Chance } from './chance.js';
import { FaultInstallation } from './installation.js';
import { Load, type Answered } from './load.js';
import { openPostgres, type PostgresSession } from './postgres-session.js';
import { openRedis } from './redis-session.js';
import { openSpectators, type Spectator } from './spectators.js';

const BOARDS = ['faults-sum', 'faults-best', 'faults-range'] as const;
const PLAYERS = 20;
/** Submissions that the audit looks at, at least. */
const ANSWERED_MIN = 100;
const WHOLE_WITHIN_MS = 60_000;

describe('the audit of the fault tests', () => {
  let installation: FaultInstallation;
  let spectators: Spectator[];
  let answered: Answered[];
  let database: PostgresSession;
  let redis: ReturnType<typeof openRedis>;

  beforeAll(async () => {
    installation = await FaultInstallation.start({ log: 'postgres', gateways: 2 });
    await makeBoards(installation, BOARDS);
    const chance = new Chance(1);
    spectators = openSpectators(installation, { boards: BOARDS, players: PLAYERS, chance });
    const load = Load.start(installation, { clients: 4, boards: BOARDS, players: PLAYERS, seed: 1, perSecond: 50 });
    await vi.waitUntil(() => load.answered.size > ANSWERED_MIN, { timeout: 60_000 });
    answered = await load.stop();
    expect(load.wrong).toEqual([]);
    database = await openPostgres(installation.databaseUrl);
    redis = openRedis(requiredService('TEST_REDIS_URL'));
  });
  afterAll(async () => {
    for (const spectator of spectators ?? []) spectator.close();
    redis?.disconnect();
    await database?.end();
    await installation?.stop();
  });

  const look = (withinMs = 500): Promise<AuditResult> => audit(installation, answered, spectators, { withinMs });

  it('finds nothing where nothing is wrong', async () => {
    const result = await look(WHOLE_WITHIN_MS);
    expect(result).toMatchObject({ lost: [], doubled: [], faults: [], boards: 5, spectators: 26 });
    expect(result.answered).toBeGreaterThan(ANSWERED_MIN);
  });

  it('misses a submission that was answered and is not in PostgreSQL', async () => {
    const { board, submissionId } = answered[0]!;
    const of = 'submission_id = $2 AND board_uid = (SELECT board_uid FROM boards WHERE board_id = $1)';
    await database.query(`CREATE TEMP TABLE saved AS SELECT * FROM submissions LIMIT 0`);
    await database.query(`INSERT INTO saved SELECT * FROM submissions WHERE ${of}`, [board, submissionId]);
    await database.query(`DELETE FROM submissions WHERE ${of}`, [board, submissionId]);
    expect((await look()).lost).toEqual([`${board}/${submissionId}`]);
    await database.query('INSERT INTO submissions SELECT * FROM saved');
  });

  it('sees a run that was counted twice', async () => {
    const { playerId, score } = answered.find(({ board }) => board === 'faults-sum')!;
    const add = (sum: number): Promise<unknown> =>
      database.query(
        `UPDATE entries SET score = score + $2 WHERE player_id = $1
           AND board_uid = (SELECT board_uid FROM boards WHERE board_id = 'faults-sum')`,
        [playerId, sum],
      );
    await add(score);
    expect((await look()).doubled.join()).toContain(`faults-sum alltime has`);
    await add(-score);
  });

  it('sees a place that is wrong in Redis, and a member that is missing, which comes back by itself', async () => {
    // Without a projector nothing is mended, and no snapshot is made of what is wrong.
    const [projector] = installation.projectors;
    await projector!.kill();
    const key = await unwatchedShard();
    const [member, score] = (await redis.zrangeBuffer(key, 0, 0, 'WITHSCORES')) as [Buffer, Buffer];
    await redis.zadd(key, Number(score.toString()) + 1000, member);
    const misplaced = (await look()).faults;
    expect(misplaced.length).toBeGreaterThan(0);
    expect(misplaced.filter((fault) => !fault.startsWith('faults-best daily'))).toEqual([]);
    await redis.zadd(key, score, member);
    await redis.zrem(key, member);
    expect((await look()).faults.join()).toMatch(/faults-best daily.*lookups answered 503/);
    await projector!.start();
    expect((await look(WHOLE_WITHIN_MS)).faults).toEqual([]);
    expect(Number(await redis.zscore(key, member))).toBe(Number(score.toString()));
  });

  it('sees dense ranks that are counted wrongly', async () => {
    const [projector] = installation.projectors;
    await projector!.kill();
    const [window] = await database.query<{ board: number; uid: number }>(
      `SELECT board_uid AS board, window_uid AS uid FROM windows JOIN boards USING (board_uid) WHERE board_id = 'faults-range'`,
    );
    const keys = await redis.keys(`*{${window!.board}.${window!.uid}.0.*}*:u`);
    const values = await Promise.all(keys.map(async (key) => ({ key, count: await redis.zcard(key) })));
    // The best of those of a shard is what all others of it, and of those behind it, are counted by.
    const { key } = values.find(({ count }) => count > 1)!;
    const [value, score] = (await redis.zrangeBuffer(key, 0, 0, 'WITHSCORES')) as [Buffer, Buffer];
    await redis.zrem(key, value);
    const { faults } = await look();
    expect(faults.filter((fault) => !/^faults-range alltime at .*, dense/.test(fault))).toEqual([]);
    expect(faults.length).toBeGreaterThan(0);
    await redis.zadd(key, score, value);
    await projector!.start();
    expect((await look(WHOLE_WITHIN_MS)).faults).toEqual([]);
  });

  it('sees a spectator that holds another list, and one that is cut off', async () => {
    const spectator = spectators[0]!;
    const [playerId, row] = [...spectator.held.rows][0]!;
    spectator.held.rows.delete(playerId);
    expect((await look()).faults.join()).toContain('spectator {"channel":"top"');
    spectator.held.rows.set(playerId, row);
    expect((await look(WHOLE_WITHIN_MS)).faults).toEqual([]);
    spectator.held.states.set(spectator.held.seq, 'another');
    expect((await look()).faults.join()).toContain('was shown in two ways');
    spectator.close();
    expect((await look()).faults.join()).toContain('is not connected');
  });

  /** The ranks in Redis of a list that no spectator watches: none holds what is falsified. */
  async function unwatchedShard(): Promise<string> {
    const [window] = await database.query<{ board: number; uid: number }>(
      `SELECT board_uid AS board, window_uid AS uid FROM windows WHERE kind = 'daily' ORDER BY starts_at DESC LIMIT 1`,
    );
    const [key] = await redis.keys(`*{${window!.board}.${window!.uid}.0.0}*:z`);
    return key!;
  }
});
