import { withHost } from '../address-faults.js';
import type { Environment } from '../environment.js';

type Rule = [pattern: RegExp, replacement: string];

/** Secrets by their form, wherever they stand in a line. In JSON a quote within a text has a backslash before it. */
const RULES: readonly Rule[] = [
  // Passwords in addresses: postgres://, redis://, http://.
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'\\]*):[^\s@"'\\]+@/gi, '$1:***@'],
  [/\b(bearer)(\s+|\.)[\w~+/=.-]+/gi, '$1$2***'],
  // Query strings: they may carry tokens, and show which player somebody looks at.
  [/(\/[\w%.~:@!$&'()*+,;=/-]*)\?[\w%.~:@!$&'()*+,;=/?-]+/g, '$1?***'],
  // Players' tokens: a JSON object in base64url begins with eyJ.
  [/\beyJ[\w-]{8,}\.[\w-]+(\.[\w-]*)?/g, '***'],
  // Keys that the service made, apart from the one that a start-up in development prints on purpose.
  [/(?<!the development admin key is )\blk_[\w-]{20,}/g, 'lk_***'],
  [
    /(\b(?:password|passwd|secret|token|authorization|apikey|api_key)\\?["']?\s*[=:]\s*\\?["']?)(?!\*\*\*)[^\s"'\\,;}&]+/gi,
    '$1***',
  ],
];

/** A shorter secret could be a common word. */
const SECRET_LENGTH_MIN = 8;

/** Takes secrets out of a text: tokens, keys, passwords of addresses, query strings. */
export const redactSecrets = (text: string): string =>
  RULES.reduce((left, [pattern, replacement]) => left.replace(pattern, replacement), text);

/** As {@link redactSecrets}, and also the secrets of these settings, whatever their form. */
export function redactorOf(environment: Environment): (text: string) => string {
  const secrets = secretsOf(environment);
  return (text) => redactSecrets(secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text));
}

function secretsOf(environment: Environment): string[] {
  const { BOOTSTRAP_ADMIN_KEY, JWT_SECRET, KAFKA_IN_SCORES_KEY, KAFKA_IN_GAMES_KEY, KAFKA_SASL_PASSWORD } = environment;
  const { DATABASE_URL, REDIS_URL, REDIS_REPLICA_URL = '', REDIS_SENTINEL_PASSWORD } = environment;
  const passwords = [DATABASE_URL, ...REDIS_URL.split(','), sentinelPart(REDIS_URL), REDIS_REPLICA_URL].flatMap(
    passwordsOf,
  );
  const others = [KAFKA_IN_SCORES_KEY, KAFKA_IN_GAMES_KEY, KAFKA_SASL_PASSWORD, REDIS_SENTINEL_PASSWORD];
  return [BOOTSTRAP_ADMIN_KEY, JWT_SECRET, ...others, ...passwords]
    .filter((secret): secret is string => secret !== undefined && secret.length >= SECRET_LENGTH_MIN)
    .flatMap((secret) => [...new Set([secret, JSON.stringify(secret).slice(1, -1)])])
    .sort((a, b) => b.length - a.length);
}

/** Sentinels share one user and password: those stand before the first. */
const sentinelPart = (address: string): string => address.replace(/^(rediss?-sentinel:\/\/[^@/]*@[^,/]+).*$/, '$1');

/** The passwords of an address, as they are written there and decoded. */
function passwordsOf(address: string): string[] {
  const readable = withHost(address);
  if (!URL.canParse(readable)) return [];
  const { password, search } = new URL(readable);
  const named = /[?&]password=([^&]*)/.exec(search)?.[1] ?? '';
  return [password, named].filter((written) => written !== '').flatMap(asWrittenAndDecoded);
}

function asWrittenAndDecoded(password: string): string[] {
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}
