import { LadderError } from '@laddercast/domain';
import { sleep } from '@laddercast/platform';
import type { CommittedPositions } from './committed-positions.js';
import type { RankProjection } from './rank-projection.js';

/** What was lost is noticed within this time, and at once on a reconnection. */
const LOOK_EVERY_MS = 1000;
/** A database that takes longer is taken to say what it said last. */
const DATABASE_WAIT_MS = 500;

/**
 * Knows whether the projection holds all that was ever applied to it: whether each lane's mark stands where it was last
 * recorded. While it does not (Redis was emptied, or is older than the log's offsets) reads of the shards are refused,
 * rather than answered from a part of the entries.
 *
 * That holds for whichever generation of a board's lists serves: one serves only when the recorded position of each lane is
 * beyond all that it was filled with (LayoutBuilder), so a store without it has a mark that is behind. Nor is anything read
 * of a store that is ahead of a ledger which was restored (LedgerStamp).
 */
export class ProjectionWatch {
  private readonly stopped = new AbortController();
  private readonly committedKnown = new Map<number, number>();
  private isWhole = true;
  private behind: readonly number[] = [];
  private wasAhead = false;

  constructor(
    private readonly marks: Pick<RankProjection, 'readMark'>,
    private readonly committed: Pick<CommittedPositions, 'of'>,
    private readonly lanes: readonly number[],
    /** Whether the projection has what the ledger has not, so that it must not be read either. */
    private readonly isAhead: () => Promise<boolean> = async () => false,
  ) {}

  /** Looks now, then every second and whenever `wake` calls its listener, until {@link stop}. */
  async start(wake: (listener: () => void) => () => void): Promise<void> {
    await this.look();
    void this.watch(wake);
  }

  stop(): void {
    this.stopped.abort();
  }

  /** @throws PROJECTION_UNAVAILABLE while entries are missing */
  assertWhole(): void {
    if (this.isWhole) return;
    throw new LadderError('PROJECTION_UNAVAILABLE', 'The ranks were lost and are being brought back from PostgreSQL.', {
      retryAfterSeconds: 1,
    });
  }

  /** Lanes of which entries were missing at the last look. */
  get lanesBehind(): readonly number[] {
    return this.behind;
  }

  /** A mark that cannot be read changes nothing: then the shards cannot be read either. */
  async look(): Promise<void> {
    const found = await Promise.all(this.lanes.map((lane) => this.isLaneWhole(lane))).catch(() => null);
    if (!found) return;
    this.behind = this.lanes.filter((_, index) => !found[index]);
    this.isWhole = this.behind.length === 0 && !(await this.isFromLater());
  }

  /** Unknown while the database does not answer: then nothing has changed. */
  private async isFromLater(): Promise<boolean> {
    const isAhead = this.isAhead().catch(() => this.wasAhead);
    this.wasAhead = await Promise.race([isAhead, sleep(DATABASE_WAIT_MS).then(() => this.wasAhead)]);
    return this.wasAhead;
  }

  private async watch(wake: (listener: () => void) => () => void): Promise<void> {
    while (!this.stopped.signal.aborted) {
      const woken = new AbortController();
      const stopListening = wake(() => {
        // Another server may answer now: nothing is read from it before it was looked at.
        this.isWhole = false;
        woken.abort();
      });
      await sleep(LOOK_EVERY_MS, AbortSignal.any([this.stopped.signal, woken.signal]));
      stopListening();
      await this.look();
    }
  }

  private async isLaneWhole(lane: number): Promise<boolean> {
    // In this order: marks move before positions are recorded, so that a mark read later is never behind.
    const known = this.committedKnown.get(lane) ?? 0;
    const committed = await Promise.race([
      this.committed.of(lane).catch(() => known),
      sleep(DATABASE_WAIT_MS).then(() => known),
    ]);
    this.committedKnown.set(lane, committed);
    return ((await this.marks.readMark(lane)) ?? 0) >= committed;
  }
}
