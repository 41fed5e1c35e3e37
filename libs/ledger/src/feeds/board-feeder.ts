import { LadderError, type Board, type StoredWindow } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { beginFill } from '../boards/fed-boards.js';
import { BoardCatalog } from '../catalogs/board-catalog.js';
import { WindowCatalog } from '../catalogs/window-catalog.js';
import { PostgresDatabase } from '../database/postgres-database.js';
import { StaleBoardError, type FedPlace, type FeedWrite } from '../entries/ledger-writes.js';
import { Ledger } from '../writes/ledger.js';
import { noteLastFeed } from './last-feeds.js';
import { keyOfStretch, rollingHoursOf, Standing, stretchOf, type PlaceOfEntry } from './fed-standing.js';
import { readFedState } from './fed-state.js';
import { writeEntryEnds } from './entry-ends.js';
import { AlgorithmMissing, RatingAlgorithms } from '../pools/rating-algorithms.js';

/** A player whose entries are to be written. */
export interface FedPlayer {
  readonly playerId: string;
  /** In the windows of these times, Unix ms. */
  readonly playedAtMs: readonly number[];
  /** In all that take entries, too. */
  readonly isEverywhere: boolean;
}

/** What windows wait for whose end is over. */
export interface LastFeed {
  readonly windowUids: readonly number[];
  /** All of the pool up to here, and what is fed with it. */
  readonly position: number;
}

/** The most players that are read by one statement, and whose entries are on their way at once: those of a whole batch of the log. */
const PLAYERS_AT_ONCE = 1000;
/** The most stretches of time of players that are read by one statement: more take as long as it may. */
const STRETCHES_AT_ONCE = 5000;
/** A board that changes under a write is looked up again, so often. */
const TRIES_MAX = 4;

/**
 * Writes to the boards that a pool feeds what the pool says of players. It is told whose entries may be behind, and reads
 * what they are to be from PostgreSQL: so it does no harm how late, how often, or in which order it is told.
 */
