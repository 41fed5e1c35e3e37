/** Which pictures the page may show: nothing here knows of the document. */

/**
 * Whether the content security policy of the page lets an image in: from its own server, or by https from one of `hosts`, as
 * PAGE_IMAGE_HOSTS names them. What it would keep out is not asked for.
 */
export function mayLoad(address, { hosts, own }) {
  const url = URL.canParse(address ?? '') ? new URL(address) : null;
  if (url === null) return false;
  return url.origin === own || (url.protocol === 'https:' && hosts.some((host) => isOf(host.toLowerCase(), url.host)));
}

/** The host of a URL names no port where it is that of https. */
function isOf(host, actual) {
  const named = host.replace(/:443$/, '');
  return named.startsWith('*.') ? actual.endsWith(named.slice(1)) && actual.length >= named.length : actual === named;
}
