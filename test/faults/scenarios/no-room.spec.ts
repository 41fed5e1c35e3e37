// Real: api, projector and gateway processes on a PostgreSQL whose disk (a small tmpfs) is full, on a Redis that is out of
// memory, and with an outbox at its limit because no projector runs.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { startRedis } from '../../integration/nodes/redis-process.js';
import type { FaultInstallation } from '../installation.js';
import { call, type Answer } from '../call.js';
import { isLong, longOr } from '../chance.js';
import { openPostgres } from '../postgres-session.js';
import { PostgresProcess } from '../postgres-process.js';
import { openRedis } from '../redis-session.js';
import { Scenario } from '../scenario.js';

const DISK_MEGABYTES = 160;
const FULL_MS = longOr(20_000, 8000);
const OUTBOX_EVENTS_MAX = 2000;
const BACK_WITHIN_MS = 60_000;

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

/** A small file system of memory. */
function mountDisk(): { folder: string } | { refusal: string } {
  const folder = mkdtempSync(join(tmpdir(), 'ladder-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MEGABYTES}m,mode=755`, 'tmpfs', folder]);
  if (mounted.status === 0) return { folder };
  rmSync(folder, { recursive: true });
  return { refusal: mounted.error?.message ?? mounted.stderr.toString().trim() };
}

describe('no room for more', () => {
  it(
    'on the disk of PostgreSQL: submissions are refused with 503, and all is whole when there is room again',
    async (test) => {
      const disk = mountDisk();
      if ('refusal' in disk) {
        process.stderr.write(`A full disk is left out, no tmpfs can be mounted (${disk.refusal}); run it as root.\n`);
        return test.skip('no tmpfs can be mounted');
      }
      const { folder } = disk;
      opened.push({ close: () => unmount(folder) });
      const settings = { min_wal_size: '2MB', max_wal_size: '8MB', checkpoint_timeout: '30s' };
      const postgres = await PostgresProcess.start({ folder, walSegmentMegabytes: 1, settings });
      opened.push({ close: () => postgres.remove() });
      const scenario = await Scenario.start({ fault: '8 disk full', log: 'postgres', databaseUrl: postgres.url });
      opened.push({ close: () => scenario.stop() });
      const { load } = scenario;
      const ballast = join(folder, 'ballast');
      let crashes = 0;
      for (let round = 0; round < longOr(4, 1); round += 1) {
        await sleep(2000);
        const refused = load.count(503);
        fill(folder, ballast);
        await expect.poll(() => load.count(503), { timeout: 60_000 }).toBeGreaterThan(refused);
        await sleep(FULL_MS);
        rmSync(ballast);
        // Where there was no room for its log either, PostgreSQL has ended, and its operator starts it.
        if (!postgres.isRunning) crashes += 1;
        await postgres.start();
        const answered = load.answered.size;
        await expect.poll(() => load.answered.size, { timeout: BACK_WITHIN_MS }).toBeGreaterThan(answered);
      }
      await scenario.prove(`disk full, ${load.count(503)} refusals, PostgreSQL ended ${crashes} times`);
    },
    longOr(400_000, 300_000),
  );

  it(
    'in Redis (maxmemory, noeviction): submissions and reads go on, and the ranks catch up',
    async () => {
      const server = await startRedis({ args: ['--maxmemory-policy', 'noeviction'] });
      opened.push({ close: () => server.stop() });
      const scenario = await Scenario.start({ fault: '8 Redis out of memory', log: 'postgres', redisUrl: server.url });
      opened.push({ close: () => scenario.stop() });
      const redis = openRedis(server.url);
      opened.push({ close: () => redis.disconnect() });
      const { load, installation, readers } = scenario;
      for (let round = 0; round < longOr(5, 1); round += 1) {
        await sleep(2000);
        await expect.poll(() => statusOf(installation, 'players/p1'), { timeout: 60_000 }).toBe(200);
        await redis.config('SET', 'maxmemory', '1');
        await expect(redis.set('more', 'x')).rejects.toThrow(/OOM/);
        await sleep(1000);
        readers.take();
        const before = load.answered.size;
        const version = await versionOf(installation, 'players/p1?fallback=last');
        await sleep(FULL_MS);
        const { list, player } = readers.untaken;
        await expect.poll(() => load.answered.size, { message: 'no submission was answered' }).toBeGreaterThan(before);
        await expect.poll(() => list.ok + player.ok, { message: 'nothing was read' }).toBeGreaterThan(0);
        // Nothing can be written: the board stands still, and says so by its version.
        expect(await versionOf(installation, 'players/p1?fallback=last')).toBe(version);
        expect(await versionOf(installation, 'entries?limit=10')).toBeLessThanOrEqual(version);
        await redis.config('SET', 'maxmemory', '0');
      }
      await scenario.prove('maxmemory reached');
      expect(load.count(503) + load.count(0), 'a submission was refused because of Redis').toBe(0);
    },
    longOr(300_000, 300_000),
  );

  it(
    'in the outbox: submissions are refused with OUTBOX_FULL until a projector has made room',
    async () => {
      const settings = { OUTBOX_EVENTS_MAX: String(OUTBOX_EVENTS_MAX) };
      const scenario = await Scenario.start({
        fault: '8 outbox at its limit',
        log: 'postgres',
        settings,
        load: { clients: 10, perSecond: 60 },
      });
      opened.push({ close: () => scenario.stop() });
      const { load, installation } = scenario;
      const projector = installation.projectors[0]!;
      const url = installation.apis[0]!.url;
      const submit = () => {
        const body = { submissionId: `full-${Date.now()}`, playerId: 'p1', score: 1 };
        load.sent.add('faults-best', body);
        return call(`${url}/v1/boards/faults-best/scores`, { method: 'POST', key: installation.adminKey, body });
      };
      await sleep(1000);
      for (let round = 0; round < longOr(4, 1); round += 1) {
        // In the short version its leases are given back, and the next one need not wait for their end.
        await (isLong ? projector.kill() : projector.terminate());
        const refused = load.count(503);
        await expect.poll(() => load.count(503), { timeout: 120_000 }).toBeGreaterThan(refused + 5);
        const { status, headers, body } = await submit();
        expect({ status, code: (body as { code?: string }).code }).toEqual({ status: 503, code: 'OUTBOX_FULL' });
        expect(Number(headers['retry-after'])).toBeGreaterThan(0);
        const waiting = await outboxOf(installation.databaseUrl);
        // Looked at once a second: what is accepted within that second comes on top.
        expect(waiting).toBeGreaterThan(OUTBOX_EVENTS_MAX / 2);
        expect(waiting).toBeLessThan(OUTBOX_EVENTS_MAX * 6);
        await projector.start();
        await expect.poll(async () => (await submit()).status, { timeout: BACK_WITHIN_MS }).toBe(200);
      }
      await scenario.prove(`OUTBOX_EVENTS_MAX=${OUTBOX_EVENTS_MAX}, ${load.count(503)} refusals`);
    },
    longOr(300_000, 300_000),
  );
});

/** Leaves next to nothing of the disk; PostgreSQL may take the last of it meanwhile. */
function fill(folder: string, file: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const chunk = Buffer.alloc(64 * 1024);
  try {
    for (let left = bavail * bsize - 64 * 1024; left > 0; left -= chunk.length) {
      writeFileSync(file, chunk.subarray(0, Math.min(left, chunk.length)), { flag: 'a' });
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

const reading = ({ apis, adminKey }: FaultInstallation, read: string): Promise<Answer> =>
  call(`${apis[0]!.url}/v1/boards/faults-sum/${read}`, { key: adminKey });

const statusOf = async (installation: FaultInstallation, read: string): Promise<number> =>
  (await reading(installation, read)).status;

/** The version of the board that a read shows. */
async function versionOf(installation: FaultInstallation, read: string): Promise<number> {
  const { status, body } = await reading(installation, read);
  expect(status).toBe(200);
  return (body as { boardVersion: number }).boardVersion;
}

async function outboxOf(databaseUrl: string): Promise<number> {
  const database = await openPostgres(databaseUrl);
  try {
    const [row] = await database.query<{ count: string }>('SELECT count(*) FROM outbox');
    return Number(row!.count);
  } finally {
    await database.end();
  }
}

function unmount(folder: string): void {
  spawnSync('umount', ['-l', folder]);
  rmSync(folder, { recursive: true, force: true });
}
