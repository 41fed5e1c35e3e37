import type { Authenticator, Identity } from '@laddercast/identity';
import { LadderError } from '@laddercast/domain';
import { monotonicMs } from '@laddercast/platform';
import { CLOSE, type LiveSocket } from './live-socket.js';

/**
 * Ends sockets whose identity has ended while they were open. API keys are looked up anew all together, each once for
 * all its sockets. If they cannot be looked up now, no socket ends.
 */
export class SocketIdentities {
  private checkedAtMs = -Infinity;
  private isChecking = false;

  constructor(
    private readonly authenticator: Authenticator,
    private readonly keyCheckEveryMs: number,
  ) {}

  /** Ends the sockets whose identity is known to be over, and has the keys of the others looked up when that is due. */
  sweep(sockets: Iterable<LiveSocket>): void {
    const byKey = new Map<string, LiveSocket[]>();
    for (const socket of sockets) {
      if (!socket.isOpen) continue;
      const { identity, apiKey } = socket;
      if (!this.authenticator.stillHolds(identity)) turnAway(socket, problemOf(identity));
      else if (apiKey !== null) addTo(byKey, apiKey, socket);
    }
    if (byKey.size > 0 && this.isDue()) void this.lookAgain(byKey);
  }

  private isDue(): boolean {
    return !this.isChecking && monotonicMs() - this.checkedAtMs >= this.keyCheckEveryMs;
  }

  private async lookAgain(byKey: ReadonlyMap<string, LiveSocket[]>): Promise<void> {
    this.isChecking = true;
    this.checkedAtMs = monotonicMs();
    try {
      const looks = await this.authenticator.lookAgain([...byKey.keys()]);
      for (const [key, sockets] of byKey) {
        const found = looks.get(key)!;
        // A socket that got another identity meanwhile has another key, or none.
        for (const socket of sockets) if (socket.apiKey === key) settle(socket, key, found);
      }
    } catch {
      // The database is away: readiness and other logs say so, and the next sweep asks again.
    } finally {
      this.isChecking = false;
    }
  }
}

function addTo(byKey: Map<string, LiveSocket[]>, key: string, socket: LiveSocket): void {
  const known = byKey.get(key);
  if (known) known.push(socket);
  else byKey.set(key, [socket]);
}

function settle(socket: LiveSocket, key: string, found: Identity | LadderError): void {
  if (found instanceof LadderError) turnAway(socket, found);
  else socket.identify(found, key);
}

const problemOf = (identity: Identity): LadderError => {
  const [what, why] =
    identity.kind === 'key'
      ? ['API key', 'has expired, or was replaced']
      : ['token', 'has expired, or its key is gone'];
  return new LadderError('UNAUTHENTICATED', `The ${what} ${why}; connect with a new one.`);
};

/** Tells why, and ends the socket: nothing is sent on it from here on. */
export function turnAway(socket: LiveSocket, problem: LadderError): void {
  socket.error(problem);
  socket.close(CLOSE.UNAUTHENTICATED, 'no valid identity');
}
