import { faultOfOpaqueId } from '@laddercast/domain';
import { decodeProtectedHeader, errors, jwtVerify, type CryptoKey, type JWTPayload } from 'jose';
import { AuthenticationFailure, type AuthenticationFault } from './authentication-failure.js';
import type { Identity } from './identity.js';
import { KEY_SET_ALGORITHMS, type KeySetAlgorithm, type SigningKeys } from './signing-keys.js';

type PlayerIdentity = Extract<Identity, { kind: 'player' }>;

export interface PlayerTokensOptions {
  /** The secret of HS256; without it no token is taken with that algorithm. */
  secret?: string | undefined;
  /** The keys of RS256 and ES256; without them no token is taken with those. */
  signingKeys?: SigningKeys | null;
  /** What `iss` must be; undefined: it is not looked at. */
  issuer?: string | undefined;
  /** What `aud` must be or hold; undefined: it is not looked at. */
  audience?: string | undefined;
  /** How far the issuer's clock may be off, in `exp` and `nbf`. */
  clockToleranceSeconds?: number;
}

/**
 * Players' tokens (JWT, RFC 7519, 8725): who signed them is looked up by the algorithm that they name, and each algorithm
 * has keys of its own. Keys that a token brings along or points at (`jwk`, `jku`, `x5c`, `x5u`) are not looked at.
 */
export class PlayerTokens {
  private readonly secret: Uint8Array | null;
  private readonly signingKeys: SigningKeys | null;
  private readonly toleranceSeconds: number;

  constructor(private readonly options: PlayerTokensOptions) {
    this.secret = options.secret ? new TextEncoder().encode(options.secret) : null;
    this.signingKeys = options.signingKeys ?? null;
    this.toleranceSeconds = options.clockToleranceSeconds ?? 0;
  }

  /** The player of a token. @throws UNAUTHENTICATED, IDENTITY_UNAVAILABLE */
  async verify(token: string): Promise<PlayerIdentity> {
    if (!this.secret && !this.signingKeys) {
      const detail = 'Player tokens are not accepted here: neither JWT_SECRET nor JWT_JWKS_URL is set.';
      throw new AuthenticationFailure('token_not_accepted', detail);
    }
    const { algorithm, key, signedBy } = await this.keyOf(token);
    const payload = await this.payloadOf(token, algorithm, key);
    const fault = typeof payload.sub === 'string' ? faultOfOpaqueId(payload.sub) : 'must be a string';
    if (fault) throw new AuthenticationFailure('token_claims', `The token's sub ${fault}.`);
    const expiresAtMs = (payload.exp! + this.toleranceSeconds) * 1000;
    return { kind: 'player', playerId: payload.sub!, expiresAtMs, ...(signedBy ? { signedBy } : {}) };
  }

  /** Whether the key that signed a token is still one that is taken; false also for one whose expiry is yet to come. */
  trusts({ signedBy }: PlayerIdentity): boolean {
    return signedBy === undefined || this.signingKeys?.holds(signedBy) === true;
  }

  private async keyOf(token: string): Promise<{ algorithm: string; key: Uint8Array | CryptoKey; signedBy?: string }> {
    const { alg, kid } = headerOf(token);
    if (alg === 'HS256' && this.secret) return { algorithm: alg, key: this.secret };
    const algorithm = KEY_SET_ALGORITHMS.find((known) => known === alg);
    if (!algorithm || !this.signingKeys) {
      const taken = [...(this.secret ? ['HS256'] : []), ...(this.signingKeys ? KEY_SET_ALGORITHMS : [])].join(', ');
      throw new AuthenticationFailure('token_algorithm', `The token is not valid: its algorithm must be ${taken}.`);
    }
    return this.keyOfSet(algorithm, kid, this.signingKeys);
  }

  private async keyOfSet(algorithm: KeySetAlgorithm, kid: unknown, signingKeys: SigningKeys) {
    if (kid !== undefined && typeof kid !== 'string') throw notAToken();
    const found = await signingKeys.find(algorithm, kid);
    if (found) return { algorithm, key: found.key, signedBy: found.id };
    throw new AuthenticationFailure('token_signing_key', 'The token is not valid: its key is not known here.');
  }

  private async payloadOf(token: string, algorithm: string, key: Uint8Array | CryptoKey): Promise<JWTPayload> {
    const { issuer, audience } = this.options;
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [algorithm],
        requiredClaims: ['sub', 'exp'],
        clockTolerance: this.toleranceSeconds,
        ...(issuer === undefined ? {} : { issuer }),
        ...(audience === undefined ? {} : { audience }),
      });
      return payload;
    } catch (error) {
      const detail = `The token is not valid: ${(error as Error).message}.`;
      throw new AuthenticationFailure(faultOf(error), detail, { cause: error });
    }
  }
}

const notAToken = (): AuthenticationFailure =>
  new AuthenticationFailure('malformed', 'The token is not valid: its header cannot be read.');

function headerOf(token: string): { alg?: unknown; kid?: unknown } {
  try {
    return decodeProtectedHeader(token);
  } catch {
    throw notAToken();
  }
}

const FAULT_OF_CLAIM: Record<string, AuthenticationFault> = {
  nbf: 'token_not_yet',
  iss: 'token_issuer',
  aud: 'token_audience',
};

function faultOf(error: unknown): AuthenticationFault {
  if (error instanceof errors.JWTExpired) return 'token_expired';
  if (error instanceof errors.JWTClaimValidationFailed) return FAULT_OF_CLAIM[error.claim] ?? 'token_claims';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'token_signature';
  return 'malformed';
}
