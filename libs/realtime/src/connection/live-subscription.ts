import { LadderError, type RankStyle } from '@laddercast/domain';
import { playerOfIdentity } from '@laddercast/identity';
import type { LiveSocket } from './live-socket.js';
import type { LiveStats } from '../live-stats.js';
import type { ChannelMessage, RatingMessage, WatchMessage } from '../protocol/client-messages.js';
import type { SharedFrame } from '../protocol/shared-frame.js';

/** The source of a subscription: the top of a list at one limit, watched rows of it, or a watched rating. */
export interface LiveChannel {
  /** The number of its snapshot. */
  readonly seq: number;
  /** The channel as it is now. */
  snapshot(): SharedFrame;
  /** As of when it is known, Unix ms, where that can be earlier than of its list, which stands at the tick `seq`. */
  knownAsOfMs?(list: { seq: number; asOfMs: number }): number;
  leave(subscription: LiveSubscription<WatchMessage>): void;
}

/** What a subscription cannot decide by itself. */
export interface SubscriptionEvents {
  /** Its rows may not be seen any more. */
  refused: (error: LadderError) => void;
  /** Its player may be shadowed by now, or not any more. Resolves once it is served accordingly. */
  worldDoubted: () => Promise<void>;
}

/** A subscription to a list or to a rating. */
export type AnySubscription = LiveSubscription | LiveSubscription<RatingMessage>;

/** One subscription of one socket: it decides between a delta, nothing, and a fresh snapshot. */
export class LiveSubscription<Request extends WatchMessage = ChannelMessage> {
  /** Set once the subscription is served; none before, and after its end. */
  channel: LiveChannel | null = null;
  /** The shadowed player in whose world it is served; null: it sees what everybody sees. */
  worldOf: string | null = null;
  /** The style that its ranks are served in. */
  style: RankStyle = 'ordinal';
  /** The greatest number that its reader stands at, or has stood at; what a reader says that resumes is not checked. */
  heardSeq = 0;
  private needsSnapshot = false;
  private isClosedTold = false;

  constructor(
    readonly id: string,
    readonly request: Request,
    readonly socket: LiveSocket,
    private readonly stats: LiveStats,
    private readonly lifecycle: SubscriptionEvents,
  ) {}

  /** The player that the socket is of; null: none. */
  get ownPlayer(): string | null {
    return playerOfIdentity(this.socket.identity);
  }

  /** Looks up whether its player is shadowed now, and has it served accordingly. */
  lookAtWorld(): Promise<void> {
    return this.lifecycle.worldDoubted();
  }

  /** Sends the whole channel; a reader that is behind gets it when it has drained. */
  sendSnapshot(frame: SharedFrame): void {
    if (this.socket.isBehind()) {
      this.needsSnapshot = true;
      return;
    }
    this.needsSnapshot = false;
    this.socket.writeWire(frame.forId(this.id));
  }

  /** Sends a delta; a reader that is behind gets a fresh snapshot later instead. */
  sendDelta(frame: SharedFrame): void {
    const missedOne = this.needsSnapshot;
    if (this.socket.isBehind()) {
      this.needsSnapshot = true;
      this.stats.dropped += 1;
    } else if (!missedOne) {
      // A reader that had missed something has just got a snapshot, which includes this delta.
      this.socket.writeWire(frame.forId(this.id));
    }
  }

  /** To be called when the reader has drained: sends the present state, if it missed anything. */
  catchUp(): void {
    if (!this.needsSnapshot || !this.channel) return;
    this.needsSnapshot = false;
    this.stats.resynchronised += 1;
    this.socket.writeWire(this.channel.snapshot().forId(this.id));
  }

  error(error: LadderError): void {
    this.socket.error(error, this.id);
  }

  /** Ends the subscription because its rows may not be seen any more, and tells the reader why. */
  refuse(error: LadderError): void {
    this.lifecycle.refused(error);
  }

  /** Tells, once, that the window takes no more runs. */
  windowClosed(windowId: string): void {
    if (this.isClosedTold) return;
    this.isClosedTold = true;
    this.socket.write(JSON.stringify({ type: 'window-closed', id: this.id, window: windowId }));
  }

  /** Tells that the final standings of the window were revised: this edition is what reads answer from now on. */
  standingsRevised(windowId: string, edition: number): void {
    this.socket.write(JSON.stringify({ type: 'standings-revised', id: this.id, window: windowId, edition }));
  }

  /** Leaves its channel; it may be served by another. */
  detach(): void {
    this.heardSeq = Math.max(this.heardSeq, this.channel?.seq ?? 0);
    this.channel?.leave(this);
    this.channel = null;
    this.needsSnapshot = false;
    this.isClosedTold = false;
  }

  /** Ends it: its id is free. */
  end(): void {
    this.detach();
    const known: unknown = this.socket.subscriptions.get(this.id);
    if (known !== this) return;
    this.socket.subscriptions.delete(this.id);
    this.stats.subscriptions -= 1;
  }
}
