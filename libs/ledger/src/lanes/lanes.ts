import { laneOf } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { sqlStateOf } from '../database/postgres-errors.js';
import { prepared } from '../database/postgres-statements.js';

/** How many lanes there are from a log position on. */
export interface LaneMap {
  /** 0 is the one that the installation was made with; each time that lanes are raised it grows by 1. */
  number: number;
  /** A multiple of that of the map before: so players leave lanes for new ones, and none comes to a lane that was there. */
  count: number;
  /** Drawn while all lanes of the map before were held: what they hold up to here is of players as they were placed then. */
  since: number;
}

/** What has to be handled of one lane before another is begun with: it has events of the same players. */
export interface LaneBarrier {
  lane: number;
  position: number;
}

/** A lane, and the map by which somebody was placed there: whoever takes it is refused where that is not the ledger's any more. */
export interface Place {
  lane: number;
  map: number;
}

/** The most lanes: each takes two connections of a process. */
export const LANES_MAX = 64;

const READ_MAPS = prepared('SELECT number, count, since FROM lane_maps ORDER BY number');

/** The lanes of this installation as this process knows them: others may have raised their number a moment ago. */
export class Lanes {
  private maps: readonly LaneMap[];
  private lanes: readonly number[] = [];
  private readonly listeners = new Set<() => void>();

  /** @param maps all that there were, the first one first; a number: of an installation that was made with so many */
  constructor(maps: readonly LaneMap[] | number) {
    this.maps = typeof maps === 'number' ? [{ number: 0, count: maps, since: 0 }] : maps;
    this.lanes = Array.from({ length: this.count }, (_, lane) => lane);
  }

  /** Of the present map. */
  get number(): number {
    return this.maps.at(-1)!.number;
  }

  get count(): number {
    return this.maps.at(-1)!.count;
  }

  get all(): readonly number[] {
    return this.lanes;
  }

  of(id: string): number {
    return laneOf(id, this.count);
  }

  /** The lane that all writes of a player take, or of a guild, a board or a pool, by its id. */
  placeOf(id: string): Place {
    return this.place(this.of(id));
  }

  /** A lane as the present map has it. */
  place(lane: number): Place {
    return { lane, map: this.number };
  }

  /** Things sorted by the lanes of their ids, each lane once, in ascending order. */
  sorted<T>(things: readonly T[], idOf: (thing: T) => string): { place: Place; things: T[] }[] {
    const byLane = new Map<number, T[]>();
    for (const thing of things) {
      const lane = this.of(idOf(thing));
      const ofLane = byLane.get(lane);
      if (ofLane) ofLane.push(thing);
      else byLane.set(lane, [thing]);
    }
    return [...byLane].sort(([a], [b]) => a - b).map(([lane, ofLane]) => ({ place: this.place(lane), things: ofLane }));
  }

  /** Since which log position the lane is there; 0: since the beginning. */
  since(lane: number): number {
    return this.maps.find(({ count }) => lane < count)!.since;
  }

  /**
   * The events of its players that are in other lanes: what a group has to have handled before it begins with this one.
   */
  barriersOf(lane: number): LaneBarrier[] {
    const at = this.maps.findIndex(({ count }) => lane < count);
    if (at === 0) return [];
    const from = lane % this.maps[at - 1]!.count;
    return [...this.barriersOf(from), { lane: from, position: this.maps[at]!.since }];
  }

  /** The lanes to which players of this one have gone since a log position. */
  leftFor(lane: number, since: number): number[] {
    const isFrom = (barrier: LaneBarrier): boolean => barrier.lane === lane && barrier.position > since;
    return this.all.filter((other) => this.barriersOf(other).some(isFrom));
  }

  /** Calls the listener after each time that another number of lanes has become known; returns how to end that. */
  onRaise(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Takes over what the ledger says. */
  async refresh(database: SqlRunner): Promise<void> {
    this.adopt(await readLaneMaps(database));
  }

  adopt(maps: readonly LaneMap[]): void {
    if (maps.length <= this.maps.length) return;
    this.maps = maps;
    this.lanes = Array.from({ length: this.count }, (_, lane) => lane);
    for (const listener of this.listeners) listener();
  }
}

export const readLaneMaps = (database: SqlRunner): Promise<LaneMap[]> => database.query<LaneMap>(READ_MAPS);

/** The state of PostgreSQL's refusal of a lane that somebody takes by an earlier map. */
const LANES_RAISED = 'LC002';

export const isOfEarlierMap = (error: unknown): boolean => sqlStateOf(error) === LANES_RAISED;

/**
 * Does work that takes lanes by {@link Place}; again, by the ledger's map, where another has become the present one: it was refused
 * before it wrote anything.
 */
export async function placedAnew<T>(database: SqlRunner, lanes: Lanes, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const { number } = lanes;
    try {
      return await work();
    } catch (error) {
      if (!isOfEarlierMap(error)) throw error;
      await lanes.refresh(database);
      if (lanes.number === number) throw error;
    }
  }
}
