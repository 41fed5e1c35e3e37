import { LadderError } from '@laddercast/domain';
import { nap, sleep, type Nap } from '@laddercast/platform';
import type { Lanes } from '@laddercast/ledger';
import type { CommittedPositions } from './committed-positions.js';
import type { RedisLaneMarks } from '../redis/redis-lane-marks.js';
import type { ReadGuard } from '../hash-shards/redis-shard-reads.js';

/** What was lost is noticed within this time, and at once on a reconnection. */
const LOOK_EVERY_MS = 1000;
/** A database that takes longer is taken to say what it said last; one that never said anything, that something is missing. */
const DATABASE_WAIT_MS = 500;

/**
 * Knows whether the projection holds all that was ever applied to it: whether each lane's mark stands where it was last
 * recorded. While it does not (Redis was emptied, or is older than the log's offsets) reads of the shards are refused,
 * rather than answered from a part of the entries. What was lost since the last look shows in the marks that are read after
 * each reading.
 *
 * That holds for whichever generation of a board's lists serves: one serves only when the recorded position of each lane is
 * beyond all that it was filled with (LayoutBuilder), so a store without it has a mark that is behind. Nor is anything read
 * of a store that is ahead of a ledger which was restored (RestoredLedgerCheck).
 */
export class ProjectionWatch implements ReadGuard {
  private readonly stopped = new AbortController();
  private readonly committedKnown = new Map<number, number>();
  private readonly lossListeners = new Set<() => void>();
  private proving: Promise<void> | null = null;
  private isWhole = true;
  private reconnections = 0;
  private isWoken = false;
  private resting: Nap | null = null;
  private behind: readonly number[] = [];
  private watched: readonly number[];
  private readonly watchedFirst: number;
  /** Until the database has answered once, nothing is known of it. */
  private wasAhead = true;
  private stopListening: () => void = () => undefined;

  constructor(
    private readonly marks: Pick<RedisLaneMarks, 'readLanes'>,
    private readonly committed: Pick<CommittedPositions, 'ofAll'>,
    private readonly lanes: Pick<Lanes, 'all'>,
    /** Whether the projection has what the ledger has not, so that it must not be read either. */
    private readonly isAhead: () => Promise<boolean> = async () => false,
  ) {
    this.watched = lanes.all;
    this.watchedFirst = lanes.all.length;
  }

  /** Looks now, then every second and whenever `wake` calls its listener, until {@link stop}. */
  async start(wake: (listener: () => void) => () => void): Promise<void> {
    // For as long as it runs: a look that was under way knows nothing of the server that answers now.
    this.stopListening = wake(() => {
      this.isWhole = false;
      this.reconnections += 1;
      this.wakeUp();
    });
    await this.look();
    void this.watch();
  }

  stop(): void {
    this.stopListening();
    this.stopped.abort();
  }

  /** @throws PROJECTION_UNAVAILABLE while entries are missing */
  assertWhole(): void {
    if (!this.isWhole) throw lost();
  }

  /** By marks that are read in the same connection; readings of one turn of the event loop share them. */
  prove(): Promise<void> {
    this.proving ??= new Promise((resolve, reject) => {
      // After everything that this turn sends.
      setImmediate(() => {
        this.proving = null;
        this.proveNow().then(resolve, reject);
      });
    });
    return this.proving;
  }

  /** Up to where each lane is known to be recorded as applied, in the order of the lanes; Infinity where that is not known. */
  get positions(): readonly number[] {
    return this.watched.map((lane) => this.committedKnown.get(lane) ?? Infinity);
  }

  /** Calls the listener whenever a loss is noticed; returns how to end that. */
  onLoss(listener: () => void): () => void {
    this.lossListeners.add(listener);
    return () => this.lossListeners.delete(listener);
  }

  /** Lanes of which entries were missing at the last look. */
  get lanesBehind(): readonly number[] {
    return this.behind;
  }

  /** A mark that cannot be read changes nothing: then the shards cannot be read either. */
  async look(): Promise<void> {
    const { reconnections } = this;
    // In this order: marks move before positions are recorded, so that a mark read later is never behind.
    await this.learnCommitted(this.lanes.all);
    this.watched = this.lanesToldOf();
    const behind = await this.findBehind().catch(() => null);
    if (!behind) return;
    const isWhole = behind.length === 0 && !(await this.isFromLater());
    if (reconnections !== this.reconnections) return;
    this.behind = behind;
    this.note(isWhole);
  }

  private async proveNow(): Promise<void> {
    if ((await this.findBehind()).length === 0) return;
    this.note(false);
    this.wakeUp();
    throw lost();
  }

  private note(isWhole: boolean): void {
    const isLoss = this.isWhole && !isWhole;
    this.isWhole = isWhole;
    if (isLoss) for (const listener of this.lossListeners) listener();
  }

  /** Lanes whose marks are not where they are known to have been; one of which nothing is known is behind. */
  private async findBehind(): Promise<number[]> {
    const { watched, positions } = this;
    const marks = await this.marks.readLanes(watched);
    return watched.filter((_, at) => (marks[at] ?? 0) < positions[at]!);
  }

  /** Of the lanes that came since the beginning, those before the first of which the database has not told. */
  private lanesToldOf(): readonly number[] {
    const { all } = this.lanes;
    const unknown = all.find((lane) => lane >= this.watchedFirst && !this.committedKnown.has(lane));
    return unknown === undefined ? all : all.slice(0, unknown);
  }

  /** Unknown while the database does not answer; then what is known stays. */
  private async isFromLater(): Promise<boolean> {
    // An answer that comes later is the one to go by at the next look.
    const noted = this.isAhead().then(
      (isAhead) => void (this.wasAhead = isAhead),
      () => undefined,
    );
    await Promise.race([noted, sleep(DATABASE_WAIT_MS)]);
    return this.wasAhead;
  }

  private async watch(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      if (!this.isWoken) {
        this.resting = nap(LOOK_EVERY_MS, this.stopped.signal);
        await this.resting.over;
      }
      this.isWoken = false;
      await this.look();
    }
  }

  private wakeUp(): void {
    this.isWoken = true;
    this.resting?.wake();
  }

  private async learnCommitted(lanes: readonly number[]): Promise<void> {
    const noted = this.committed.ofAll(lanes).then(
      (positions) => lanes.forEach((lane, at) => this.committedKnown.set(lane, positions[at]!)),
      () => undefined,
    );
    await Promise.race([noted, sleep(DATABASE_WAIT_MS)]);
  }
}

const lost = (): LadderError =>
  new LadderError('PROJECTION_UNAVAILABLE', 'The ranks were lost and are being brought back from PostgreSQL.', {
    retryAfterSeconds: 1,
  });
