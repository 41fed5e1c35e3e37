import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { sleep } from '@laddercast/platform';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { Lanes } from '../lanes/lanes.js';
import { HeldLease } from '../leases/held-lease.js';
import { PostgresLeases } from '../leases/postgres-leases.js';

/** Another process, which takes the writes of a lane. */
export interface LaneOwner {
  holder: string;
  host: string;
  port: number;
}

/** Where this process takes writes of others. */
export interface LaneAddress {
  /** As other machines reach it; null: only processes of this machine do. */
  host: string | null;
  port: number;
}

interface WriterRow {
  holder: string;
  machine: string;
  host: string | null;
  port: number;
  lanes: number[];
}

const LOOK_EVERY_MS = 1000;
/** How long a process that was killed is still taken for one that is there. */
const GONE_AFTER_MS = 6000;
const LEASE_TTL_MS = 6000;
const ASK_EVERY_MS = 500;
/** Where processes of one machine reach each other. */
export const LOOPBACK = '127.0.0.1';

/** Says that this process is there, where it takes writes, and answers who else is, with the lanes of each. */
const LOOK = prepared(`
  WITH mine AS (
    INSERT INTO lane_writers (holder, machine, host, port, expires_at)
    SELECT $1::text, $2::text, $3::text, $4::int, ladder_now() + ${GONE_AFTER_MS} * interval '1 millisecond'
    WHERE $4::int IS NOT NULL
    ON CONFLICT (holder) DO UPDATE SET expires_at = excluded.expires_at)
  SELECT holder, machine, host, port, ARRAY(
      SELECT substr(name, 6)::int FROM leases
      WHERE holder = w.holder AND name LIKE 'lane:%' AND expires_at > ladder_now()) AS lanes
  FROM lane_writers AS w WHERE holder <> $1 AND expires_at > ladder_now()`);

const FORGET_GONE = `DELETE FROM lane_writers WHERE expires_at < ladder_now() - interval '1 minute'`;

/**
 * Which process owns each lane. Owners take the writes of the others, so that one commit has as many as it can. Lanes are
 * spread evenly over the processes that take writes, by leases, and move as those come and go.
 *
 * Nothing that is right depends on it: whoever writes holds the lane's advisory lock. Who knows of an owner that is gone
 * writes by itself.
 */
@Injectable()
export class LaneOwners {
  private readonly log = new Logger('lanes');
  private readonly held = new Map<number, HeldLease>();
  private readonly givenBack = new Set<Promise<void>>();
  private owners = new Map<number, LaneOwner>();
  private address: LaneAddress | null = null;
  private readonly stopped = new AbortController();
  private looking: Promise<void> | null = null;

  constructor(
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    private readonly lanes: Lanes,
    private readonly leases: PostgresLeases,
  ) {}

  /** The process to hand writes of the lane to; null: this one writes them. */
  ownerOf(lane: number): LaneOwner | null {
    return this.owners.get(lane) ?? null;
  }

  /** The lanes that this process owns now. */
  get own(): number[] {
    return [...this.held].filter(([, lease]) => lease.term !== null).map(([lane]) => lane);
  }

  /**
   * Begins to look who owns the lanes, and to own some.
   * @param address where this process takes writes; null: it takes none, and owns no lane
   */
  start(address: LaneAddress | null): void {
    this.address = address;
    this.looking ??= this.lookOn();
  }

  /** Gives back what it owns; writes of others still come for a moment. */
  async stop(): Promise<void> {
    this.stopped.abort();
    await this.looking;
    this.owners = new Map();
    for (const lane of [...this.held.keys()]) this.giveBack(lane);
    await Promise.all(this.givenBack);
    if (this.address === null) return;
    await this.database
      .query('DELETE FROM lane_writers WHERE holder = $1', [this.leases.holder])
      .catch((error: unknown) => this.tell(error));
  }

  private async lookOn(): Promise<void> {
    await this.database.query(FORGET_GONE).catch((error: unknown) => this.tell(error));
    while (!this.stopped.signal.aborted) {
      await this.look().catch((error: unknown) => this.tell(error));
      await sleep(LOOK_EVERY_MS, this.stopped.signal);
    }
  }

  private async look(): Promise<void> {
    const { holder } = this.leases;
    const { host = null, port = null } = this.address ?? {};
    const others = await this.database.query<WriterRow>(LOOK, [holder, MACHINE, host, port]);
    this.spread(others.map((other) => other.holder));
    const owners = new Map<number, LaneOwner>();
    for (const other of others) {
      const at = other.host ?? (other.machine === MACHINE ? LOOPBACK : null);
      if (at === null) continue;
      for (const lane of other.lanes) owners.set(lane, { holder: other.holder, host: at, port: other.port });
    }
    this.owners = owners;
  }

  /** Each process comes to the same answer from the same names, so that every lane is asked for by one. */
  private spread(others: readonly string[]): void {
    const { holder } = this.leases;
    const all = [...others, holder].sort();
    for (const lane of this.lanes.all) {
      const isMine = this.address !== null && all[lane % all.length] === holder;
      if (isMine && !this.held.has(lane)) this.ask(lane);
      if (!isMine && this.held.has(lane)) this.giveBack(lane);
    }
  }

  private ask(lane: number): void {
    const lease = new HeldLease(this.leases, {
      name: `lane:${lane}`,
      ttlMs: LEASE_TTL_MS,
      askEveryMs: ASK_EVERY_MS,
      onFailure: (error) => this.tell(error),
    });
    this.held.set(lane, lease);
    lease.start();
  }

  private giveBack(lane: number): void {
    const given = this.held.get(lane)!.stop();
    this.held.delete(lane);
    this.givenBack.add(given);
    void given.finally(() => this.givenBack.delete(given));
  }

  private tell(error: unknown): void {
    this.log.debug(`Who owns the lanes is not known: ${(error as Error).message}`);
  }
}

/** Names this machine, and no other that has the same name. */
const MACHINE = `${hostname()}/${bootId()}`;

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
