import { toTimestamp } from '@laddercast/platform';
import type { LiveSocket } from '../connection/live-socket.js';
import { textFrame } from '../protocol/shared-frame.js';

/** Into how many parts the sockets are split: a part is written at a time, so that no write is of all sockets at once. */
const PARTS = 50;

/**
 * Says to each socket, every `everyMs`, that the connection lives, and as of when what it follows is as it was told. Sockets
 * that follow the same lists get the same prepared frame. A reader that is behind is told nothing: frames wait for it anyway.
 */
export class AlivePings {
  private readonly parts = Array.from({ length: PARTS }, () => new Set<LiveSocket>());
  private readonly partOf = new Map<LiveSocket, Set<LiveSocket>>();
  private timer: NodeJS.Timeout | null = null;
  private next = 0;

  /** @param asOfMs the moment, Unix ms, as of which all lists that a socket follows are known */
  constructor(
    private readonly everyMs: number,
    private readonly asOfMs: (socket: LiveSocket) => number,
  ) {}

  start(): void {
    this.timer ??= setInterval(() => this.pingPart(), Math.max(1, this.everyMs / PARTS));
  }

  stop(): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }

  /** Its first ping comes within `everyMs`. */
  add(socket: LiveSocket): void {
    // The smallest part, so that they stay even when many sockets leave.
    const part = this.parts.reduce((least, one) => (one.size < least.size ? one : least));
    part.add(socket);
    this.partOf.set(socket, part);
  }

  remove(socket: LiveSocket): void {
    this.partOf.get(socket)?.delete(socket);
    this.partOf.delete(socket);
  }

  private pingPart(): void {
    const sockets = this.parts[this.next]!;
    this.next = (this.next + 1) % PARTS;
    const frames = new Map<number, Buffer>();
    for (const socket of sockets) {
      if (socket.isBehind()) continue;
      const asOfMs = this.asOfMs(socket);
      let frame = frames.get(asOfMs);
      if (!frame) frames.set(asOfMs, (frame = textFrame(JSON.stringify({ type: 'ping', asOf: toTimestamp(asOfMs) }))));
      socket.writeWire(frame);
    }
  }
}
