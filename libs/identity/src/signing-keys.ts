import { LadderError } from '@laddercast/domain';
import { monotonicMs } from '@laddercast/platform';
import { calculateJwkThumbprint, importJWK, type CryptoKey, type JWK } from 'jose';

/** What tokens may be signed with when their keys come from a key set. */
export const KEY_SET_ALGORITHMS = ['RS256', 'ES256'] as const;
export type KeySetAlgorithm = (typeof KEY_SET_ALGORITHMS)[number];

/** A public key, bound to its one algorithm; `id` is its thumbprint (RFC 7638). */
export interface SigningKey {
  id: string;
  key: CryptoKey;
}

export interface SigningKeysOptions {
  /** Where the key set (RFC 7517) is served. */
  url: string;
  onFailure: (error: unknown) => void;
  /**
   * How old the set may get before it is asked for again, ms. A key that was removed from the set is good for that long
   * at most.
   */
  ageMaxMs?: number;
  /** The least time between two tries, ms, however many tokens name unknown keys. */
  askEveryMs?: number;
  /** The same, while there is no set yet. */
  askFirstEveryMs?: number;
  timeoutMs?: number;
}

const DEFAULTS = { ageMaxMs: 300_000, askEveryMs: 30_000, askFirstEveryMs: 2000, timeoutMs: 3000 };
const ANSWER_BYTES_MAX = 256 * 1024;
const KEYS_MAX = 100;
const RSA_BITS_MIN = 2048;
const RSA_BITS_MAX = 8192;

/**
 * The keys of JWT_JWKS_URL. The set is fetched when the first token comes, when a token names an unknown key, and when
 * the set is old. While the server is away, the last set goes on. A new set replaces the old one as a whole.
 */
export class SigningKeys {
  private readonly options: Required<SigningKeysOptions>;
  private keys: ReadonlyMap<string, SigningKey> | null = null;
  private ids: ReadonlySet<string> = new Set();
  private loadedAtMs = -Infinity;
  private triedAtMs = -Infinity;
  private hasFailed = false;
  private loading: Promise<void> | null = null;

  constructor(options: SigningKeysOptions) {
    this.options = { ...DEFAULTS, ...options };
  }

  /**
   * The key of a token's header; null when the set has none such. Without `kid` it is the only one of its algorithm.
   * @throws IDENTITY_UNAVAILABLE when the key is not known and the server could not be asked
   */
  async find(algorithm: KeySetAlgorithm, kid: string | undefined): Promise<SigningKey | null> {
    this.refreshWhenOld();
    // After a quiet time no key is good that was taken out meanwhile; where the server is away, the last set goes on.
    if (this.isOverdue() && !this.hasFailed) await this.loading;
    const name = nameOf(algorithm, kid);
    const known = this.keys?.get(name);
    if (known) return known;
    await (this.loading ?? (this.mayAsk() ? this.load() : undefined));
    const found = this.keys?.get(name);
    if (found) return found;
    if (this.hasFailed) {
      throw new LadderError(
        'IDENTITY_UNAVAILABLE',
        'The keys of player tokens cannot be read now; try again shortly.',
        {
          retryAfterSeconds: Math.max(1, Math.ceil(this.waitMs / 1000)),
        },
      );
    }
    return null;
  }

  /** Whether a key is still in the set as it is known; an old set is fetched again. */
  holds(id: string): boolean {
    this.refreshWhenOld();
    return this.ids.has(id);
  }

  private refreshWhenOld(): void {
    const isOld = this.keys !== null && monotonicMs() - this.loadedAtMs > this.options.ageMaxMs;
    if (isOld && this.loading === null && this.mayAsk()) void this.load();
  }

  /** Whether it is older than it gets where tokens come all the time. */
  private isOverdue(): boolean {
    const { ageMaxMs, askEveryMs } = this.options;
    return this.keys !== null && monotonicMs() - this.loadedAtMs > ageMaxMs + askEveryMs;
  }

