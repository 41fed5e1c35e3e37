import { LadderError } from '@laddercast/domain';
import { CoalescedCall, monotonicMs, nowMs, sleep } from '@laddercast/platform';
import { isRefusal } from '../clients/redis-refusal.js';

/** Where a server is in the stream of changes that one run of a master writes. */
export interface StreamPlace {
  /** Names the run: another master, or the same one started anew, has another. */
  run: string;
  /** How many bytes of it were applied. */
  offset: number;
}

/** What a replica says of itself. */
export interface ReplicaState extends StreamPlace {
  /** The marks of the lanes, in their order; null: none. */
  marks: (number | null)[];
}

/** What the watch over the master knows: see ProjectionWatch. */
export interface MasterGuard {
  /** How far each lane is known to be applied, in their order; Infinity: not known. */
  readonly positions: readonly number[];
  /** @throws PROJECTION_UNAVAILABLE while entries are missing on the master */
  assertWhole(): void;
  /** Resolves when the master was whole after all that was sent to it before. @throws PROJECTION_UNAVAILABLE when not */
  prove(): Promise<void>;
}

/** A look at the master: a replica that is as far in its stream has all that the master had then. */
interface Sample extends StreamPlace {
  /** Unix ms, and the same moment by the monotonic clock. */
  wallMs: number;
  atMs: number;
  /** How far the lanes were applied by then. */
  positions: readonly number[];
}

/** Who is told what a watch sees. */
export interface ReplicaListener {
  /** The replica begins to be read (null), or is read no more, and why. */
  onChange?(fault: ReplicaFault | null): void;
  /** The master is another one, or was whole again after a loss: nothing of it was read from the replica yet. */
  onAnew?(): void;
}

/** Why a replica is not read. */
export type ReplicaFault = 'unknown' | 'away' | 'refused' | 'another run' | 'behind' | 'lost';

/** Below that of a lane in which nothing was applied yet. */
const NO_MARK = -1;
const LOOK_EVERY_MS = 500;
/** A replica that is further behind than the oldest look at the master, a minute ago, is not read. */
const SAMPLES_MAX = 120;
/** One that does not answer, or refuses, holds nobody up for so long afterwards. */
const REST_MS = 1000;
/** For so long a reading waits for a replica that is a little behind; when that was in vain, others do not for a while. */
const CATCH_UP_MS = 1000;
const CATCH_UP_LOOK_EVERY_MS = 20;
const CATCH_UP_AGAIN_AFTER_MS = 5000;

/**
 * Knows as of when a replica shows the lists, and whether it shows all of them. It is whole while its marks are not below what
 * they were when it was last read, under the same run of the master. What the master has lost is judged on the master: until
 * it is whole again no replica is read.
 */
export class ReplicaWatch {
  private readonly stopped = new AbortController();
  /** Of one run, oldest first. */
  private samples: Sample[] = [];
  /** The furthest that the replica was seen when it was read. */
  private shown: ReplicaState | null = null;
  private readonly look: CoalescedCall<ReplicaState>;
  private readonly looking = new CoalescedCall(() => this.lookAtMaster());
  private restsUntilMs = -Infinity;
  private catchesUpAgainAtMs = -Infinity;
  /** As of when the replica was read last, by the monotonic clock. */
  private reachedMs = -Infinity;
  private known: ReplicaFault | null = 'unknown';

  constructor(
    private readonly master: () => Promise<StreamPlace>,
    replica: () => Promise<ReplicaState>,
    private readonly guard: MasterGuard,
    private readonly listener: ReplicaListener = {},
  ) {
    this.look = new CoalescedCall(replica);
  }

