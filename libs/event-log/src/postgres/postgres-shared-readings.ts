import { monotonicMs, sleep } from '@laddercast/platform';
import { LOG_BATCH_MAX } from '../event-log.js';
import type { PostgresOutboxListener } from './postgres-outbox-listener.js';
import type { OutboxReading, OutboxRecord, PostgresOutbox } from './postgres-outbox.js';
import { TOPICS } from '../topics.js';

/** How often a group waits for another's reading before it reads itself. */
const WAITS_MAX = 2;
/** The most records of a lane that are kept for groups that come later: some 2 MB if each is of one entry. */
const RECORDS_KEPT_MAX = 2 * LOG_BATCH_MAX;
/** The most looks at a lane whose records are kept; most bring few. */
const STRETCHES_MAX = 64;
/**
 * How long records gather after a look at a lane's end: the longer, the more it brought. Each look costs, and so does
 * what each group does after it.
 */
const GATHERED_FOR_MS = { least: 5, most: 30, eachRecord: 1.5 };

/** How long a look at a lane's end waits for groups that would otherwise lose what is kept for them. */
const PATIENCE_MS = { each: 5, most: 50 };
/** For how long a look that found nothing is good for other groups: they look at the same beat. */
const NOTHING_GOOD_FOR_MS = 50;
/** A group that has asked for nothing for so long is waited for no more. */
const STUCK_AFTER_MS = 1000;

/**
 * A reading, with the number of notifications that were heard before its look: what was notified later may not be in
 * it.
 */
export interface HeardReading extends OutboxReading {
  words: number;
}

/** The result of one look at a lane, of all topics. */
interface Stretch extends HeardReading {
  after: number;
}

/** What is kept of a lane: consecutive stretches, up to the last look. */
interface KnownLane {
  stretches: Stretch[];
  /** The last look that found nothing, and when it began. */
  nothing: { after: number; reading: HeardReading; atMs: number } | null;
  /** Nobody looks at the lane's end before this. */
  gatheringUntilMs: number;
  /** The groups of this process that read the lane: the position from which each last asked, and when. */
  readers: Map<string, { after: number; atMs: number }>;
}

/**
 * Readings of the outbox that all groups of a process share: one of them looks at the end of a lane for all, and the
 * result is kept for those that come a little later. What is visible up to a position of a lane never changes, so a
 * reading of a moment ago is as good as a new one.
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
      const nothing = this.nothingAfter(lane, after);
      if (nothing !== null) return nothing;
      const underWay = this.underWay.get(lane);
      // If a reading brought nothing for those who waited for it, the first of them reads for all.
      if (underWay === undefined || waits === WAITS_MAX) break;
      await underWay.catch(() => undefined);
    }
    // A group that is far behind reads for itself.
    if (after < endOf(this.of(lane))) return this.look(lane, after, topics, span);
    const reading = this.readEnd(lane, after, span);
    this.underWay.set(lane, reading);
    try {
      return ofTopics(await reading, after, topics);
    } finally {
      if (this.underWay.get(lane) === reading) this.underWay.delete(lane);
    }
  }

  /** The ledger may have been restored since the lane was read, so a consumer that begins anew reads anew. */
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
    if (stretch.through === after) known.nothing = { after, reading: stretch, atMs: beganAtMs };
    keep(known, stretch);
    return stretch;
  }

  private async look(lane: number, after: number, topics: readonly string[], span: number): Promise<HeardReading> {
    const words = this.listener.words(lane);
    return { ...(await this.outbox.read(lane, after, topics, LOG_BATCH_MAX, span)), words };
  }

  /** The reading of a moment ago that found nothing there, unless something was notified since. */
  private nothingAfter(lane: number, after: number): HeardReading | null {
    const { nothing } = this.of(lane);
    if (nothing === null || nothing.after !== after) return null;
    const isGood =
      nothing.reading.words === this.listener.words(lane) && monotonicMs() - nothing.atMs < NOTHING_GOOD_FOR_MS;
    return isGood ? nothing.reading : null;
  }

  private of(lane: number): KnownLane {
    const known = this.lanes.get(lane) ?? { stretches: [], nothing: null, gatheringUntilMs: 0, readers: new Map() };
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

/** Whether a full reading would drop records that some group is about to read; at the end of a lane little is read. */
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

/** The kept records after a position, at most one reading of them; null if there are none. */
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
