import type { Environment } from '@laddercast/platform';

/**
 * Of every answer: a browser is to believe its Content-Type, whatever text a player put into it, and to do nothing with it
 * but read. The live page and /docs put policies of their own in the place of this one.
 */
export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

/** {@link SECURITY_HEADERS}, and where TLS is in front, that browsers are to insist on it. */
export function securityHeadersOf({ HSTS_SECONDS }: Environment): Record<string, string> {
  if (HSTS_SECONDS === 0) return SECURITY_HEADERS;
  return { ...SECURITY_HEADERS, 'strict-transport-security': `max-age=${HSTS_SECONDS}; includeSubDomains` };
}
