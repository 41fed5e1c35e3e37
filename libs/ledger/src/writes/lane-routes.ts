import { Environment, laneAddressOf, monotonicMs } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { BoardCatalog } from '../catalogs/board-catalog.js';
import { LaneWriters } from '../submissions/lane-writers.js';
import { LaneInbox } from './lane-inbox.js';
import { LaneLink } from './lane-link.js';
import { LaneOwners, LOOPBACK, type LaneAddress, type LaneOwner } from './lane-owners.js';
import { LaneRoute } from './lane-route.js';

export type LaneRouteSettings = Pick<Environment, 'HOST' | 'LANE_ADDRESS' | 'LANE_QUEUE_MAX'>;

/** How long an owner that did not answer is left alone: first, and at most, ms. */
const AWAY_MS = { first: 1000, max: 10_000 };
const OWNERS_MAX = 256;
const ANY_PORT = 0;

/** The ways of all lanes' writes from this process, and the door through which those of others come. */
@Injectable()
export class LaneRoutes {
  private readonly routes: LaneRoute[] = [];
  /** Owners that did not answer, by holder. */
  private readonly away = new LRUCache<string, { untilMs: number; pauseMs: number }>({ max: OWNERS_MAX });

  constructor(
    private readonly writers: LaneWriters,
    private readonly boards: BoardCatalog,
    private readonly owners: LaneOwners,
    private readonly link: LaneLink,
    private readonly inbox: LaneInbox,
    @Inject(Environment) private readonly settings: LaneRouteSettings,
  ) {}

  of(lane: number): LaneRoute {
    const { writers, boards, link, settings } = this;
    return (this.routes[lane] ??= new LaneRoute({
      ...{ lane, link, writer: writers.of(lane), queueMax: settings.LANE_QUEUE_MAX },
      owner: () => this.ownerOf(lane),
      heard: (owner, isAnswered) => this.heard(owner, isAnswered),
      nowMs: () => boards.clock.nowMs(),
    }));
  }

  /** @param takes whether this process owns lanes, and takes the writes of others for them */
  async start(takes: boolean): Promise<void> {
    this.owners.start(takes ? await this.open() : null);
  }

  /** Lets go of the lanes that it owns, and takes nothing more; what waits is written. */
  async close(): Promise<void> {
    await this.owners.stop();
    await Promise.all(this.routes.map((route) => route.settled()));
    this.link.close();
  }

  private async open(): Promise<LaneAddress> {
    const { HOST, LANE_ADDRESS } = this.settings;
    const given = LANE_ADDRESS === undefined ? { host: null, port: ANY_PORT } : laneAddressOf(LANE_ADDRESS);
    const bound = given.host === null ? LOOPBACK : HOST;
    return { host: given.host, port: await this.link.listen(bound, given.port, (text) => this.inbox.take(text)) };
  }

  private ownerOf(lane: number): LaneOwner | null {
    const owner = this.owners.ownerOf(lane);
    const away = owner && this.away.get(owner.holder);
    return away && away.untilMs > monotonicMs() ? null : owner;
  }

  private heard({ holder }: LaneOwner, isAnswered: boolean): void {
    if (isAnswered) return void this.away.delete(holder);
    const pauseMs = Math.min(AWAY_MS.max, 2 * (this.away.get(holder)?.pauseMs ?? AWAY_MS.first / 2));
    this.away.set(holder, { untilMs: monotonicMs() + pauseMs, pauseMs });
  }
}
