import { HeldLease, type Lanes, type LeaseHolder, type LeaseTerm, type PostgresLeases } from '@laddercast/ledger';
import { monotonicMs, sleep, untilBeatMs, type RateLimitedLog } from '@laddercast/platform';
import type { DeliveryOptions } from '../delivery/delivery.js';
import { deliver } from '../delivery/delivery.js';
import type { LogLine } from '../delivery/log-line.js';
import {
  laneLeaseName,
  SPAN_FIRST,
  type OutboxReading,
  type OutboxRecord,
  type PostgresOutbox,
} from './postgres-outbox.js';
import type { PostgresOutboxListener } from './postgres-outbox-listener.js';
import type { HeardReading, PostgresSharedReadings } from './postgres-shared-readings.js';

/** What all consumers of a process share. */
export interface ConsumerSurroundings {
  outbox: PostgresOutbox;
  readings: PostgresSharedReadings;
  leases: PostgresLeases;
  listener: PostgresOutboxListener;
  log: LogLine;
  /** For what fails in each lane of each group at once: when PostgreSQL is away, say. */
  failures: RateLimitedLog;
  lanes: Lanes;
  /** How long a lane stands still when its consumer's process is killed. */
  leaseTtlMs: number;
}

export interface GroupOptions {
  group: string;
  topics: readonly string[];
  handler: (records: readonly OutboxRecord[]) => Promise<void>;
  park: DeliveryOptions['park'];
}

/** All groups of a process look at the same moment, so that one look is enough. */
const POLL_EVERY_MS = 250;
/**
 * Between looks that found only rows of other topics, so that a group of a rare topic does not look at every commit.
 */
const FOREIGN_ROWS_PAUSE_MS = 50;
/** How often the offset is written; after a pause at once. */
const COMMIT_EVERY_MS = 100;
/** How often an offset is written that only moved over rows of other topics. */
const IDLE_COMMIT_EVERY_MS = 1000;
const ASK_EVERY_MS = 300;
/** How often processes look who has which lane. */
export const SHARE_EVERY_MS = 1000;
/** Long enough for the process that asked to take the lane. */
const STAY_AWAY_MS = 3000;

/** One group in one process: serves each lane whose lease it holds, and leaves its fair share to other processes. */
export class PostgresGroupConsumer {
  private readonly wanted: string;
  private readonly laneLeases: HeldLease[] = [];
  private stopping = false;

  constructor(
    private readonly shared: ConsumerSurroundings,
    private readonly options: GroupOptions,
    /** Distinguishes two consumers of one group in one process. */
    private readonly holder: string,
  ) {
    this.wanted = `log:${options.group}:wanted`;
  }

  /** Begins with each lane that there is; to be called again when there are more. */
  start(): void {
    while (!this.stopping && this.laneLeases.length < this.shared.lanes.count) {
      const lane = this.laneLeases.length;
      const lease = this.leaseOf(lane);
      this.laneLeases.push(lease);
      lease.start((term) => this.serveLane(lane, term));
    }
  }

