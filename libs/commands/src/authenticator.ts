import { LadderError } from '@laddercast/domain';
import type { ApiKeyStore, KeyLook } from '@laddercast/ledger';
import { monotonicMs, nowMs, sleep } from '@laddercast/platform';
import { AuthenticationFailure, countFailure } from './authentication-failure.js';
import type { Identity } from './identity.js';
import { KeyLookups } from './key-lookups.js';
import type { PlayerTokens } from './player-tokens.js';

/** A key that is revoked stops working within this time. What ends at a time of its own ends then. */
const REMEMBERED_MS = 1000;
const REMEMBERED_MAX = 10_000;
const KNOWN_KEY_WAIT_MS = 500;
const TOKEN_LENGTH_MAX = 8192;

/** Tells who is behind a bearer token: an API key, or a player's JWT (`sub` is the player). */
export class Authenticator {
  private readonly remembered = new Map<string, { identity: Identity; untilMs: number }>();
  private readonly looking = new Map<string, Promise<Identity>>();
  private readonly lookups: KeyLookups;

  constructor(
    private readonly keys: Pick<ApiKeyStore, 'look'>,
    private readonly tokens: PlayerTokens,
  ) {
    this.lookups = new KeyLookups(keys);
  }

  /** @throws UNAUTHENTICATED, IDENTITY_UNAVAILABLE, LEDGER_UNAVAILABLE */
  async authenticate(token: string): Promise<Identity> {
    const known = this.remembered.get(token);
    if (known && known.untilMs > monotonicMs()) return known.identity;
    try {
      if (token.length > TOKEN_LENGTH_MAX) throw new AuthenticationFailure('too_long', 'The token is too long.');
      // All who come with one token at the same time share one look.
      const looking = this.looking.get(token) ?? this.look(token).finally(() => this.looking.delete(token));
      this.looking.set(token, looking);
      return await looking;
    } catch (error) {
      countFailure(error);
      throw error;
    }
  }

  /**
   * Looks API keys up anew, all together: for who stays connected. A key that is no good any more has its failure in the
   * place of its identity.
   * @throws LEDGER_UNAVAILABLE when nothing can be said now
   */
  async lookAgain(tokens: readonly string[]): Promise<Map<string, Identity | LadderError>> {
    const askedAtMs = nowMs();
    const looks = await this.keys.look(tokens).catch((error: unknown) => {
      throw unavailable(error);
    });
    return new Map(tokens.map((token, index) => [token, this.settle(token, looks[index]!, askedAtMs)]));
  }

  /** Whether what an identity rests on still holds without a look: its time is not over, its signing key is still trusted. */
  stillHolds(identity: Identity): boolean {
    if (isOver(identity)) return false;
    return identity.kind !== 'player' || this.tokens.trusts(identity);
  }

  private async look(token: string): Promise<Identity> {
    if (!isJwt(token)) return this.keyOf(token);
    const identity = await this.tokens.verify(token);
    this.remember(token, identity);
    return identity;
  }

  private async keyOf(token: string): Promise<Identity> {
    // What cannot be a key is not worth a question to the database.
    if (!KEY.test(token)) throw failureOf('unknown');
    const known = this.remembered.get(token)?.identity;
    const found = await Promise.race([
      this.lookups.look(token, known !== undefined),
      // A key that was good a moment ago stays good while the database hangs: reads go on.
      ...(known ? [sleep(KNOWN_KEY_WAIT_MS).then(() => null)] : []),
    ]).catch((error: unknown) => {
      if (known) return null;
      throw error instanceof LadderError ? error : unavailable(error);
    });
    if (found === null) {
      if (isOver(known!)) throw failureOf('expired');
      return known!;
    }
    const settled = this.settle(token, found.look, found.askedAtMs);
    if (settled instanceof LadderError) throw settled;
    return settled;
  }

  /** What a look at a key means: who it is, remembered, or why it is nobody. */
  private settle(token: string, look: KeyLook, askedAtMs: number): Identity | LadderError {
    if (look.state !== 'valid') {
      this.remembered.delete(token);
      return failureOf(look.state);
    }
    const { keyId, scopes } = look.key;
    const ends = look.validForMs === null ? {} : { expiresAtMs: askedAtMs + look.validForMs };
    const identity: Identity = { kind: 'key', keyId, scopes, ...ends };
    this.remember(token, identity);
    return identity;
  }

  private remember(token: string, identity: Identity): void {
    this.remembered.delete(token);
    if (this.remembered.size >= REMEMBERED_MAX) this.remembered.delete(this.remembered.keys().next().value!);
    const lifeMs = Math.min(REMEMBERED_MS, endOf(identity) - nowMs());
    this.remembered.set(token, { identity, untilMs: monotonicMs() + lifeMs });
  }
}

/** When an identity ends by itself, Unix ms. */
const endOf = (identity: Identity): number =>
  (identity.kind === 'anonymous' ? undefined : identity.expiresAtMs) ?? Infinity;

const isOver = (identity: Identity): boolean => endOf(identity) <= nowMs();

const FAILURES = {
  unknown: ['key_unknown', 'This API key is not known.'],
  revoked: ['key_revoked', 'This API key was revoked.'],
  expired: ['key_expired', 'This API key has expired.'],
  replaced: ['key_replaced', 'This secret of the API key was replaced by a rotation; use the new one.'],
} as const;

function failureOf(state: keyof typeof FAILURES): AuthenticationFailure {
  const [fault, detail] = FAILURES[state];
  return new AuthenticationFailure(fault, detail);
}

const unavailable = (cause: unknown): LadderError =>
  new LadderError(
    'LEDGER_UNAVAILABLE',
    'The key cannot be checked now; try again shortly.',
    { retryAfterSeconds: 2 },
    { cause },
  );

const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);

/** What secrets are made of: ours, and those of the settings. */
const KEY = /^[\w~+/=-]{16,}$/;
