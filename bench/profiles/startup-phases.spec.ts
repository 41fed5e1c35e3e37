import { describe, expect, it } from 'vitest';
import { phasesOf } from './startup-phases.js';

describe('phases of a start', () => {
  it('are told apart by what is first seen running', () => {
    const frame = (functionName: string, url: string) => ({ functionName, url, lineNumber: 0 });
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
