import { monotonicMs, sleep } from '@laddercast/platform';
import { LOG_BATCH_MAX } from '../event-log.js';
import type { PostgresOutboxListener } from './postgres-outbox-listener.js';
import type { OutboxReading, OutboxRecord, PostgresOutbox } from './postgres-outbox.js';
import { TOPICS } from '../topics.js';

/** Then one reads by itself. */
const WAITS_MAX = 2;
/** The most records of a lane that are kept for groups that come later, some 2 MB where each is of one entry. */
const RECORDS_KEPT_MAX = 2 * LOG_BATCH_MAX;
/** The most looks at a lane that they are kept of: most bring few. */
const STRETCHES_MAX = 64;
/**
 * So long after a look at a lane's end what comes next is left to gather, and the longer the more it brought: each look,
 * and what every group does then, has its price.
 */
const GATHERED_FOR_MS = { least: 5, most: 30, eachRecord: 1.5 };

/** So long the end of a lane is not looked at for the sake of groups that would lose what is kept for them. */
const PATIENCE_MS = { each: 5, most: 50 };
/** A group that has asked for nothing for so long is waited for no more. */
const STUCK_AFTER_MS = 1000;

/** A reading with how many words of its lane were heard before the look that it goes back to: what is heard later may not be in it. */
export interface HeardReading extends OutboxReading {
  words: number;
}

/** What one look at a lane brought, whatever the topic. */
interface Stretch extends HeardReading {
  after: number;
}

/** What is known of a lane: stretches that follow each other, up to the last look at it. */
interface KnownLane {
  stretches: Stretch[];
  /** Until then nobody looks at its end again. */
  gatheringUntilMs: number;
  /** The groups of this process that read it, with the position behind which each asked the last time, and when. */
  readers: Map<string, { after: number; atMs: number }>;
}

/**
 * Readings of the outbox that all groups of a process share: one of them looks at the end of a lane for all, and what it
 * brought is kept for those who come a little later. What is visible up to a position of a lane never changes, so what was
 * read a moment ago is as good as what would be read now.
 */
export class PostgresSharedReadings {
  private readonly lanes = new Map<number, KnownLane>();
  private readonly underWay = new Map<number, Promise<unknown>>();

  constructor(
    private readonly outbox: Pick<PostgresOutbox, 'read'>,
    private readonly listener: Pick<PostgresOutboxListener, 'words'>,
  ) {}

  /**
   * As {@link PostgresOutbox.read}, of at most {@link LOG_BATCH_MAX} records; at a lane's end after a while.
   * @param reader the group that asks
   */
  async read(
    lane: number,
    after: number,
    topics: readonly string[],
    span: number,
    reader: string,
  ): Promise<HeardReading> {
    this.of(lane).readers.set(reader, { after, atMs: monotonicMs() });
    for (let waits = 0; ; waits += 1) {
      const kept = keptAfter(this.of(lane).stretches, after, topics);
      if (kept !== null) return kept;
      const underWay = this.underWay.get(lane);
      // Of those that wait together for a reading that brings them nothing, the first reads for all.
      if (underWay === undefined || waits === WAITS_MAX) break;
      await underWay.catch(() => undefined);
    }
    // Whoever is far behind reads for itself alone.
    if (after < endOf(this.of(lane))) return this.look(lane, after, topics, span);
    const reading = this.readEnd(lane, after, span);
    this.underWay.set(lane, reading);
    try {
      return ofTopics(await reading, after, topics);
    } finally {
      if (this.underWay.get(lane) === reading) this.underWay.delete(lane);
    }
  }

  /** What was read of a lane may be of a ledger that has gone back since: whoever begins anew reads anew. */
  forget(lane: number): void {
    this.lanes.delete(lane);
  }

  private async readEnd(lane: number, after: number, span: number): Promise<Stretch> {
    const known = this.of(lane);
    const gatheringMs = known.gatheringUntilMs - monotonicMs();
    if (gatheringMs > 0) await sleep(gatheringMs);
    const impatientAtMs = monotonicMs() + PATIENCE_MS.most;
    while (monotonicMs() < impatientAtMs && wouldLose(known)) await sleep(PATIENCE_MS.each);
    const beganAtMs = monotonicMs();
    const stretch = { ...(await this.look(lane, after, TOPICS, span)), after };
    if (!stretch.more) known.gatheringUntilMs = beganAtMs + gatheredForMs(stretch.records.length);
    keep(known, stretch);
    return stretch;
  }

  private async look(lane: number, after: number, topics: readonly string[], span: number): Promise<HeardReading> {
    const words = this.listener.words(lane);
    return { ...(await this.outbox.read(lane, after, topics, LOG_BATCH_MAX, span)), words };
  }

  private of(lane: number): KnownLane {
    const known = this.lanes.get(lane) ?? { stretches: [], gatheringUntilMs: 0, readers: new Map() };
    this.lanes.set(lane, known);
    return known;
  }
}

const endOf = ({ stretches }: KnownLane): number => stretches.at(-1)?.through ?? 0;

function keep(known: KnownLane, stretch: Stretch): void {
  const end = endOf(known);
  if (stretch.through <= end || stretch.through === stretch.after) return;
  if (stretch.after !== end) known.stretches = [];
  known.stretches.push(stretch);
  let records = known.stretches.reduce((sum, one) => sum + one.records.length, 0);
  while (known.stretches.length > 1 && (records > RECORDS_KEPT_MAX || known.stretches.length > STRETCHES_MAX)) {
    records -= known.stretches.shift()!.records.length;
  }
}

/** Whether somebody is about to need what goes when as much as possible comes; at the end of a lane little does. */
function wouldLose({ stretches, readers }: KnownLane): boolean {
  if (!stretches.at(-1)?.more) return false;
  let records = LOG_BATCH_MAX;
  const lost = stretches.findLast((stretch) => (records += stretch.records.length) > RECORDS_KEPT_MAX);
  if (lost === undefined) return false;
  const sinceMs = monotonicMs() - STUCK_AFTER_MS;
  return [...readers.values()].some(
    ({ after, atMs }) => after >= stretches[0]!.after && after < lost.through && atMs > sinceMs,
  );
}

/** What is kept of after a position, as much of it as one reading may be; null when that is nothing. */
function keptAfter(stretches: readonly Stretch[], after: number, topics: readonly string[]): HeardReading | null {
  const first = stretches.findIndex((stretch) => stretch.after <= after && after < stretch.through);
  if (first < 0) return null;
  const reading = ofTopics(stretches[first]!, after, topics);
  for (const stretch of stretches.slice(first + 1)) {
    const { records, ...next } = ofTopics(stretch, after, topics);
    reading.more = true;
    if (reading.records.length + records.length > LOG_BATCH_MAX) break;
    Object.assign(reading, next);
    reading.records.push(...records);
  }
  return reading;
}

function ofTopics(
  { records, through, more, nextSpan, words }: Stretch,
  after: number,
  topics: readonly string[],
): HeardReading {
  const isWanted = ({ position, topic }: OutboxRecord): boolean => position > after && topics.includes(topic);
  return { records: records.filter(isWanted), through, more, nextSpan, words };
}

const gatheredForMs = (records: number): number =>
  Math.min(GATHERED_FOR_MS.most, Math.max(GATHERED_FOR_MS.least, GATHERED_FOR_MS.eachRecord * records));
