import { describe, expect, it } from 'vitest';
import { PackedArray } from './redis-packed-array.js';

describe('an array for scripts', () => {
  it('is MessagePack, byte by byte', () => {
    const array = new PackedArray(4);
    array.number(70_000);
    array.text('é');
    array.bytes(Buffer.from([0, 255]));
    array.text('');
    expect(array.packed().toString('hex')).toBe('dd00000004' + 'ce00011170' + 'd902c3a9' + 'd90200ff' + 'd900');
  });

  it('grows as needed, and writes long texts with a 32-bit length', () => {
    const array = new PackedArray(2);
    const long = 'x'.repeat(256);
    array.text('y'.repeat(255));
    array.text(long);
    const packed = array.packed();
    expect(packed.length).toBe(5 + 2 + 255 + 5 + 256);
    expect(packed.subarray(5, 7).toString('hex')).toBe('d9ff');
    expect(packed.subarray(262, 267).toString('hex')).toBe('db00000100');
    expect(packed.toString('latin1', 267)).toBe(long);
  });
});
