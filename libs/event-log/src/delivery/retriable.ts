import { LadderError } from '@laddercast/domain';
import { isDatabaseUnavailable } from '@laddercast/ledger';

/** Node's socket errors, after which a connection can come back. */
const RETRIABLE_SOCKET =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/;
/** Error prefixes of Redis and Valkey while they cannot serve, and what ioredis says about its connection. */
const RETRIABLE_REDIS =
  /^(ReplyError: )?(NOPERM|WRONGPASS|NOAUTH|DENIED|ERR unknown command|ERR ACL failure in script|ERR The user executing the script|LOADING|CLUSTERDOWN|OOM|READONLY|MASTERDOWN|TRYAGAIN|BUSY|MISCONF|NOREPLICAS|UNBLOCKED)\b|Command timed out|Connection is closed|Stream isn't writeable|Failed to refresh slots cache|max retries per request|None of startup nodes|Too many Cluster redirections/;

/** How deep causes are followed. */
const CAUSES_MAX = 8;

/**
 * Whether the same work can succeed later: a service is away, slow, full or moving. Everything else is the fault of the
 * data (or of our code), and trying again would block the lane for ever. An error may say so itself (`retriable: true`,
 * as LadderError and kafkajs do); otherwise its causes are looked at.
 */
export function isRetriable(error: unknown, depth = 0): boolean {
  if (error === null || typeof error !== 'object' || depth > CAUSES_MAX) return false;
  if (error instanceof LadderError) return error.retriable;
  const { code, message, retriable, cause, errors } = error as {
    code?: unknown;
    message?: unknown;
    retriable?: unknown;
    cause?: unknown;
    errors?: unknown;
  };
  if (retriable === true) return true;
  if (typeof code === 'string' && RETRIABLE_SOCKET.test(code)) return true;
  if (typeof message === 'string' && RETRIABLE_REDIS.test(message)) return true;
  if (isDatabaseUnavailable(error)) return true;
  if (Array.isArray(errors) && errors.some((one) => isRetriable(one, depth + 1))) return true;
  return isRetriable(cause, depth + 1);
}
