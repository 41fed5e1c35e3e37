import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { backoffMs, type SentinelAddress } from '@laddercast/platform';
import type { ClusterOptions, Redis, RedisOptions } from 'ioredis';

/** How long a lost connection waits before the next try, at first and at most. */
export const RECONNECT = { firstMs: 50, maxMs: 2000 };

/** The host and port of an address. */
export function nodeOf(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(address);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) };
}

/**
 * What rediss:// adds for one server.
 * @param ca certificates (PEM) of those who may vouch for it; default: those that Node.js trusts
 */
export function serverTls(address: string, ca?: string): { tls?: ConnectionOptions } {
  const { host } = nodeOf(address);
  // Who serves many under one address has to be told the name; ioredis does not.
  const named = isIP(host) === 0 ? { servername: host } : {};
  return usesTls(address) ? { tls: { ...named, ...(ca !== undefined && { ca }) } } : {};
}

/** A cluster's client, of which `address` is the first node. */
export function clusterOptions(address: string, redisOptions: RedisOptions, ca?: string): ClusterOptions {
  return {
    lazyConnect: true,
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    // Sent alone, a command follows a slot that is moving; in a pipeline with others it cannot.
    autoPipeliningIgnoredCommands: ['eval'],
    slotsRefreshTimeout: redisOptions.commandTimeout,
    maxRedirections: 8,
    clusterRetryStrategy: (attempt) => backoffMs(attempt - 1, RECONNECT.firstMs, RECONNECT.maxMs),
    redisOptions: nodeOptions(address, redisOptions, ca),
    // Certificates are for names: a name that became a number could not be checked any more.
    ...(usesTls(address) && { dnsLookup: (name, found) => found(null, name) }),
  };
}

/** User, password and TLS of the first address hold for every node. */
export function nodeOptions(address: string, redisOptions: RedisOptions, ca?: string): RedisOptions {
  const { username, password } = new URL(address);
  return {
    connectTimeout: redisOptions.connectTimeout,
    commandTimeout: redisOptions.commandTimeout,
    socketTimeout: redisOptions.socketTimeout,
    autoResendUnfulfilledCommands: false,
    ...(username ? { username: decodeURIComponent(username) } : {}),
    ...(password ? { password: decodeURIComponent(password) } : {}),
    ...(usesTls(address) ? { tls: ca === undefined ? {} : { ca } } : {}),
  };
}

/** The user and password that sentinels know us by. */
export interface SentinelUser {
  username?: string;
  password?: string;
}

/**
 * The client of a master that sentinels know: it asks them for its address before each connection, and takes no server that
 * calls itself anything else. By TLS sentinels and servers alike.
 */
export function sentinelOptions(
  { sentinels, master, username, password, database, isTls }: SentinelAddress,
  redisOptions: RedisOptions,
  { ca, user }: { ca?: string | undefined; user?: SentinelUser | undefined },
): RedisOptions {
  const tls = ca === undefined ? {} : { ca };
  const again = (attempt: number): number => backoffMs(attempt - 1, RECONNECT.firstMs, RECONNECT.maxMs);
  return {
    ...redisOptions,
    sentinels,
    name: master,
    role: 'master',
    db: database,
    ...(username && { username }),
    ...(password && { password }),
    ...(user?.username !== undefined && { sentinelUsername: user.username }),
    ...(user?.password !== undefined && { sentinelPassword: user.password }),
    sentinelCommandTimeout: redisOptions.commandTimeout,
    sentinelRetryStrategy: again,
    ...(isTls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
  };
}

/** How the sentinels themselves are reached, by {@link sentinelOptions}. */
export const optionsOfSentinels = (options: RedisOptions): RedisOptions => ({
  connectTimeout: options.connectTimeout,
  commandTimeout: options.commandTimeout,
  ...(options.sentinelUsername !== undefined && { username: options.sentinelUsername! }),
  ...(options.sentinelPassword !== undefined && { password: options.sentinelPassword! }),
  ...(options.sentinelTLS && { tls: options.sentinelTLS }),
});

/** Where a client is connected to, as host:port; of one that asks sentinels its options do not say. */
export function serverOf({ stream, options }: Redis): string {
  if (options.sentinels) return `${stream?.remoteAddress}:${stream?.remotePort}`;
  return `${options.host}:${options.port}`;
}

const usesTls = (address: string): boolean => address.startsWith('rediss://');