@Injectable()
export class BoardFeeder {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly boards: BoardCatalog,
    private readonly windows: WindowCatalog,
    private readonly ledger: Ledger,
    private readonly algorithms: RatingAlgorithms,
  ) {}

  /**
   * Resolves once the entries are durable on all boards of the pool; where this process does not have its algorithm, once
   * it is noted that the boards are to be filled.
   * @param lastFeed windows that close when that is done, and all that was told before; null: none does
   * @throws OVERLOADED, LEDGER_UNAVAILABLE: to be tried again
   */
  async feed(poolUid: number, players: readonly FedPlayer[], lastFeed: LastFeed | null = null): Promise<void> {
    // A board that is not found now was named after this, and its filling begins after that: it sees what there is by now.
    await this.boards.refresh();
    const boards = (): Board[] => this.boards.fedBy(poolUid);
    try {
      await this.feedTo(poolUid, players, boards);
    } catch (error) {
      if (!(error instanceof AlgorithmMissing)) throw error;
      // No other pool waits for this one: a process that has the algorithm fills its boards.
      for (const { uid } of boards()) await beginFill(this.database, poolUid, uid);
    }
    if (lastFeed) await noteLastFeed(this.database, lastFeed.windowUids, lastFeed.position);
  }

  /** As {@link feed}, with one of the boards. */
  async feedBoard(poolUid: number, boardUid: number, players: readonly FedPlayer[]): Promise<void> {
    await this.feedTo(poolUid, players, () => this.boards.fedBy(poolUid).filter(({ uid }) => uid === boardUid));
  }

  private async feedTo(poolUid: number, players: readonly FedPlayer[], boards: () => Board[]): Promise<void> {
    for (let first = 0; first < players.length; first += PLAYERS_AT_ONCE) {
      const chunk = players.slice(first, first + PLAYERS_AT_ONCE);
      for (let tries = 1; !(await this.feedChunk(poolUid, chunk, boards())); tries += 1) {
        if (tries === TRIES_MAX) {
          throw new LadderError('OVERLOADED', 'A fed board keeps changing.', { retryAfterSeconds: 1 });
        }
        await this.boards.refresh();
      }
    }
  }

  /** Whether all is written; not where a board changed meanwhile. */
  private async feedChunk(poolUid: number, players: readonly FedPlayer[], boards: readonly Board[]): Promise<boolean> {
    try {
      const places = await this.placesOf(players, boards);
      if (places.length === 0) return true;
      // Of all boards: when entries end is noted once for a player, whichever of them is written now.
      const rolling = rollingHoursOf(this.boards.fedBy(poolUid));
      const looked = players.flatMap(({ playerId }) =>
        rolling.map((hours) => ({ playerId, of: { rollingHours: hours } })),
      );
      const stretches = new Map(
        [...places.flatMap((place) => stretchOf(place) ?? []), ...looked].map((one) => [keyOfStretch(one), one]),
      );
      if (stretches.size > STRETCHES_AT_ONCE && players.length > 1) {
        const half = players.length >> 1;
        const isWritten = await this.feedChunk(poolUid, players.slice(0, half), boards);
        return isWritten && (await this.feedChunk(poolUid, players.slice(half), boards));
      }
      const peaks = boards.some(({ feed }) => feed!.value === 'peak' || feed!.columns.includes('peak'));
      const named = players.map(({ playerId }) => playerId);
      const gains = boards.some(({ feed }) => feed!.value === 'gain');
      const asked = { players: named, stretches: [...stretches.values()], peaks, gains };
      const state = await readFedState(this.database, poolUid, asked);
      if (!state) return true;
      const standing = new Standing(this.algorithms.poolOf(state.definition), state, [...stretches.keys()]);
      // Before the entries: one that is there although this process ends now must not stay for ever.
      await writeEntryEnds(this.database, poolUid, standing, rolling);
      await this.writeAll(writesOf(await this.made(places, standing), standing));
      return true;
    } catch (error) {
      if (error instanceof StaleBoardError) return false;
      throw error;
    }
  }

  /** What finds no room in the queue of its lane follows when others are written: a batch may have more than there is room for. */
  private async writeAll(writes: readonly FeedWrite[]): Promise<void> {
    for (let left = writes; left.length > 0;) {
      const written = await Promise.allSettled(left.map(async (write) => this.ledger.write(write)));
      const refused = left.flatMap((write, at) => {
        const one = written[at]!;
        return one.status === 'rejected' ? [{ write, reason: one.reason as unknown }] : [];
      });
      const failure = refused.find(({ reason }) => !isOverload(reason));
      if (failure) throw failure.reason;
      if (refused.length === left.length) throw refused[0]!.reason;
      left = refused.map(({ write }) => write);
    }
  }

  /**
   * The places whose window is there, or is made now: it is over, and holds a game that came in time. Not
   * where older changes of the pool are given up: it would be one of what is left.
   */
  private async made(places: readonly PlaceOfEntry[], standing: Standing): Promise<PlaceOfEntry[]> {
    const found: PlaceOfEntry[] = [];
    const ended = new Map<string, StoredWindow | undefined>();
    for (const place of places) {
      const { board, window } = place;
      if (window.uid !== 0) {
        found.push(place);
        continue;
      }
      if (window.startsAtMs! < standing.keptFromMs || !standing.entryOf(place)) continue;
      const key = `${board.uid}/${window.id}`;
      if (!ended.has(key)) ended.set(key, await this.windows.makeEnded(board, window));
      const made = ended.get(key);
      if (made) found.push({ ...place, window: made });
    }
    return found;
  }

  private async placesOf(players: readonly FedPlayer[], boards: readonly Board[]): Promise<PlaceOfEntry[]> {
    const nowMs = this.boards.clock.nowMs();
    const places: PlaceOfEntry[] = [];
    for (const board of boards) {
      // The windows that hold now are made where they are not there yet.
      const running = await this.windows.at(board, nowMs, nowMs);
      const isAnywhere = players.some(({ isEverywhere }) => isEverywhere);
      const others = isAnywhere ? await this.windows.open(board) : [];
      const unmade = isAnywhere ? await this.windows.unmadeInGrace(board, nowMs) : [];
      const open = [...running, ...others.filter((one) => !includes(running, one)), ...unmade];
      for (const { playerId, playedAtMs, isEverywhere } of players) {
        const found = new Map<string, StoredWindow>();
        for (const window of [...(isEverywhere ? open : []), ...(await this.at(board, playedAtMs, nowMs))]) {
          if (window.uid === 0 || window.state === 'open') found.set(window.id, window);
        }
        for (const window of found.values()) places.push({ board, playerId, window });
      }
    }
    return places;
  }

  private async at(board: Board, times: readonly number[], nowMs: number): Promise<StoredWindow[]> {
    const found: StoredWindow[] = [];
    for (const atMs of times) found.push(...(await this.windows.at(board, atMs, nowMs)));
    return found;
  }
}

const isOverload = (error: unknown): boolean => error instanceof LadderError && error.code === 'OVERLOADED';

const includes = (windows: readonly StoredWindow[], { uid }: StoredWindow): boolean =>
  windows.some((window) => window.uid === uid);

/** A write for each player and board. */
function writesOf(places: readonly PlaceOfEntry[], standing: Standing): FeedWrite[] {
  const writes = new Map<string, FeedWrite & { entries: FedPlace[] }>();
  const { ratedPosition: feedPosition } = standing.state;
  for (const place of places) {
    const { board, playerId, window } = place;
    const key = `${board.uid}/${playerId}`;
    const write = writes.get(key) ?? { kind: 'feed' as const, board, playerId, feedPosition, entries: [] };
    const entry = standing.entryOf(place);
    write.entries.push({ window, entry, ...(standing.isPastLifetime(place) && { isPastLifetime: true }) });
    writes.set(key, write);
  }
  return [...writes.values()];
}
