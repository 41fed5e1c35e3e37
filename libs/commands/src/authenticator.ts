import { faultOfOpaqueId, LadderError } from '@laddercast/domain';
import type { ApiKeyStore } from '@laddercast/ledger';
import { monotonicMs, nowMs, sleep } from '@laddercast/platform';
import { jwtVerify } from 'jose';
import type { Identity } from './identity.js';

/** A revoked key or an expired token stops working within this time. */
const REMEMBERED_MS = 1000;
const REMEMBERED_MAX = 10_000;
const KNOWN_KEY_WAIT_MS = 500;
const TOKEN_LENGTH_MAX = 8192;

/** Tells who is behind a bearer token: an API key, or a player's JWT (HS256 by JWT_SECRET; `sub` is the player). */
export class Authenticator {
  private readonly remembered = new Map<string, { identity: Identity; untilMs: number }>();
  private readonly looking = new Map<string, Promise<Identity>>();
  private readonly jwtSecret: Uint8Array | null;

  constructor(
    private readonly keys: ApiKeyStore,
    jwtSecret: string | undefined,
  ) {
    this.jwtSecret = jwtSecret ? new TextEncoder().encode(jwtSecret) : null;
  }

  /** @throws UNAUTHENTICATED, LEDGER_UNAVAILABLE */
  async authenticate(token: string): Promise<Identity> {
    const known = this.remembered.get(token);
    if (known && known.untilMs > monotonicMs()) return known.identity;
    if (token.length > TOKEN_LENGTH_MAX) throw new LadderError('UNAUTHENTICATED', 'The token is too long.');
    // All who come with one token at the same time share one look.
    const looking = this.looking.get(token) ?? this.look(token).finally(() => this.looking.delete(token));
    this.looking.set(token, looking);
    return looking;
  }

  private async look(token: string): Promise<Identity> {
    const identity = isJwt(token) ? await this.playerOf(token) : await this.keyOf(token);
    if (this.remembered.size >= REMEMBERED_MAX) this.remembered.delete(this.remembered.keys().next().value!);
    const lifeMs = identity.kind === 'player' ? Math.min(REMEMBERED_MS, identity.expiresAtMs - nowMs()) : REMEMBERED_MS;
    this.remembered.delete(token);
    this.remembered.set(token, { identity, untilMs: monotonicMs() + lifeMs });
    return identity;
  }

  private async keyOf(token: string): Promise<Identity> {
    const known = this.remembered.get(token)?.identity;
    const answered = await Promise.race([
      this.keys.find(token).then((key) => ({ key })),
      // A key that was good a moment ago stays good while the database hangs: reads go on.
      ...(known?.kind === 'key' ? [sleep(KNOWN_KEY_WAIT_MS).then(() => null)] : []),
    ]).catch((error: unknown) => {
      if (known?.kind === 'key') return null;
      throw new LadderError(
        'LEDGER_UNAVAILABLE',
        'The key cannot be checked now; try again shortly.',
        { retryAfterSeconds: 2 },
        { cause: error },
      );
    });
    if (answered === null) return known!;
    const { key } = answered;
    if (!key) throw new LadderError('UNAUTHENTICATED', 'This API key is not known, or was revoked.');
    return { kind: 'key', keyId: key.keyId, scopes: key.scopes };
  }

  private async playerOf(token: string): Promise<Identity> {
    if (!this.jwtSecret)
      throw new LadderError('UNAUTHENTICATED', 'Player tokens are not accepted here: JWT_SECRET is not set.');
    const { payload } = await jwtVerify(token, this.jwtSecret, {
      algorithms: ['HS256'],
      requiredClaims: ['sub', 'exp'],
    }).catch((error: unknown) => {
      throw new LadderError('UNAUTHENTICATED', `The token is not valid: ${(error as Error).message}.`);
    });
    const fault = typeof payload.sub === 'string' ? faultOfOpaqueId(payload.sub) : 'must be a string';
    if (fault) throw new LadderError('UNAUTHENTICATED', `The token's sub ${fault}.`);
    return { kind: 'player', playerId: payload.sub!, expiresAtMs: payload.exp! * 1000 };
  }
}

const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
