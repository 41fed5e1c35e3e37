/** What a number or a length takes at most, beside content. */
const HEAD_BYTES_MAX = 5;
const ARRAY_32 = 0xdd;
const UINT_32 = 0xce;
const STRING_8 = 0xd9;
const STRING_32 = 0xdb;
const LENGTH_8_MAX = 255;
/** More than most items take: the array seldom has to grow. */
const ITEM_BYTES = 16;

/**
 * An array in MessagePack (array 32, uint 32, str 8, str 32), which scripts read by `cmsgpack.unpack`: one argument that
 * costs client and server far less than thousands of them.
 */
export class PackedArray {
  private buffer: Buffer;
  private at = HEAD_BYTES_MAX;

  /** @param items how many follow */
  constructor(items: number) {
    this.buffer = Buffer.allocUnsafe(HEAD_BYTES_MAX + ITEM_BYTES * items);
    this.buffer[0] = ARRAY_32;
    this.buffer.writeUInt32BE(items, 1);
  }

  /** @param value whole, from 0 to 2^32 − 1 */
  number(value: number): void {
    this.makeRoom(HEAD_BYTES_MAX);
    this.buffer[this.at] = UINT_32;
    this.at = this.buffer.writeUInt32BE(value, this.at + 1);
  }

  /** As UTF-8. */
  text(value: string): void {
    const length = Buffer.byteLength(value);
    this.head(length);
    this.at += this.buffer.write(value, this.at, length);
  }

  bytes(value: Buffer): void {
    this.head(value.length);
    this.at += value.copy(this.buffer, this.at);
  }

  /** What was written so far. */
  packed(): Buffer {
    return this.buffer.subarray(0, this.at);
  }

  private head(length: number): void {
    this.makeRoom(HEAD_BYTES_MAX + length);
    if (length <= LENGTH_8_MAX) {
      this.buffer[this.at] = STRING_8;
      this.buffer[this.at + 1] = length;
      this.at += 2;
    } else {
      this.buffer[this.at] = STRING_32;
      this.at = this.buffer.writeUInt32BE(length, this.at + 1);
    }
  }

  private makeRoom(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.at + bytes));
    this.buffer.copy(larger, 0, 0, this.at);
    this.buffer = larger;
  }
}
