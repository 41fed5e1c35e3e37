import { LadderError, type Board, type StoredWindow } from '@laddercast/domain';
import {
  isDatabaseUnavailable,
  keptAfterEndMs,
  type BoardCatalog,
  type Edition,
  type EditionCatalog,
  type LedgerClock,
  type PresentStandings,
  type WindowCatalog,
} from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { latestOfStoreMs } from '@laddercast/projections';
import type { ListNames, ResolveOptions } from './list-resolver.js';

const DAY_MS = 86_400_000;
/** The projection drops a window's keys by a clock of its own, which is so near that of this process. */
const CLOCKS_APART_MS = 2000;

/** The newest final standings of a window. */
export interface NewestFinal {
  number: number;
  /** Whether acts are decided that they do not show yet. */
  isRevising: boolean;
}

/** What a window is read from. */
export interface FoundEdition {
  /** null: the projection. */
  edition: Edition | null;
  final?: NewestFinal;
}

/** Finds the standings that a window is read from. */
export class EditionFinder {
  constructor(
    private readonly boards: Pick<BoardCatalog, 'clock'>,
    private readonly windows: Pick<WindowCatalog, 'refresh'>,
    private readonly editions: EditionCatalog,
  ) {}

  private get clock(): LedgerClock {
    return this.boards.clock;
  }

  /**
   * What a reader of the window gets now.
   * @throws SNAPSHOT_GONE, PROJECTION_BEHIND, EDITION_NOT_FOUND, FORBIDDEN
   */
  async find(
    board: Board,
    window: StoredWindow,
    names: Partial<ListNames> = {},
    options: ResolveOptions = {},
  ): Promise<FoundEdition> {
    const now = this.clock.nowMs();
    const { asOfMs, isAdmin = false, moderates = false, edition: number } = names;
    if (number !== undefined) return this.numbered(board, window, number, moderates);
    if (asOfMs !== undefined && asOfMs < now) return this.goingOn(await this.asOf(board, window, asOfMs, now), options);
    if (this.clock.isFrozen(window)) {
      return isAdmin ? { edition: null } : this.goingOn({ edition: await this.frozen(window) }, options);
    }
    const { endsAtMs } = window;
    if (endsAtMs === null || now < endsAtMs) return { edition: null };
    if (latestOfStoreMs(this.clock.latestMs()) < endsAtMs + keptAfterEndMs(board.definition) - CLOCKS_APART_MS) {
      return this.goingOn(await this.endedLately(board, window, options), options);
    }
    const found = await this.final(board, window, now);
    if (found) return this.goingOn(found, options);
    // What is remembered of a window can be from before it was settled.
    const [latest = window] = await this.windows.refresh([window.uid]);
    if (latest.state !== 'settled') notWrittenYet(window, 'final');
    // It may have been settled between the two looks.
    this.editions.forget(window.uid);
    const written = await this.final(board, window, now);
    if (written) return this.goingOn(written, options);
    throw this.finalGone(board, window);
  }

  /**
   * Of a window that the projection still has: once an act changed its standings, they are what it shows. While PostgreSQL
   * is away, and nothing is known of them, the projection answers.
   */
  private async endedLately(board: Board, window: StoredWindow, options: ResolveOptions): Promise<FoundEdition> {
    const now = this.clock.nowMs();
    if (options.prefersStandings) return (await this.final(board, window, now)) ?? { edition: null };
    const present = await this.editions.present(window.uid, 'final').catch(unlessAway);
    const edition = present && this.keptFinal(board, present.edition, now);
    if (!edition) return { edition: null };
    const final = newestOf(edition, present);
    return { edition: edition.number > 1 && options.goesOn !== 'projection' ? edition : null, final };
  }

