import {
  encodeSortKey,
  errorBoundOf,
  GLOBAL_SCOPE,
  memberPrefixBytes,
  type Board,
  type RankAccuracy,
  type RankMovement,
  type SortKey,
  type StoredWindow,
} from '@laddercast/domain';
import {
  LedgerClock,
  PostgresDatabase,
  shadowedEntry,
  WindowCatalog,
  type SqlRunner,
  type SubmitReceipt,
} from '@laddercast/ledger';
import { monotonicMs, nowMs, sleep, toTimestamp } from '@laddercast/platform';
import {
  AnsweredVersions,
  listOfWindow,
  RankProjection,
  saysRanks,
  SketchCache,
  type ListSketch,
  type RankList,
  type Reading,
} from '@laddercast/projections';
import { holdsScope, type Identity } from '@laddercast/identity';
import { Inject, Injectable } from '@nestjs/common';
import { noteRankAnswer } from './rank-answers.js';

/** A retry is answered without a rank if the projection takes longer than this. */
const STANDING_WITHIN_MS = 250;
const POLL_FIRST_MS = 2;
const POLL_MAX_MS = 50;
/** How many ranks of one request are read side by side, so that a large one does not crowd out the reads. */
export const RANKS_AT_ONCE = 64;

/** A write whose entry has a rank. */
export interface RankedWrite {
  board: Board;
  write: { playerId: string };
  receipt: Pick<SubmitReceipt, 'windowUid' | 'movement'> & {
    answer: Pick<SubmitReceipt['answer'], 'version'> & Partial<Pick<SubmitReceipt['answer'], 'outcome'>>;
  };
}

/** A sort key that a submission made, and the one before it. */
interface MovedKeys {
  playerId: string;
  after: SortKey;
  before: SortKey | null;
}

/** Finds the rank of a submission: estimated by the list's sketch in memory, or, after a wait, counted exactly. */
@Injectable()
export class SubmissionRanks {
  constructor(
    private readonly projection: RankProjection,
    private readonly windows: WindowCatalog,
    private readonly sketches: SketchCache,
    private readonly answered: AnsweredVersions,
    private readonly clock: LedgerClock,
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
  ) {}

  /**
   * @param untilMs how long to wait until the projection has reached this submission (monotonic ms); null: no wait
   * @returns null when the run is held, the rank is unknown now, or the caller may not see it: while a window is frozen, only admins see
   * ranks
   */
  async movementOf(
    accepted: RankedWrite,
    untilMs: number | null,
    identity: Identity,
    of: 'submission' | 'game' = 'submission',
  ): Promise<RankMovement | null> {
    // It is in no list, and may never be.
    if (accepted.receipt.answer.outcome === 'held') return null;
    const movement = await this.find(accepted, untilMs, identity);
    noteRankAnswer(of, movement);
    return movement;
  }

  /** Resolves once lists show the entry of a write, at `untilMs` (monotonic) or when they cannot be read at the latest. */
  async untilShown({ board, write, receipt }: RankedWrite, untilMs: number): Promise<void> {
    const window = await this.windows.byUid(receipt.windowUid);
    if (!window) return;
    const list = listOfWindow(board, window, GLOBAL_SCOPE);
    await this.waitFor(list, write.playerId, receipt.answer.version, untilMs).catch(() => undefined);
  }

  private async find(accepted: RankedWrite, untilMs: number | null, identity: Identity): Promise<RankMovement | null> {
    try {
      const { windowUid } = accepted.receipt;
      const mayKnow = (window: StoredWindow): boolean => !this.clock.isFrozen(window) || holdsScope(identity, 'admin');
      const window = await this.windows.byUid(windowUid);
      if (!window || !mayKnow(window)) return null;
      const movement = await this.read(accepted, window, untilMs);
      // A wait can take seconds: the window may have frozen meanwhile, or got another freeze.
      return movement && mayKnow((await this.windows.byUid(windowUid)) ?? window) ? movement : null;
    } catch {
      // The score is safe; if the projection cannot be read, only the rank is missing.
      return null;
    }
  }

  private async read(
    { board, write, receipt }: RankedWrite,
    window: StoredWindow,
    untilMs: number | null,
  ): Promise<RankMovement | null> {
    const list = listOfWindow(board, window, GLOBAL_SCOPE);
    const { version } = receipt.answer;
    const moved = receipt.movement && movedKeys(list, write.playerId, receipt.movement);
    if (untilMs !== null) {
      const counted = await this.waitAndCount(list, write.playerId, version, moved, untilMs).catch(() => undefined);
      if (counted !== undefined) return counted;
    }
    if (moved) return this.estimated(list, moved);
    return Promise.race([this.standing(list, write.playerId, version), sleep(STANDING_WITHIN_MS).then(() => null)]);
  }