  /** Finishes the batches in hand, commits them, and gives the lanes back. */
  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.laneLeases.map((lease) => lease.stop()));
  }

  private leaseOf(lane: number): HeldLease {
    const { leases, leaseTtlMs, failures } = this.shared;
    const { group } = this.options;
    return new HeldLease(leases, {
      name: laneLeaseName(group, lane),
      holder: this.holder,
      ttlMs: leaseTtlMs,
      askEveryMs: ASK_EVERY_MS,
      onFailure: (error) => failures.warn('A lane of a group stands still', error, { group, lane }),
    });
  }

  /**
   * Waits until the group has handled what its other lanes have of the players of this one, from before they came here. Its
   * offset is there meanwhile, so that nothing of the lane is trimmed.
   */
  private async barriersPassed(lane: number, { ending }: LeaseTerm): Promise<void> {
    const { outbox, lanes } = this.shared;
    const { group, topics } = this.options;
    const barriers = lanes.barriersOf(lane);
    while (!ending.aborted && !(await outbox.hasPassed(group, barriers, topics))) {
      await sleep(untilBeatMs(POLL_EVERY_MS), ending);
    }
  }

  private async serveLane(lane: number, term: LeaseTerm): Promise<void> {
    const { outbox, readings, listener } = this.shared;
    const { group, topics } = this.options;
    let position = await outbox.claim(group, lane, term.epoch);
    // Whoever has an offset in the lane has passed.
    if (position === 0) await this.barriersPassed(lane, term);
    readings.forget(lane);
    let span = SPAN_FIRST;
    let committed = { position, atMs: monotonicMs() };
    let handled = position;
    let ahead: Promise<HeardReading> | null = null;
    const begin = (after: number, positions: number): Promise<HeardReading> => {
      const reading = readings.read(lane, after, topics, positions, group);
      // The reading may be awaited late, or never.
      reading.catch(() => undefined);
      return reading;
    };
    const commit = async (): Promise<boolean> => {
      const done = await outbox.commit(group, lane, term.epoch, position);
      if (done) committed = { position, atMs: monotonicMs() };
      else this.shared.log('info', `Lane ${lane} of group ${group} went to another consumer.`);
      return done;
    };
    const commitIsDueInMs = (): number => {
      const everyMs = handled > committed.position ? COMMIT_EVERY_MS : IDLE_COMMIT_EVERY_MS;
      return committed.atMs + everyMs - monotonicMs();
    };
    while (!term.ending.aborted) {
      const reading: HeardReading = await (ahead ?? begin(position, span));
      // The next records are read while these are handled.
      ahead = reading.more ? begin(reading.through, reading.nextSpan) : null;
      if (reading.records.length > 0 && !(await this.handle(reading, term))) break;
      const moved = reading.through > position;
      position = reading.through;
      span = reading.nextSpan;
      if (reading.records.length > 0) handled = position;
      if (position > committed.position && commitIsDueInMs() <= 0 && !(await commit())) return;
      if (reading.more) continue;
      if (moved && reading.records.length === 0) await sleep(FOREIGN_ROWS_PAUSE_MS, term.ending);
      const pollInMs = untilBeatMs(POLL_EVERY_MS);
      const waitMs = position > committed.position ? Math.min(pollInMs, commitIsDueInMs()) : pollInMs;
      if (waitMs > 0) await listener.wait(lane, reading.words, waitMs, term.ending);
    }
    if (position > committed.position && !term.lost.aborted) await commit();
  }

  /** Whether every record was settled; false when the term ended meanwhile: then records come again. */
  private async handle(reading: OutboxReading, term: LeaseTerm): Promise<boolean> {
    const { handler, park } = this.options;
    try {
      await deliver(reading.records, (records) => handler(records as OutboxRecord[]), {
        signal: term.ending,
        park,
        log: this.shared.log,
      });
      return true;
    } catch (error) {
      if (term.ending.aborted) return false;
      throw error;
    }
  }

  /** The leases of the group's lanes, and the one under which a process asks the others for a lane. */
  get leaseNames(): readonly string[] {
    return [...this.laneNames(), this.wanted];
  }

  private laneNames(): string[] {
    return this.laneLeases.map((_, lane) => laneLeaseName(this.options.group, lane));
  }

  /**
   * Takes part in spreading the lanes evenly over the processes. A process with two lanes fewer than another takes the
   * group's `wanted` lease; the one with more sees that, gives one lane up, and stays away from it for a moment.
   * @param holders of {@link leaseNames}, of a moment ago; those of other names are passed over
   */
  async share(holders: readonly LeaseHolder[]): Promise<void> {
    const names = this.laneNames();
    const ofLanes = holders.filter(({ name }) => names.includes(name));
    const heldBy = (holder: string): number => ofLanes.filter((row) => row.holder === holder).length;
    const mine = heldBy(this.holder);
    const asking = holders.find(({ name }) => name === this.wanted)?.holder;
    const most = Math.max(...ofLanes.map((row) => heldBy(row.holder)), 0);
    if (asking !== undefined && asking !== this.holder && mine === most && mine >= heldBy(asking) + 2) {
      this.laneLeases.findLast((lease) => lease.term !== null)?.giveUp(STAY_AWAY_MS);
    } else if (most >= mine + 2) {
      await this.shared.leases.acquire(this.wanted, this.holder, 2 * SHARE_EVERY_MS);
    }
  }
}
