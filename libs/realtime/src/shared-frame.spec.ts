import { expect, it } from 'vitest';
import { SharedFrame } from './shared-frame.js';

it('is the JSON of its body, with the type and any id in front', () => {
  const frame = new SharedFrame('delta', { seq: 3, changes: [{ playerId: 'São Tomé', rank: 1 }] });
  for (const id of ['1', 'with "quotes" and \\', 'ü\ud83d\ude00', '']) {
    expect(JSON.parse(frame.forId(id).toString())).toEqual({
      type: 'delta',
      id,
      seq: 3,
      changes: [{ playerId: 'São Tomé', rank: 1 }],
    });
  }
});

it('serialises its body once, and gives subscriptions with one id the same bytes', () => {
  let serialised = 0;
  const body = { toJSON: () => ({ seq: (serialised += 1) }) };
  const frame = new SharedFrame('snapshot', body);
  for (let subscriber = 0; subscriber < 1000; subscriber += 1) frame.forId(String(subscriber % 200));
  expect(serialised).toBe(1);
  expect(frame.forId('7')).toBe(frame.forId('7'));
});
