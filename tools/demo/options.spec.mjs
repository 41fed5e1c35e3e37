import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readOptions } from './options.mjs';

const nowMs = Date.UTC(2026, 10, 20, 18);
let root;
const read = (args = [], env = {}, at = nowMs) => readOptions(args, { root, env, nowMs: at });

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ladder-demo-'));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

describe('the options of the demo', () => {
  it('start a new replay thirty seconds before now', () => {
    expect(read().replay).toEqual({
      id: expect.stringMatching(/^r[0-9a-z]{8}$/),
      startsAtMs: nowMs - 30_000,
      isNew: true,
    });
  });

  it('know the start of a replay by its id, on any machine and day', () => {
    const { id, startsAtMs } = read().replay;
    expect(read(['--replay', id], {}, nowMs + 86_400_000).replay).toEqual({ id, startsAtMs, isNew: false });
  });

  it('remember when a replay with a name was first played', () => {
    const first = read(['--replay', 'cup-final']).replay;
    expect(first.startsAtMs).toBe(nowMs - 30_000);
    expect(read(['--replay', 'cup-final'], {}, nowMs + 60_000).replay).toEqual(first);
  });

  it('find the address and the key that npm start keeps', () => {
    mkdirSync(join(root, '.data'));
    writeFileSync(join(root, '.data/address'), 'http://localhost:3001/\n');
    writeFileSync(join(root, '.data/admin-key'), 'kept\n');
    expect(read()).toMatchObject({ url: 'http://localhost:3001/', key: 'kept' });
    expect(read([], { LADDER_URL: 'http://a', LADDER_KEY: 'mine' })).toMatchObject({ url: 'http://a', key: 'mine' });
    expect(read(['--url', 'http://b'], { LADDER_URL: 'http://a' }).url).toBe('http://b');
  });

  it('without anything kept are the defaults', () => {
    expect(read()).toMatchObject({ url: 'http://127.0.0.1:3000', key: null, matchesPerSecond: 400, limit: Infinity });
    expect(read(['--speed', 'max']).matchesPerSecond).toBe(Infinity);
  });

  it.each([
    [['--speed', 'fast'], /--speed/],
    [['--limit', '0'], /--limit/],
    [['--replay', 'a b'], /--replay/],
    [['--what'], /Usage/],
    [['--patches', '--speed', 'max'], /--speed does not go with --patches/],
    [['--seed', '2'], /--seed does not go without --patches/],
    [['--patches', '--seconds', '0'], /--seconds/],
    [['--patches', '--seconds', '3601'], /--seconds/],
    [['--patches', '--seed', '1.5'], /--seed/],
  ])('%j is refused with what is wrong', (args, message) => {
    expect(() => read(args)).toThrow(message);
  });
});
