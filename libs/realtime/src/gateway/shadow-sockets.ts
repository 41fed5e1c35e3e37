import { LadderError } from '@laddercast/domain';
import type { LiveSocket } from '../connection/live-socket.js';
import type { LiveSubscription } from '../connection/live-subscription.js';
import type { LiveStats } from '../live-stats.js';

/** The sockets whose lists are read for them alone, because their player is shadowed, and which subscriptions those are. */
export class ShadowSockets {
  private readonly sockets = new Map<LiveSocket, Set<LiveSubscription>>();

  /** @param socketsMax the most sockets (SHADOW_SOCKETS_MAX) */
  constructor(
    private readonly socketsMax: number,
    private readonly stats: LiveStats,
  ) {}

  /** @throws SUBSCRIPTION_LIMIT, in words that say nothing of a sanction */
  add(subscription: LiveSubscription): void {
    const { socket } = subscription;
    const known = this.sockets.get(socket);
    if (known) return void known.add(subscription);
    if (this.sockets.size >= this.socketsMax) {
      throw new LadderError(
        'SUBSCRIPTION_LIMIT',
        'This gateway watches as many channels as it can; connect to another.',
      );
    }
    this.sockets.set(socket, new Set([subscription]));
    this.stats.shadowSockets = this.sockets.size;
  }

  delete(subscription: LiveSubscription): void {
    const { socket } = subscription;
    const known = this.sockets.get(socket);
    if (!known?.delete(subscription) || known.size > 0) return;
    this.sockets.delete(socket);
    this.stats.shadowSockets = this.sockets.size;
  }
}