  /** The edition that a reader began with, where it is one of the same standings. */
  private async goingOn(found: FoundEdition, { goesOn }: ResolveOptions): Promise<FoundEdition> {
    const newest = found.edition;
    if (typeof goesOn !== 'object' || newest === null || newest.uid === goesOn.edition) return found;
    const begun = await this.editions.byUid(goesOn.edition);
    const isOfSame =
      begun?.windowUid === newest.windowUid && begun.kind === newest.kind && begun.asOfMs === newest.asOfMs;
    return isOfSame ? { ...found, edition: begun } : found;
  }

  /** Editions before the last show who was banned since: they are for those who may decide that. */
  private async numbered(board: Board, window: StoredWindow, number: number, seesPast: boolean): Promise<FoundEdition> {
    const found = await this.final(board, window, this.clock.nowMs());
    const newest = found?.edition;
    if (found && newest?.number === number) return found;
    if (newest && number < newest.number && !seesPast) {
      throw new LadderError('FORBIDDEN', 'Editions before the last are for API keys with the scope moderate.');
    }
    const edition = newest && number < newest.number ? await this.editions.numbered(window.uid, number) : undefined;
    if (found && edition) return { ...found, edition };
    const known = newest
      ? `it has the editions 1 to ${newest.number}`
      : 'its final standings are not written, or not kept';
    throw new LadderError('EDITION_NOT_FOUND', `"${window.id}" has no edition ${number}: ${known}.`);
  }

  private async frozen(window: StoredWindow): Promise<Edition> {
    return (await this.editions.frozen(window.uid)) ?? notWrittenYet(window, 'frozen');
  }

  /** The standings of then, or of the last moment before that was kept. */
  private async asOf(board: Board, window: StoredWindow, asOfMs: number, now: number): Promise<FoundEdition> {
    const isOver = window.endsAtMs !== null && asOfMs >= window.endsAtMs;
    const final = isOver ? await this.final(board, window, now) : undefined;
    if (final) return final;
    const edition = await this.editions.keptAt(window.uid, asOfMs);
    const { keepEveryMinutes, keepDays } = board.definition.snapshot;
    // Pruning comes behind, and in parts.
    if (edition && edition.asOfMs >= now - keepDays * DAY_MS) return { edition };
    const kept =
      keepEveryMinutes === null
        ? `Board "${board.id}" keeps none (snapshot.keepEveryMinutes).`
        : `Board "${board.id}" keeps one every ${keepEveryMinutes} minutes, for ${keepDays} days.`;
    const detail = `No snapshot of "${window.id}" is kept of ${toTimestamp(asOfMs)} or before. ${kept}`;
    throw new LadderError('SNAPSHOT_GONE', detail);
  }

  /** The final standings, undefined also when they are older than the board keeps them. */
  private async final(board: Board, window: StoredWindow, now: number): Promise<FoundEdition | undefined> {
    const edition = this.keptFinal(board, await this.editions.final(window.uid), now);
    if (edition === undefined) return undefined;
    return { edition, final: newestOf(edition, await this.editions.present(window.uid, 'final')) };
  }

  private keptFinal(board: Board, edition: Edition | undefined, now: number): Edition | undefined {
    const { standingsDays } = board.definition.retention;
    return edition && (standingsDays === null || edition.asOfMs >= now - standingsDays * DAY_MS) ? edition : undefined;
  }

  private finalGone(board: Board, window: StoredWindow): LadderError {
    const { standingsDays } = board.definition.retention;
    const kept = standingsDays === null ? '' : ` Board "${board.id}" keeps them for ${standingsDays} days.`;
    return new LadderError('SNAPSHOT_GONE', `The standings of "${window.id}" are not kept any more.${kept}`);
  }
}

function unlessAway(error: unknown): null {
  if (isDatabaseUnavailable(error)) return null;
  throw error;
}

const newestOf = ({ number }: Edition, { isRevising }: PresentStandings): NewestFinal => ({ number, isRevising });

/** @throws PROJECTION_BEHIND */
export function notWrittenYet(window: StoredWindow, what: string): never {
  throw new LadderError('PROJECTION_BEHIND', `The ${what} standings of "${window.id}" are being written.`, {
    retryAfterSeconds: 1,
  });
}
