import { LadderError } from '@laddercast/domain';
import type { ApiKeyStore, KeyLook } from '@laddercast/ledger';
import { monotonicMs, nowMs, sleep, growingCache } from '@laddercast/platform';
import { AuthenticationFailure, countFailure } from './authentication-failure.js';
import type { Identity } from './identity.js';
import { KeyLookups } from './key-lookups.js';
import type { PlayerTokens } from './player-tokens.js';

/** A key that is revoked stops working within this time. What ends at a time of its own ends then. */
const REMEMBERED_MS = 1000;
const REMEMBERED_MAX = 10_000;
const KNOWN_KEY_WAIT_MS = 500;
/** While the database is away, keys go on that it confirmed no longer than this before its last answer. */
const CONFIRMED_WITHIN_MS = 60_000;
const TOKEN_LENGTH_MAX = 8192;

/** Who a token was found to be; times on the monotonic clock. */
interface Remembered {
  identity: Identity;
  confirmedAtMs: number;
  /** After this the token is looked at again. */
  untilMs: number;
}

/** Tells who is behind a bearer token: an API key, or a player's JWT (`sub` is the player). */
export class Authenticator {
  private readonly remembered = growingCache<string, Remembered>(REMEMBERED_MAX);
  private readonly looking = new Map<string, Promise<Identity>>();
  /** Questions that the database has not answered yet, by secret. */
  private readonly asked = new Map<string, Promise<Identity | LadderError>>();
  private readonly lookups: KeyLookups;
  /** When the database last said anything of a key. */
  private answeredAtMs = -Infinity;

  constructor(
    private readonly keys: Pick<ApiKeyStore, 'look'>,
    private readonly tokens: PlayerTokens,
  ) {
    this.lookups = new KeyLookups(keys);
  }

  /** The identity of a token that was found good within the last second; null if it has to be looked at. */
  known(token: string): Identity | null {
    const known = this.remembered.get(token);
    return known && known.untilMs > monotonicMs() ? known.identity : null;
  }

  /** @throws UNAUTHENTICATED, IDENTITY_UNAVAILABLE, LEDGER_UNAVAILABLE */
  async authenticate(token: string): Promise<Identity> {
    const known = this.known(token);
    if (known) return known;
    try {
      if (token.length > TOKEN_LENGTH_MAX) throw new AuthenticationFailure('too_long', 'The token is too long.');
      // Requests with the same token at the same time share one look.
      const looking = this.looking.get(token) ?? this.look(token).finally(() => this.looking.delete(token));
      this.looking.set(token, looking);
      return await looking;
    } catch (error) {
      countFailure(error);
      throw error;
    }
  }

  /**
   * Looks API keys up anew, all together, for sockets that stay open. A key that is no longer good has its failure in
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

  /**
   * Whether this cannot be a guess at keys: it is a player's token, which is checked here, or a key that was good when
   * last looked at.
   */
  isNoGuess(token: string): boolean {
    return isJwt(token) || this.remembered.has(token);
  }

  /** Whether an identity still holds without a new look: it has not expired, and its signing key is still trusted. */
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
    // The database is not asked for what cannot be a key.
    if (!KEY.test(token)) throw failureOf('unknown');
    const isKnown = this.remembered.has(token);
    const asked = this.ask(token, isKnown);
    const settled = await (isKnown ? Promise.race([asked, sleep(KNOWN_KEY_WAIT_MS).then(() => null)]) : asked).catch(
      (error: unknown) => {
        if (isKnown) return null;
        throw error instanceof LadderError ? error : unavailable(error);
      },
    );
    if (settled === null) return this.withoutAnswer(token);
    if (settled instanceof LadderError) throw settled;
    return settled;
  }

  /** Asks the database, once for all who wait. The answer is remembered even if nobody waits for it any more. */
  private ask(token: string, isKnown: boolean): Promise<Identity | LadderError> {
    const asked =
      this.asked.get(token) ??
      this.lookups
        .look(token, isKnown)
        .then(({ look, askedAtMs }) => this.settle(token, look, askedAtMs))
        .finally(() => this.asked.delete(token));
    this.asked.set(token, asked);
    return asked;
  }

  /** A key that was good a moment ago stays good while the database hangs: reads go on. */
  private withoutAnswer(token: string): Identity {
    const known = this.remembered.get(token);
    if (known && isOver(known.identity)) throw failureOf('expired');
    if (!known || this.answeredAtMs - known.confirmedAtMs > CONFIRMED_WITHIN_MS) throw unavailable();
    return known.identity;
  }

  /** Remembers the result of looking a key up: its identity, or why it has none. */
  private settle(token: string, look: KeyLook, askedAtMs: number): Identity | LadderError {
    this.answeredAtMs = monotonicMs();
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
    const lifeMs = Math.min(REMEMBERED_MS, endOf(identity) - nowMs());
    const confirmedAtMs = monotonicMs();
    this.remembered.set(token, { identity, confirmedAtMs, untilMs: confirmedAtMs + lifeMs });
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

const unavailable = (cause?: unknown): LadderError =>
  new LadderError(
    'LEDGER_UNAVAILABLE',
    'The key cannot be checked now; try again shortly.',
    { retryAfterSeconds: 2 },
    { cause },
  );

const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token);

/** What secrets are made of: ours, and those of the settings. */
const KEY = /^[\w~+/=-]{16,}$/;