  /** Looks at the master twice a second, until {@link stop}. */
  async start(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      await this.sample();
      await sleep(LOOK_EVERY_MS, this.stopped.signal);
    }
  }

  stop(): void {
    this.stopped.abort();
  }

  /** One look at the master, shared by all who ask for one. While it does not answer, what is known of it stays. */
  sample(): Promise<void> {
    return this.looking.ask();
  }

  private async lookAtMaster(): Promise<void> {
    const at = { wallMs: nowMs(), atMs: monotonicMs(), positions: [...this.guard.positions] };
    try {
      const place = await this.master();
      // After the place: what was lost before it shows in the marks now.
      await this.guard.prove();
      if (this.samples[0]?.run !== place.run) {
        this.forget();
        this.listener.onAnew?.();
      }
      this.samples.push({ ...place, ...at });
      if (this.samples.length > SAMPLES_MAX) this.samples.shift();
    } catch {
      if (!this.isMasterWhole()) this.forget();
    }
  }

  /**
   * Waits for the replica to have what the master had by then, by the monotonic clock.
   * @returns false where it has not, after a second at the most
   */
  async catchUp(sinceMs: number): Promise<boolean> {
    if (this.reachedMs >= sinceMs) return true;
    const beganAtMs = monotonicMs();
    if (this.samples.length === 0 || beganAtMs < Math.max(this.catchesUpAgainAtMs, this.restsUntilMs)) return false;
    while (monotonicMs() - beganAtMs < CATCH_UP_MS) {
      if ((this.samples.at(-1)?.atMs ?? -Infinity) < sinceMs) await this.sample();
      const state = await this.lookNow();
      if (state === null) return false;
      const sample = this.sampleOf(state);
      const fault = this.faultOf(state, sample);
      if (fault !== null) {
        this.note(fault);
        return false;
      }
      this.reachedMs = Math.max(this.reachedMs, sample!.atMs);
      if (this.reachedMs >= sinceMs) return true;
      await sleep(CATCH_UP_LOOK_EVERY_MS);
    }
    this.catchesUpAgainAtMs = monotonicMs() + CATCH_UP_AGAIN_AFTER_MS;
    return false;
  }

  /**
   * Reads from the replica.
   * @param sinceMs what the master had by then must be there, by the monotonic clock
   * @param reading is told as of when it is at least, Unix ms
   * @returns null where it is not to be read, or was not whole all the while
   */
  async read<T>(sinceMs: number, reading: (asOfMs: number) => Promise<T>): Promise<T | null> {
    if (this.samples.length === 0 || monotonicMs() < this.restsUntilMs || !this.isMasterWhole()) return null;
    const before = await this.lookNow();
    if (before === null) return null;
    const sample = this.sampleOf(before);
    const fault = this.faultOf(before, sample);
    if (fault !== null) return this.refuse(fault);
    if (sample!.atMs < sinceMs) return null;
    const value = await reading(sample!.wallMs).catch((error: unknown) => this.nothingOf(error));
    if (value === null) return null;
    const after = await this.lookNow();
    if (after === null) return null;
    if (!isBeyond(after, before)) return this.refuse('lost');
    this.show(after);
    this.reachedMs = Math.max(this.reachedMs, sample!.atMs);
    return value;
  }

  /** @returns null where it does not say, and is left alone for a while */
  private async lookNow(): Promise<ReplicaState | null> {
    try {
      return await this.look.ask();
    } catch (error) {
      return this.leaveAlone(isRefusal(error) ? 'refused' : 'away');
    }
  }

  /** What it refuses, and a list that has lost a key there, or was retired there already, is read from the master, too. */
  private nothingOf(error: unknown): null {
    if (isRefusal(error)) return this.leaveAlone('refused');
    if (error instanceof LadderError && error.code === 'PROJECTION_UNAVAILABLE') return null;
    throw error;
  }

  private leaveAlone(fault: ReplicaFault): null {
    this.restsUntilMs = monotonicMs() + REST_MS;
    return this.refuse(fault);
  }

  /** The newest look at the master whose place a replica has reached. */
  private sampleOf({ run, offset }: StreamPlace): Sample | undefined {
    return this.samples.findLast((sample) => sample.run === run && sample.offset <= offset);
  }

  private faultOf(state: ReplicaState, sample: Sample | undefined): ReplicaFault | null {
    if (state.run !== this.samples[0]?.run) return 'another run';
    if (sample === undefined || (this.shown !== null && state.offset < this.shown.offset)) return 'behind';
    const lacks = sample.positions.some((position, lane) => (state.marks[lane] ?? NO_MARK) < position);
    return lacks || (this.shown !== null && !isBeyond(state, this.shown)) ? 'lost' : null;
  }

  private show(state: ReplicaState): void {
    // Two readings may end in another order than they began.
    if (this.shown === null || isBeyond(state, this.shown)) this.shown = state;
    this.note(null);
  }

  private refuse(fault: ReplicaFault): null {
    this.note(fault);
    return null;
  }

  private note(fault: ReplicaFault | null): void {
    if (fault === this.known) return;
    this.known = fault;
    this.listener.onChange?.(fault);
  }

  private isMasterWhole(): boolean {
    try {
      this.guard.assertWhole();
      return true;
    } catch {
      return false;
    }
  }

  private forget(): void {
    this.samples = [];
    this.shown = null;
    this.reachedMs = -Infinity;
  }
}

/** Whether a replica has all that it had in another state. */
const isBeyond = (state: ReplicaState, before: ReplicaState): boolean =>
  state.run === before.run &&
  state.offset >= before.offset &&
  state.marks.every((mark, lane) => (mark ?? NO_MARK) >= (before.marks[lane] ?? NO_MARK));
