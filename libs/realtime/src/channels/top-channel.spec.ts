import type { RankDelta } from '@laddercast/projections';
import { describe, expect, it } from 'vitest';
import { TopChannel } from './top-channel.js';

const NOW = 10_000;
const present = { seq: NOW, asOfMs: NOW, total: 0, listVersion: 1, depth: 0, entries: [] };
const historySince = (seq: number): RankDelta[] => [
  { seq: NOW, previousSeq: seq, asOfMs: NOW, total: 0, listVersion: 1, depth: 0, changes: [] },
];

describe('readers that resume', () => {
  it('from one number share one frame, until the list moves on', () => {
    const channel = new TopChannel(10, 'ordinal', 'earliest', present);
    const frame = channel.deltaSince(5, historySince(5));
    expect(channel.deltaSince(5, historySince(5))).toBe(frame);
    channel.advance({ ...present, seq: NOW + 1 }, null);
    expect(channel.deltaSince(5, historySince(5))).not.toBe(frame);
  });

  it('from many numbers, under many ids, leave at most some thirty frames, and no copies of them', () => {
    const channel = new TopChannel(10, 'ordinal', 'earliest', present);
    const frames = Array.from({ length: 200 }, (_, seq) => channel.deltaSince(seq, historySince(seq)));
    const again = frames.filter((frame, seq) => channel.deltaSince(seq, historySince(seq)) === frame);
    expect(again.length).toBeGreaterThan(0);
    expect(again.length).toBeLessThanOrEqual(32);
    expect(again[0]!.forId('1')).toEqual(again[0]!.forId('1'));
    expect(again[0]!.forId('1')).not.toBe(again[0]!.forId('1'));
  });
});