  private async waitAndCount(
    list: RankList,
    playerId: string,
    version: number,
    moved: MovedKeys | null,
    untilMs: number,
  ): Promise<RankMovement | null> {
    await this.waitFor(list, playerId, version, untilMs);
    return moved ? this.counted(list, moved, version) : this.standing(list, playerId, version);
  }

  private async waitFor(list: RankList, playerId: string, version: number, untilMs: number): Promise<void> {
    for (let pollMs = POLL_FIRST_MS; ; pollMs = Math.min(POLL_MAX_MS, pollMs * 1.5)) {
      const projected = await this.projection.entryVersion(list, playerId);
      if ((projected !== null && projected >= version) || monotonicMs() >= untilMs) return;
      await sleep(Math.min(pollMs, untilMs - monotonicMs()));
    }
  }

  private async estimated(list: RankList, moved: MovedKeys): Promise<RankMovement | null> {
    const sketched = await this.sketches.get(list);
    return sketched !== null && saysRanks(sketched) ? estimatedMovement(list, moved, sketched) : null;
  }

  private async counted(
    list: RankList,
    { playerId, after, before }: MovedKeys,
    version: number,
  ): Promise<RankMovement> {
    const reading = await this.projection.placement(list, playerId, after, before);
    const { errorBound = 0 } = reading;
    return {
      before: reading.before,
      after: reading.after,
      delta: reading.before === null ? null : reading.before - reading.after,
      accuracy: this.accuracyOf(list, reading, reading.version !== null && reading.version >= version),
      // Counted, not interpolated: at asOf only entries that moved between shards are uncertain.
      errorBound,
      total: reading.total,
      asOf: toTimestamp(nowMs()),
    };
  }

  /** A retry moved nothing: answers the present rank. */
  private async standing(list: RankList, playerId: string, version: number): Promise<RankMovement | null> {
    const { entry, total, ...reading } = await this.projection.player(list, playerId, 0, 0, 'ordinal');
    if (!entry) return this.standingOfShadowed(list, playerId);
    const { rank } = entry;
    const accuracy = this.accuracyOf(list, { total, ...reading }, entry.version >= version);
    const { errorBound = 0 } = reading;
    return { before: rank, after: rank, delta: 0, accuracy, errorBound, total, asOf: toTimestamp(nowMs()) };
  }

  /** The rank that the entry of a shadowed player would have; null for all others. */
  private async standingOfShadowed(list: RankList, playerId: string): Promise<RankMovement | null> {
    const entry = await shadowedEntry(this.database, list, playerId);
    if (!entry) return null;
    const key = encodeSortKey(list.ordering, entry, playerId);
    return this.counted(list, { playerId, after: key, before: key }, entry.version);
  }

  /** A count that includes the submission is exact, and all later exact answers show the submission, too. */
  private accuracyOf(list: RankList, { accuracy, listVersion }: Reading, isOfIt: boolean): RankAccuracy {
    if (!isOfIt || accuracy === 'estimated') return 'estimated';
    this.answered.note(list, listVersion, nowMs());
    return 'exact';
  }
}

/** The places of both keys in the sketched list, without the player's own entry. */
function estimatedMovement(
  list: RankList,
  { playerId, after, before }: MovedKeys,
  { sketch, asOfMs }: ListSketch,
): RankMovement {
  // The list may hold the entry from before this run, this run's entry already, or an even older one.
  const candidates = before === null ? [after] : [before, after];
  const found = sketch.ownEntry(playerId, memberPrefixBytes(list.ordering), candidates);
  const own = found.kind === 'unknown' && before === null ? { ...found, likely: null } : found;
  const places = [after, ...(before ? [before] : [])].map((key) => sketch.estimateOthers(key, own));
  const [rank, rankBefore = null] = places.map(({ likely }) => likely + 1);
  const isNew = own.kind === 'none' || (own.kind === 'unknown' && before === null);
  return {
    before: rankBefore,
    after: rank!,
    delta: rankBefore === null ? null : rankBefore - rank!,
    accuracy: 'estimated',
    errorBound: Math.max(...places.map(errorBoundOf)),
    // Includes the player; and no rank is below the last.
    total: Math.max(isNew ? sketch.total + 1 : sketch.total, rank!, rankBefore ?? 0),
    asOf: toTimestamp(asOfMs),
  };
}

function movedKeys(list: RankList, playerId: string, movement: NonNullable<SubmitReceipt['movement']>): MovedKeys {
  const keyOf = (entry: typeof movement.after): SortKey => encodeSortKey(list.ordering, entry, playerId);
  return { playerId, after: keyOf(movement.after), before: movement.before && keyOf(movement.before) };
}

/** The end of a wait of so many seconds from now; null: no wait. */
export const waitUntilMs = (seconds: number): number | null => (seconds > 0 ? monotonicMs() + seconds * 1000 : null);
