/**
 * The error codes of Node.js and OpenSSL for a certificate that they do not trust (`X509_V_ERR_…`, `ERR_TLS_CERT_…`).
 */
const UNTRUSTED = /CERT|SIGNATURE|ISSUER|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)/;
/** What the other side answers when it does not take our own certificate. */
const ALERT = /^ERR_SSL_/;
const CAUSES_MAX = 5;

/**
 * Why the certificate of a server is not trusted, in the words of Node.js; null where an error, with its causes, is about
 * something else.
 */
export function distrustIn(error: unknown, depth = 0): string | null {
  if (!(error instanceof Error) || depth > CAUSES_MAX) return null;
  const { code, message, cause } = error as Error & { code?: unknown };
  if (typeof code === 'string' && UNTRUSTED.test(code) && !ALERT.test(code)) return message;
  return distrustIn(cause, depth + 1);
}

/** The same as a part of a sentence, with what to do about it. */
export function untrustedCertificate(error: unknown, server: string, caSetting: string): string | null {
  const distrust = distrustIn(error);
  const remedy = `correct the address, or name in ${caSetting} who may vouch for it`;
  return distrust === null ? null : `the certificate of ${server} is not trusted (${distrust}): ${remedy}`;
}
