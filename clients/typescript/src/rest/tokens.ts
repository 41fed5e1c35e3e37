import { world } from '../world.js';

/** A player's JWT or an API key, or what gives one; null: without identity. */
export type TokenSource = string | (() => string | null | undefined | Promise<string | null | undefined>);

/** A new token is asked for this long before the old one ends. */
export const RENEW_BEFORE_MS = 30_000;

/** The token in use. */
export interface Tokens {
  /** The token; asked for when there is none, or it ends within 30 s. Rejects with what the source rejects with. */
  get(): Promise<string | null>;
  /** The service refused this token: the next call asks for a new one. */
  refused(token: string | null): void;
  /** Unix ms at which the token in use should be renewed; null: never. */
  renewAt(): number | null;
}

/** @param now the time of the service, by which tokens end */
export function createTokens(source: TokenSource | undefined, now: () => number): Tokens {
  let known: string | null = null;
  let asking: Promise<string | null> | null = null;
  const renewAt = (): number | null => {
    const { exp } = claimsOf(known) ?? {};
    return typeof exp === 'number' ? exp * 1000 - RENEW_BEFORE_MS : null;
  };
  const ask = async (): Promise<string | null> => {
    known = (typeof source === 'function' ? await source() : source) ?? null;
    return known;
  };
  return {
    async get() {
      const isGood = known !== null && (renewAt() ?? Infinity) > now();
      // Forgotten also where the source throws at once, before there is a promise to keep.
      return isGood ? known : (asking ??= ask().finally(() => (asking = null)));
    },
    refused(token) {
      if (token === known) known = null;
    },
    renewAt,
  };
}

/** What a player's JWT says; null for API keys, which say nothing. Nothing is verified: the service does that. */
export function claimsOf(token: string | null): { sub?: string; exp?: number } | null {
  const [, payload, signature] = token?.split('.') ?? [];
  if (payload === undefined || signature === undefined) return null;
  try {
    const bytes = world.atob(payload.replace(/-/g, '+').replace(/_/g, '/'));
    const escaped = Array.from(bytes, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
    return JSON.parse(decodeURIComponent(escaped)) as { sub?: string; exp?: number };
  } catch {
    return null;
  }
}
