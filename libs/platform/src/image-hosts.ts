const LABEL = /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?$/i;
const PORT = /^[1-9]\d{0,4}$/;

/**
 * What is wrong with hosts of images as a content security policy is to name them, separated by commas; null: nothing. A host has
 * two names at least, so that no top-level domain is let in whole, and is no wildcard but of all below it.
 */
export function faultOfImageHosts(text: string): string | null {
  const wrong = text === '' ? undefined : text.split(',').find((host) => !isHost(host));
  if (wrong === undefined) return null;
  return 'must be hosts such as cdn.example.com, *.example.net or img.example.org:8443, without https:// or a path, separated by commas';
}

function isHost(text: string): boolean {
  const [host, port, ...rest] = text.replace(/^\*\./, '').split(':');
  const labels = host!.split('.');
  const isName = labels.length > 1 && labels.every((label) => LABEL.test(label));
  return isName && rest.length === 0 && (port === undefined || PORT.test(port));
}
