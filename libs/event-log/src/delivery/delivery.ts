import { backoffMs, retryWhile, sleep } from '@laddercast/platform';
import { reasonOf, type LogLine } from './log-line.js';
import { isRetriable } from './retriable.js';
import type { LogBatch, LogRecord } from '../event-log.js';
import type { Topic } from '../topics.js';

/** A record as it is stored, before anybody looked into it. */
export interface StoredRecord {
  lane: number;
  position: number;
  topic: string;
  key: string;
  /** JSON of the event. */
  payload: string;
  /** When the ledger wrote it, Unix ms. */
  createdAtMs: number;
  /** W3C trace context that the log gave it on its way; absent: that of the event, if any. */
  traceparent?: string;
  /** What it says, once somebody looked: several groups of a process are given the same. */
  parsed?: LogRecord;
}

/** Keeps a record that fails by itself; keeping it again changes nothing. */
export type Park = (record: StoredRecord, cause: string) => Promise<void>;

export interface DeliveryOptions {
  /** Ends the waiting between tries; the delivery then rejects. */
  signal: AbortSignal;
  park: Park;
  log: LogLine;
  backoff?: { firstMs: number; maxMs: number };
}

const BACKOFF = { firstMs: 100, maxMs: 5000 };
/** The wait before a parking that failed is tried again: that of the fifth try. */
const PARK_AGAIN_ATTEMPT = 4;
/** The longest cause that is kept, in characters. */
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

/** The lane waits for the parking: an event is never passed over without a trace. */
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
    // What kept the event from being parked may be what it failed of: then it is no fault of the event.
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
  // More than is kept: what is cut off in the middle of a secret must not be among it.
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

/** The batch that a handler of the port gets. @throws on a payload that is not an event of its topic */
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

/** What the JSON of a traced event ends with; a traceparent that is not sampled is never carried. */
const TRACED_END = /"traceparent":"(00-[0-9a-f]{32}-[0-9a-f]{16}-01)"\}$/;

/** The trace context that the payload of a record carries, read without parsing it. */
export const traceparentOf = ({ payload }: Pick<StoredRecord, 'payload'>): string | undefined =>
  payload.endsWith('-01"}') ? TRACED_END.exec(payload.slice(-80))?.[1] : undefined;
