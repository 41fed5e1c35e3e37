import { describe, expect, it } from 'vitest';
import { functionOf, packageOf, selfTimes } from './self-time.js';

const frame = (functionName: string, url = '', lineNumber = 0) => ({ functionName, url, lineNumber });
const profile = {
  nodes: [
    { id: 1, callFrame: frame('(root)') },
    { id: 2, callFrame: frame('submit', 'file:///app/dist/libs/ledger/src/submissions/ledger.js', 9) },
    { id: 3, callFrame: frame('(idle)') },
    { id: 4, callFrame: frame('', 'file:///app/node_modules/@nestjs/core/router.js', 4) },
  ],
  samples: [2, 3, 4, 2],
  timeDeltas: [7, 1000, 5000, 2000, 3000],
};

describe('self time of a profile', () => {
  it('is what each function took until the next sample, without the idle time', () => {
    const { busyMs, idleMs, rows } = selfTimes(profile, functionOf('/app'));
    expect([busyMs, idleMs]).toEqual([6, 5]);
    expect(rows).toEqual([
      { name: 'submit dist/libs/ledger/src/submissions/ledger.js:10', ms: 4, part: 4 / 6 },
      { name: '(anonymous) node_modules/@nestjs/core/router.js:5', ms: 2, part: 2 / 6 },
    ]);
  });

  it.each([
    [frame('f', 'file:///app/node_modules/a/node_modules/@x/b/i.js'), '@x/b'],
    [frame('f', 'file:///app/dist/apps/api/src/main.js'), 'apps/api'],
    [frame('f', 'node:internal/streams/writable'), 'node:internal'],
    [frame('(garbage collector)'), '(garbage collector)'],
    [frame('writev'), '(native)'],
  ])('is counted by package: %j', (callFrame, name) => {
    expect(packageOf('/app')(callFrame)).toBe(name);
  });
});
