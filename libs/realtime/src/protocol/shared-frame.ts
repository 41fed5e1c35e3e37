/** The most finished copies kept for one frame; clients of one kind tend to use the same few ids. */
const COPIES_MAX = 64;

/**
 * A frame that many subscriptions get: its body is serialised once, and each subscription's id is set in front.
 * Subscriptions with the same id share one buffer.
 */
export class SharedFrame {
  private readonly copies = new Map<string, Buffer>();
  private readonly tail: Buffer;

  /**
   * @param body what follows `type` and `id`; it must have at least one member
   * @param copiesMax 0 for a frame with few readers
   */
  constructor(
    readonly type: 'snapshot' | 'delta' | 'rating',
    body: object,
    private readonly copiesMax = COPIES_MAX,
  ) {
    this.tail = Buffer.from(`,${JSON.stringify(body).slice(1)}`);
  }

  /** The complete frame for a subscription: a WebSocket text frame of UTF-8 JSON. */
  forId(id: string): Buffer {
    const known = this.copies.get(id);
    if (known) return known;
    const head = Buffer.from(`{"type":"${this.type}","id":${JSON.stringify(id)}`);
    const frame = Buffer.concat([textFrameHead(head.length + this.tail.length), head, this.tail]);
    if (this.copies.size < this.copiesMax) this.copies.set(id, frame);
    return frame;
  }
}

/** A finished frame of a text, for any number of sockets. */
export function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  return Buffer.concat([textFrameHead(payload.length), payload]);
}

const FINAL_TEXT = 0x81;
const LENGTH_IN_16_BITS = 126;
const LENGTH_IN_64_BITS = 127;

/** The header of an unmasked text frame of so many bytes (RFC 6455, section 5.2). */
export function textFrameHead(bytes: number): Buffer {
  if (bytes < LENGTH_IN_16_BITS) return Buffer.from([FINAL_TEXT, bytes]);
  if (bytes <= 0xffff) return Buffer.from([FINAL_TEXT, LENGTH_IN_16_BITS, bytes >> 8, bytes & 0xff]);
  const head = Buffer.alloc(10);
  head[0] = FINAL_TEXT;
  head[1] = LENGTH_IN_64_BITS;
  head.writeBigUInt64BE(BigInt(bytes), 2);
  return head;
}
