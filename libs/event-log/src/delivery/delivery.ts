import { backoffMs, retryWhile, sleep } from '@laddercast/platform';
import { reasonOf, type LogLine } from './log-line.js';
import { isRetriable } from './retriable.js';
import type { LogBatch, LogRecord } from '../event-log.js';
import type { Topic } from '../topics.js';

/** A record as it is stored, not parsed. */
export interface StoredRecord {
  lane: number;
  position: number;
  topic: string;
  key: string;
  /** JSON of the event. */
  payload: string;
  /** When the ledger wrote it, Unix ms. */
  createdAtMs: number;
  /** W3C trace context that the log added on the way; absent: the event's own counts, if any. */
  traceparent?: string;
  /** The parsed event, once somebody parsed it: the groups of a process share it. */
  parsed?: LogRecord;
}

/** Parks a record that fails by itself; parking it again changes nothing. */
export type Park = (record: StoredRecord, cause: string) => Promise<void>;

export interface DeliveryOptions {
  /** Ends the waits between tries; the delivery then rejects. */
  signal: AbortSignal;
  park: Park;
  log: LogLine;
  backoff?: { firstMs: number; maxMs: number };
}

const BACKOFF = { firstMs: 100, maxMs: 5000 };
/** A parking that failed waits as long as a fifth try. */
const PARK_AGAIN_ATTEMPT = 4;
/** The longest cause that is stored, in characters. */
export const CAUSE_MAX = 4000;

/**
 * Hands records to a handler until all of them are settled: handled, or parked.
 * While the handler fails with a retriable error it is called again, for ever, with growing waits. Otherwise the records
 * are halved until the one that fails by itself is alone, and that one is parked. Records may reach the handler more
 * than once, always in order.
 * @throws when the signal aborts
 */
export async function deliver(
  records: readonly StoredRecord[],
  handler: (records: readonly StoredRecord[]) => Promise<void>,
  options: DeliveryOptions,
): Promise<void> {
  const { signal, log, backoff = BACKOFF } = options;
  if (records.length === 0) return;
  signal.throwIfAborted();
  try {
    await retryWhile(() => handler(records), isRetriable, {
      backoff,
      signal,
      onFailure: (error, waitMs) =>
        log('warn', `Events wait: ${reasonOf(error)}`, { ...placeOf(records), waitMs: Math.round(waitMs) }),
    });
  } catch (error) {
    if (signal.aborted) throw error;
    if (records.length === 1) return parkOne(records[0]!, error, handler, options);
    const middle = records.length >> 1;
    await deliver(records.slice(0, middle), handler, options);
    await deliver(records.slice(middle), handler, options);
  }
}

/** The lane waits until the event is parked: no event is skipped without a trace. */
async function parkOne(
  record: StoredRecord,
  error: unknown,
  handler: (records: readonly StoredRecord[]) => Promise<void>,
  options: DeliveryOptions,
): Promise<void> {
  const { signal, park, log, backoff = BACKOFF } = options;
  log('error', `An event fails by itself and is parked in dead_letters: ${reasonOf(error)}`, placeOf([record]));
  try {
    await park(record, describeCause(error));
  } catch (failure) {
    log('warn', `The event cannot be parked yet: ${reasonOf(failure)}`, placeOf([record]));
    await sleep(backoffMs(PARK_AGAIN_ATTEMPT, backoff.firstMs, backoff.maxMs), signal);
    signal.throwIfAborted();
    // The event may have failed for the same reason that keeps it from being parked: then it is not the event's fault.
    await deliver([record], handler, options);
  }
}

const placeOf = (records: readonly StoredRecord[]): Record<string, unknown> => ({
  lane: records[0]!.lane,
  position: records[0]!.position,
  events: records.length,
});

/** Message and stack, with those of the causes; addresses lose their passwords. */
export function describeCause(error: unknown): string {
  const parts: string[] = [];
  for (let at: unknown = error, depth = 0; at != null && depth < 4; depth += 1) {
    parts.push(at instanceof Error ? (at.stack ?? `${at.name}: ${at.message}`) : describeValue(at));
    at = (at as { cause?: unknown }).cause;
  }
  // Longer than what is stored, so that a secret is not cut in two before it is recognized.
  const text = parts.join('\ncaused by ').slice(0, 2 * CAUSE_MAX);
  return withoutSecrets(text).replaceAll('\0', '\ufffd').slice(0, CAUSE_MAX);
}

function describeValue(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

const withoutSecrets = (text: string): string =>
  text
    .replace(/\b(\w{1,20}:\/\/[^\s:/@]*):[^\s@]+@/g, '$1:***@')
    .replace(/\b(password|secret|token|authorization)(["']?\s*[=:]\s*)("[^"]*"|'[^']*'|\S+)/gi, '$1$2***');

/** The batch as a handler gets it. @throws on a payload that is not an event of its topic */
export function toLogBatch(records: readonly StoredRecord[]): LogBatch {
  return { lane: records[0]!.lane, records: records.map(toLogRecord) };
}

function toLogRecord(stored: StoredRecord): LogRecord {
  if (stored.parsed !== undefined) return stored.parsed;
  const { lane, position, topic, key, payload, createdAtMs, traceparent } = stored;
  const event = JSON.parse(payload) as LogRecord['event'] | null;
  if (event?.type !== topic) throw new Error(`The payload is no event of the topic "${topic}".`);
  const record: LogRecord = { topic: topic as Topic, lane, position, writtenAtMs: createdAtMs, key, event };
  const context = traceparent ?? (event.type === 'entry-changed' ? event.traceparent : undefined);
  if (context !== undefined) record.traceparent = context;
  stored.parsed = record;
  return record;
}

/** How the JSON of a traced event ends; only sampled traceparents are carried. */
const TRACED_END = /"traceparent":"(00-[0-9a-f]{32}-[0-9a-f]{16}-01)"\}$/;

/** The trace context of a record, found without parsing its payload. */
export const traceparentOf = ({ payload }: Pick<StoredRecord, 'payload'>): string | undefined =>
  payload.endsWith('-01"}') ? TRACED_END.exec(payload.slice(-80))?.[1] : undefined;
