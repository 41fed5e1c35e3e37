import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tryLock } from './lock.mjs';
import { identityOf } from './process-identity.mjs';

const lockModule = fileURLToPath(new URL('./lock.mjs', import.meta.url));
let folder;
let path;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-spec-'));
  path = join(folder, 'start.lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a lock', () => {
  it('names the living process that has it, and is free once released', () => {
    const first = tryLock(path);
    expect(tryLock(path)).toEqual({ holder: process.pid });
    first.release();
    expect(tryLock(path).release).toBeTypeOf('function');
  });

  it('is taken over from a process that was killed', () => {
    const script = `import { tryLock } from ${JSON.stringify(lockModule)}; tryLock(${JSON.stringify(path)}); process.kill(process.pid, 'SIGKILL');`;
    expect(spawnSync(process.execPath, ['--input-type=module', '-e', script]).signal).toBe('SIGKILL');
    expect(tryLock(path).release).toBeTypeOf('function');
  });

  it('is taken over when the pid of a dead holder belongs to another process now', () => {
    writeFileSync(path, JSON.stringify({ pid: process.pid, identity: 'another-boot/1' }));
    expect(identityOf(process.pid)).not.toBeNull();
    expect(tryLock(path).release).toBeTypeOf('function');
  });

  it('goes to exactly one of many processes that find a dead holder at once', async () => {
    writeFileSync(path, JSON.stringify({ pid: 999_999_999, identity: 'dead' }));
    const script = `import { tryLock } from ${JSON.stringify(lockModule)};
      console.log(tryLock(${JSON.stringify(path)}).release ? 'got it' : 'not');
      setTimeout(() => {}, 120_000);`;
    const children = Array.from({ length: 6 }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    const answers = await Promise.all(children.map(async ({ stdout }) => String(await once(stdout, 'data')).trim()));
    for (const child of children) child.kill('SIGKILL');
    expect(answers.filter((answer) => answer === 'got it')).toHaveLength(1);
  });
});
