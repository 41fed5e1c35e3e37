import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import { growingCache } from './growing-cache.js';

const IPV6_BITS_COUNTED = 64;
const GROUP_BITS = 16;
const NETWORKS_CACHED_MAX = 10_000;
const NOBODY = 'unknown';
/** Stands for an empty part of the header, which proxy-addr would skip. */
const UNREADABLE = '-';

/** What is wrong with a list of trusted proxies, or null. */
export function faultOfProxies(text: string): string | null {
  const wrong = listOf(text).find((one) => !isSubnet(one));
  return wrong === undefined ? null : `"${wrong}" is no address and no network such as 10.0.0.0/8`;
}

/**
 * The address that limits count for: that of the socket, or behind trusted proxies the last one in `X-Forwarded-For`
 * that is not a proxy. A client can invent whatever stands before it.
 */
export class ClientAddresses {
  readonly trustsAnybody: boolean;
  private readonly isTrusted: (address: string, hop: number) => boolean;
  private readonly networks = growingCache<string, string>(NETWORKS_CACHED_MAX);

  /** @param proxies addresses and networks, separated by commas */
  constructor(proxies = '') {
    const subnets = listOf(proxies).filter(isSubnet).flatMap(halvesOf);
    const isProxy = proxyAddr.compile(subnets);
    this.trustsAnybody = subnets.length > 0;
    this.isTrusted = (address, hop) => isProxy(plain(address), hop);
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

  private behindProxies(remoteAddress: string, forwarded: string): string {
    const parts = forwarded.split(',').map((part) => withoutPort(part.trim()) || UNREADABLE);
    const request = { headers: { 'x-forwarded-for': parts.join(',') }, socket: { remoteAddress } };
    const addresses = proxyAddr.all(request as unknown as IncomingMessage, this.isTrusted);
    return addresses.findLast((address) => isIP(address) !== 0) ?? remoteAddress;
  }

  private counted(address: string): string {
    if (!address.includes(':')) return address;
    const known = this.networks.get(address);
    if (known !== undefined) return known;
    const network = networkOf(plain(address));
    this.networks.set(address, network);
    return network;
  }
}

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

function isSubnet(text: string): boolean {
  // proxy-addr would also take netmasks and names such as `loopback`.
  if (!/^[^/]+(\/\d{1,3})?$/.test(text) || isIP(text.split('/')[0]!) === 0) return false;
  try {
    proxyAddr.compile(halvesOf(text));
    return true;
  } catch {
    return false;
  }
}

/** All addresses as two networks, because proxy-addr takes no `/0`. */
function halvesOf(subnet: string): string[] {
  if (!/\/0+$/.test(subnet)) return [subnet];
  return subnet.includes(':') ? ['::/1', '8000::/1'] : ['0.0.0.0/1', '128.0.0.0/1'];
}

/** `10.0.0.1:4711` and `[::1]:4711`, as some proxies write them. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]+)\](:\d+)?$/.exec(text)?.[1];
  return bracketed ?? (/^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text);
}

/** An IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2) as IPv4; zones are cut off. */
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
