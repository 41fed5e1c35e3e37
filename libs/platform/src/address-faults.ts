import { namesSentinels } from './sentinel-address.js';

/**
 * What is wrong with the addresses of a server (several: separated by commas), null when nothing is. The text never
 * repeats an address.
 */
export function faultOfAddresses(text: string): string | null {
  // A missing scheme has a rule of its own, and so have sentinels.
  const addresses = text.split(/,(?=rediss?:)/).filter((address) => address.includes('://') && !namesSentinels(text));
  return addresses.every(isReadable)
    ? null
    : 'this is no address (user:password@host:port); in user and password, write # / ? @ : and % as %23 %2F %3F %40 %3A %25';
}

/** As the URL standard has it, which takes no user without a host: PostgreSQL's may be a Unix socket that `host=` names. */
export const withHost = (address: string): string =>
  address.replace(/^(postgres(?:ql)?:\/\/[^@/?#]*@)(?=\/)/, '$1localhost');

function isReadable(address: string): boolean {
  try {
    const { username, password, pathname } = new URL(withHost(address));
    decodeURIComponent(username + password + pathname);
    return true;
  } catch {
    return false;
  }
}
