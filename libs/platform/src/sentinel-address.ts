/** A master that sentinels know by a name, and who may reach it: what REDIS_URL says in its form for sentinels. */
export interface SentinelAddress {
  sentinels: { host: string; port: number }[];
  /** What the sentinels call the master. */
  master: string;
  /** Of the servers; sentinels have users of their own. */
  username: string;
  password: string;
  database: number;
  isTls: boolean;
}

const SCHEME = /^redis(s?)-sentinel:\/\//;
const FORM = /^redis(s?)-sentinel:\/\/(?:([^@/]*)@)?([^@/?#]+)\/([\w.-]{1,200})(?:\/(\d{1,5}))?$/;
const SENTINEL_PORT = 26_379;

/** Whether an address names sentinels, right or wrong. */
export const namesSentinels = (address: string): boolean => SCHEME.test(address);

/**
 * Reads `redis-sentinel://user:password@host:port,host:port/master/database`, where user, password, ports and database may
 * be left out; `rediss-sentinel://` is by TLS.
 * @returns null for what is no such address
 */
export function sentinelAddressOf(address: string): SentinelAddress | null {
  const [, tls, who = '', hosts, master, database = '0'] = FORM.exec(address) ?? [];
  if (hosts === undefined) return null;
  try {
    const { username, password } = new URL(`redis://${who}@host`);
    return {
      sentinels: hosts.split(',').map(sentinelOf),
      master: master!,
      username: decodeURIComponent(username),
      password: decodeURIComponent(password),
      database: Number(database),
      isTls: tls === 's',
    };
  } catch {
    return null;
  }
}

/** @throws TypeError for what is no host, with a port or without */
function sentinelOf(text: string): { host: string; port: number } {
  const { hostname, port } = new URL(`redis://${text}`);
  if (hostname === '') throw new TypeError('no host');
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || SENTINEL_PORT) };
}
