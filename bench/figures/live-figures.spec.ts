import { describe, expect, it } from 'vitest';
import { quantile, slope, spread, table } from './live-figures.js';
import { openLoop } from '../load/post.js';
import { fromHistogram } from '../parts/sockets.js';
import { phasesOf } from '../profiles/startup-phases.js';

describe('figures', () => {
  it('are quantiles by rank, whatever the order', () => {
    const values = [5, 1, 4, 2, 3];
    expect([0, 0.5, 0.99, 1].map((part) => quantile(values, part))).toEqual([1, 3, 5, 5]);
    expect(quantile([], 0.5)).toBeNaN();
    expect(spread([3, 1, 2], String)).toBe('1 / 2 / 3');
    expect(fromHistogram([0, 98, 0, 2], 0.5)).toBe(2);
    expect(fromHistogram([0, 98, 0, 2], 0.99)).toBe(4);
  });

  it('are sloped as the least squares say', () => {
    expect(slope([[0, 1], [1, 3], [2, 5]])).toBeCloseTo(2); // prettier-ignore
    expect(slope([[0, 4], [1, 4], [5, 4]])).toBe(0); // prettier-ignore
  });

  it('stand in tables', () => {
    expect(table(['a', 'long'], [['value', 1]])).toBe('| a     | long |\n| ----- | ---- |\n| value | 1    |');
  });
});

describe('an open loop', () => {
  it('goes on while calls hang, and says when each was due', async () => {
    const due = [];
    const { sent, lateMs } = await openLoop({
      perSecond: 200,
      seconds: 0.1,
      next: (dueAt) => {
        due.push(dueAt);
        return new Promise((resolve) => setTimeout(resolve, 100));
      },
    });
    expect(sent).toBe(20);
    expect(due.at(-1) - due[0]).toBeCloseTo(95, 5);
    expect(lateMs).toBeLessThan(80);
  });

  it('fails with its first call that fails', async () => {
    const next = () => Promise.reject(new Error('refused'));
    await expect(openLoop({ perSecond: 100, seconds: 1, next })).rejects.toThrow('refused');
  });
});

describe('phases of a start', () => {
  it('are told apart by what is first seen running', () => {
    const frame = (functionName, url) => ({ functionName, url, lineNumber: 0 });
    const nodes = [
      { id: 1, callFrame: frame('(root)', ''), children: [2, 3, 6] },
      { id: 2, callFrame: frame('load', 'node:internal/modules/esm/loader') },
      {
        id: 3,
        callFrame: frame('startApp', 'file:///x/dist/libs/leaderboard/src/process/start-app.js'),
        children: [4],
      },
      {
        id: 4,
        callFrame: frame('createApp', 'file:///x/dist/libs/leaderboard/src/process/start-app.js'),
        children: [5],
      },
      { id: 5, callFrame: frame('scan', 'file:///x/node_modules/@nestjs/core/scanner.js') },
      { id: 6, callFrame: frame('(idle)', '') },
    ];
    const profile = {
      startTime: 205_000,
      nodes,
      samples: [2, 2, 3, 5, 6, 5],
      timeDeltas: [1000, 99_000, 1000, 9000, 20_000, 10_000],
    };
    const { phases, busiest } = phasesOf(profile, { madeAtMs: 200, readyAtMs: 345 });
    expect(phases.map(({ name, ms, idleMs }) => [name, ms, idleMs])).toEqual([
      ['Node itself', 5, 0],
      ['imports', 101, 0],
      ['settings and tracing', 9, 0],
      ['modules and providers', 30, 20],
    ]);
    expect(busiest.slice(0, 2)).toEqual([
      { name: 'node:internal/modules/esm', ms: 100 },
      { name: '@nestjs/core', ms: 19 },
    ]);
  });
});
