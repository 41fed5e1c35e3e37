import {
  encodeSortKey,
  errorBoundOf,
  GLOBAL_SCOPE,
  memberPrefixBytes,
  type RankAccuracy,
  type RankMovement,
  type SortKey,
  type StoredWindow,
} from '@laddercast/domain';
import { LedgerClock, WindowCatalog, type SubmitReceipt } from '@laddercast/ledger';
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
import { Injectable } from '@nestjs/common';
import { noteRankAnswer } from './rank-answers.js';
import type { AcceptedSubmission } from './score-submitter.js';

/** A retry is answered without a rank where the projection takes longer to say it. */
const STANDING_WITHIN_MS = 250;
const POLL_FIRST_MS = 2;
const POLL_MAX_MS = 50;

/** A sort key that a submission made, and the one before it. */
interface MovedKeys {
  playerId: string;
  after: SortKey;
  before: SortKey | null;
}

/** Says where a submission stands: estimated by the list's sketch in memory, or, after a wait, counted exactly. */
@Injectable()
export class SubmissionRanks {
  constructor(
    private readonly projection: RankProjection,
    private readonly windows: WindowCatalog,
    private readonly sketches: SketchCache,
    private readonly answered: AnsweredVersions,
    private readonly clock: LedgerClock,
  ) {}

  /**
   * @param untilMs until when the projection may take to reach this very submission (monotonic ms); null: no wait
   * @returns null when nothing can be said now, or nothing that the one who asks may know: while a window is frozen, only
   * admins see where anybody stands
   */
  async movementOf(
    accepted: AcceptedSubmission,
    untilMs: number | null,
    identity: Identity,
  ): Promise<RankMovement | null> {
    const movement = await this.find(accepted, untilMs, identity);
    noteRankAnswer('submission', movement);
    return movement;
  }

  private async find(
    accepted: AcceptedSubmission,
    untilMs: number | null,
    identity: Identity,
  ): Promise<RankMovement | null> {
    try {
      const { windowUid } = accepted.receipt;
      const mayKnow = (window: StoredWindow): boolean => !this.clock.isFrozen(window) || holdsScope(identity, 'admin');
      const window = await this.windows.byUid(windowUid);
      if (!window || !mayKnow(window)) return null;
      const movement = await this.read(accepted, window, untilMs);
      // It may have frozen meanwhile, or been given another freeze: a wait can take seconds.
      return movement && mayKnow((await this.windows.byUid(windowUid)) ?? window) ? movement : null;
    } catch {
      // The score is safe; a projection that cannot be read only leaves the rank unsaid.
      return null;
    }
  }

  private async read(
    { board, write, receipt }: AcceptedSubmission,
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
      // Counted, not interpolated: as of asOf nothing is uncertain but what was moving between shards.
      errorBound,
      total: reading.total,
      asOf: toTimestamp(nowMs()),
    };
  }

  /** A retry moved nothing: the rank as of now. */
  private async standing(list: RankList, playerId: string, version: number): Promise<RankMovement | null> {
    const { entry, total, ...reading } = await this.projection.player(list, playerId, 0, 0, 'ordinal');
    if (!entry) return null;
    const { rank } = entry;
    const accuracy = this.accuracyOf(list, { total, ...reading }, entry.version >= version);
    const { errorBound = 0 } = reading;
    return { before: rank, after: rank, delta: 0, accuracy, errorBound, total, asOf: toTimestamp(nowMs()) };
  }

  /** What was counted is exact where it has the submission; whoever is told so sees it in all exact answers after it. */
  private accuracyOf(list: RankList, { accuracy, listVersion }: Reading, isOfIt: boolean): RankAccuracy {
    if (!isOfIt || accuracy === 'estimated') return 'estimated';
    this.answered.note(list, listVersion, nowMs());
    return 'exact';
  }
}

/** Where both keys stand in the list as it was sketched, the player's own entry in it not counted. */
function estimatedMovement(
  list: RankList,
  { playerId, after, before }: MovedKeys,
  { sketch, asOfMs }: ListSketch,
): RankMovement {
  // The list may hold the entry before this run, or this one by now, or one that was there long before.
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
    // The player, too; and nobody stands below the last.
    total: Math.max(isNew ? sketch.total + 1 : sketch.total, rank!, rankBefore ?? 0),
    asOf: toTimestamp(asOfMs),
  };
}

function movedKeys(list: RankList, playerId: string, movement: NonNullable<SubmitReceipt['movement']>): MovedKeys {
  const keyOf = (entry: typeof movement.after): SortKey => encodeSortKey(list.ordering, entry, playerId);
  return { playerId, after: keyOf(movement.after), before: movement.before && keyOf(movement.before) };
}

/** The end of a wait of so many seconds that begins now; null for none. */
export const waitUntilMs = (seconds: number): number | null => (seconds > 0 ? monotonicMs() + seconds * 1000 : null);