  private mayAsk(): boolean {
    return this.waitMs <= 0;
  }

  private get waitMs(): number {
    const { askEveryMs, askFirstEveryMs } = this.options;
    return this.triedAtMs + (this.keys === null ? askFirstEveryMs : askEveryMs) - monotonicMs();
  }

  /** Never rejects: what is known stays, and the next try is some time away. */
  private load(): Promise<void> {
    this.triedAtMs = monotonicMs();
    this.loading = this.read()
      .then((keys) => {
        this.keys = keys;
        this.ids = new Set([...keys.values()].map(({ id }) => id));
        this.loadedAtMs = monotonicMs();
        this.hasFailed = false;
      })
      .catch((error: unknown) => {
        this.hasFailed = true;
        this.options.onFailure(error);
      })
      .finally(() => (this.loading = null));
    return this.loading;
  }

  private async read(): Promise<Map<string, SigningKey>> {
    const { url, timeoutMs } = this.options;
    const response = await fetch(url, {
      // A redirect would let somebody else choose the keys.
      redirect: 'error',
      headers: { accept: 'application/jwk-set+json, application/json' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status !== 200) throw new Error(`The key set was answered with ${response.status}.`);
    const { keys } = JSON.parse(await textOf(response)) as { keys?: unknown };
    if (!Array.isArray(keys)) throw new Error('The key set has no array "keys".');
    if (keys.length > KEYS_MAX) throw new Error(`The key set has ${keys.length} keys; at most ${KEYS_MAX} are taken.`);
    return namedKeys((await Promise.all(keys.map(usableKey))).filter((key) => key !== null));
  }
}

type NamedKey = SigningKey & { algorithm: KeySetAlgorithm; kid: string | undefined };

const nameOf = (algorithm: KeySetAlgorithm, kid: string | undefined): string =>
  JSON.stringify([algorithm, kid ?? null]);

function namedKeys(keys: readonly NamedKey[]): Map<string, SigningKey> {
  const named = new Map<string, SigningKey>();
  for (const { algorithm, kid, ...key } of keys) {
    if (kid !== undefined && !named.has(nameOf(algorithm, kid))) named.set(nameOf(algorithm, kid), key);
  }
  for (const algorithm of KEY_SET_ALGORITHMS) {
    const [only, ...others] = keys.filter((key) => key.algorithm === algorithm);
    if (only && others.length === 0) named.set(nameOf(algorithm, undefined), { id: only.id, key: only.key });
  }
  return named;
}

/** A key of the set that tokens may be signed with; null for all others. */
async function usableKey(value: unknown): Promise<NamedKey | null> {
  const jwk = (typeof value === 'object' && value !== null ? value : {}) as JWK;
  const algorithm = jwk.kty === 'RSA' ? 'RS256' : jwk.kty === 'EC' && jwk.crv === 'P-256' ? 'ES256' : null;
  if (algorithm === null || (jwk.alg ?? algorithm) !== algorithm || (jwk.use ?? 'sig') !== 'sig') return null;
  if (Array.isArray(jwk.key_ops) && !jwk.key_ops.includes('verify')) return null;
  if (jwk.kid !== undefined && typeof jwk.kid !== 'string') return null;
  // Only the public part.
  const { kty, n, e, crv, x, y } = jwk;
  const publicKey = (algorithm === 'RS256' ? { kty, n, e } : { kty, crv, x, y }) as JWK;
  try {
    const key = (await importJWK(publicKey, algorithm)) as CryptoKey;
    const bits = (key.algorithm as { modulusLength?: number }).modulusLength;
    if (bits !== undefined && (bits < RSA_BITS_MIN || bits > RSA_BITS_MAX)) return null;
    return { algorithm, kid: jwk.kid, id: await calculateJwkThumbprint(publicKey), key };
  } catch {
    // A key that cannot be read is left out; the others stay.
    return null;
  }
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`The key set has more than ${ANSWER_BYTES_MAX} bytes.`);
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString('utf8');
}
