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
   * @param copiesMax 0 for a frame that few get
   */
  constructor(
    readonly type: 'snapshot' | 'delta',
    body: object,
    private readonly copiesMax = COPIES_MAX,
  ) {
    this.tail = Buffer.from(`,${JSON.stringify(body).slice(1)}`);
  }

  /** The whole frame for a subscription, as UTF-8 JSON. */
  forId(id: string): Buffer {
    const known = this.copies.get(id);
    if (known) return known;
    const frame = Buffer.concat([Buffer.from(`{"type":"${this.type}","id":${JSON.stringify(id)}`), this.tail]);
    if (this.copies.size < this.copiesMax) this.copies.set(id, frame);
    return frame;
  }
}
