import { expect, it } from 'vitest';
import { SharedFrame } from './shared-frame.js';

/** What a client reads of a text frame on the wire (RFC 6455, section 5.2). */
function readBack(frame: Buffer): string {
  expect(frame[0]).toBe(0x81);
  const short = frame[1]!;
  if (short < 126) return payload(frame, 2, short);
  return short === 126
    ? payload(frame, 4, frame.readUInt16BE(2))
    : payload(frame, 10, Number(frame.readBigUInt64BE(2)));
}

function payload(frame: Buffer, from: number, bytes: number): string {
  expect(frame.length - from).toBe(bytes);
  return frame.toString('utf8', from);
}

it('is the JSON of its body, with the type and any id in front', () => {
  const frame = new SharedFrame('delta', { seq: 3, changes: [{ playerId: 'São Tomé', rank: 1 }] });
  for (const id of ['1', 'with "quotes" and \\', 'ü\ud83d\ude00', '']) {
    expect(JSON.parse(readBack(frame.forId(id)))).toEqual({
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

it('is one WebSocket text frame, however long', () => {
  const bodyOf = (bytes: number): { text: string } => ({ text: 'x'.repeat(bytes) });
  const around = JSON.stringify({ type: 'delta', id: '1', ...bodyOf(0) }).length;
  for (const bytes of [around, 125, 126, 127, 65_535, 65_536, 200_000]) {
    const body = bodyOf(bytes - around);
    const text = readBack(new SharedFrame('delta', body).forId('1'));
    expect(text).toBe(JSON.stringify({ type: 'delta', id: '1', ...body }));
    expect(text).toHaveLength(bytes);
  }
});
