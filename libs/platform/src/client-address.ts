import { BlockList, isIP, isIPv4 } from 'node:net';
import { BoundedCache } from '@laddercast/domain';

const IPV6_BITS_COUNTED = 64;
const GROUP_BITS = 16;
const NETWORKS_CACHED_MAX = 10_000;
const NOBODY = 'unknown';

/** What is wrong with a list of trusted proxies, or null. */
export function faultOfProxies(text: string): string | null {
  const wrong = listOf(text).find((one) => parseSubnet(one) === null);
  return wrong === undefined ? null : `"${wrong}" is no address and no network such as 10.0.0.0/8`;
}

/**
 * Whose request it is, for limits by address: the socket's address, or behind trusted proxies the last address of
 * `X-Forwarded-For` that is none of them. What else stands in that header is the client's to invent.
 */
export class ClientAddresses {
  private readonly trusted = new BlockList();
  readonly trustsAnybody: boolean;
  private readonly networks = new BoundedCache<string, string>(NETWORKS_CACHED_MAX);

  /** @param proxies addresses and networks, separated by commas */
  constructor(proxies = '') {
    const subnets = listOf(proxies).flatMap((one) => parseSubnet(one) ?? []);
    for (const { address, bits, family } of subnets) this.trusted.addSubnet(address, bits, family);
    this.trustsAnybody = subnets.length > 0;
  }

  /** An IPv4 address, or the /64 of an IPv6 address: a household has that many of them. */
  of({
    headers,
    socket,
  }: {
    headers: Record<string, unknown>;
    socket: { remoteAddress?: string | undefined };
  }): string {
    const address = socket.remoteAddress ?? NOBODY;
    if (!this.trustsAnybody) return this.counted(address);
    const forwarded = headers['x-forwarded-for'];
    return this.counted(typeof forwarded === 'string' ? this.behindProxies(address, forwarded) : address);
  }

  private behindProxies(nearest: string, forwarded: string): string {
    let client = nearest;
    for (const text of forwarded.split(',').reverse()) {
      if (!this.isTrusted(client)) return client;
      const next = withoutPort(text.trim());
      if (isIP(next) === 0) return client;
      client = next;
    }
    return client;
  }

  private isTrusted(address: string): boolean {
    return isIP(address) !== 0 && this.trusted.check(plain(address), isIPv4(plain(address)) ? 'ipv4' : 'ipv6');
  }

  private counted(address: string): string {
    return address.includes(':') ? this.networks.get(address, () => networkOf(plain(address))) : address;
  }
}

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

function parseSubnet(text: string): { address: string; bits: number; family: 'ipv4' | 'ipv6' } | null {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return null;
  const most = version === 4 ? 32 : 128;
  const asked = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : NaN;
  return asked >= 0 && asked <= most ? { address, bits: asked, family: version === 4 ? 'ipv4' : 'ipv6' } : null;
}

/** `10.0.0.1:4711` and `[::1]:4711`, as some proxies write them. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]+)\](:\d+)?$/.exec(text)?.[1];
  return bracketed ?? (/^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text);
}

/** An IPv4 address in IPv6 clothes (RFC 4291, section 2.5.5.2) as itself; no zone. */
function plain(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  return mapped ?? address.split('%')[0]!;
}

function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const before = groups(head);
  const missing = tail === undefined ? 0 : 8 - before.length - groups(tail).length;
  const first = [...before, ...Array<string>(Math.max(0, missing)).fill('0'), ...groups(tail ?? '')];
  const counted = first.slice(0, IPV6_BITS_COUNTED / GROUP_BITS).map((group) => parseInt(group, 16).toString(16));
  return `${counted.join(':')}::/${IPV6_BITS_COUNTED}`;
}
