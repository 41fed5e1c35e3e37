import {
  compareSortKeys,
  encodeSortKey,
  playerIdIn,
  entryOfKey,
  errorBoundOf,
  GLOBAL_SCOPE,
  keyOfEntry,
  playerOfKey,
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
  unrankedRuns,
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
  sortKeyOf,
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
  receipt: Pick<SubmitReceipt, 'windowUid' | 'movement' | 'unranked'> & {
    answer: Pick<SubmitReceipt['answer'], 'version'> &
      Partial<Pick<SubmitReceipt['answer'], 'outcome' | 'entryId' | 'displaced'>>;
  };
}

/** A sort key that a submission made, and the one before it. */
interface MovedKeys {
  /** Of the entry: its player's id, or what names a run's. */
  entryKey: string;
  /** Of the entry of a run that it pushed out; absent: none. */
  displacedKey?: string | undefined;
  after: SortKey;
  before: SortKey | null;
}

/** Entries of a player that are not counted as they are: how many more there are, and how many of them are better. */
interface EntriesBeside {
  better: number;
  more: number;
}

/** A list with its board. */
interface BoardList {
  board: Board;
  list: RankList;
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
    await this.waitFor(list, keyOf(write, receipt), receipt.answer.version, untilMs).catch(() => undefined);
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
    const entryKey = keyOf(write, receipt);
    const moved = receipt.movement && movedKeys(list, entryKey, write.playerId, receipt);
    if (untilMs !== null) {
      const counted = await this.waitAndCount({ board, list }, entryKey, version, moved, untilMs).catch(
        () => undefined,
      );
      if (counted !== undefined) return counted;
    }
    if (moved) return this.estimated(list, moved, receipt.unranked);
    return Promise.race([
      this.standing({ board, list }, entryKey, version),
      sleep(STANDING_WITHIN_MS).then(() => null),
    ]);
  }

  private async waitAndCount(
    of: BoardList,
    entryKey: string,
    version: number,
    moved: MovedKeys | null,
    untilMs: number,
  ): Promise<RankMovement | null> {
    await this.waitFor(of.list, entryKey, version, untilMs);
    return moved ? this.counted(of.list, moved, version) : this.standing(of, entryKey, version);
  }

  private async waitFor(list: RankList, entryKey: string, version: number, untilMs: number): Promise<void> {
    for (let pollMs = POLL_FIRST_MS; ; pollMs = Math.min(POLL_MAX_MS, pollMs * 1.5)) {
      const projected = await this.projection.entryVersion(list, entryKey);
      if ((projected !== null && projected >= version) || monotonicMs() >= untilMs) return;
      await sleep(Math.min(pollMs, untilMs - monotonicMs()));
    }
  }

  private async estimated(list: RankList, moved: MovedKeys, isUnranked = false): Promise<RankMovement | null> {
    const sketched = await this.sketches.get(list);
    if (sketched === null || !saysRanks(sketched)) return null;
    if (!isUnranked) return estimatedMovement(list, moved, sketched);
    // Everybody's list lacks the one that was pushed out as it lacks the others.
    const movement = estimatedMovement(list, { ...moved, displacedKey: undefined }, sketched);
    return withEntries(movement, await this.unrankedBeside(list, moved));
  }

  private async counted(list: RankList, moved: MovedKeys, version: number): Promise<RankMovement> {
    const { entryKey, after, before } = moved;
    const reading = await this.projection.placement(list, entryKey, after, before);
    const { errorBound = 0 } = reading;
    const beside = await this.entriesBeside(list, moved);
    const movement: RankMovement = {
      before: reading.before,
      after: reading.after,
      delta: reading.before === null ? null : reading.before - reading.after,
      accuracy: this.accuracyOf(list, reading, reading.version !== null && reading.version >= version),
      // Counted, not interpolated: at asOf only entries that moved between shards are uncertain.
      errorBound,
      total: reading.total,
      asOf: toTimestamp(nowMs()),
    };
    return withEntries(movement, beside);
  }

  /**
   * Where each run is an entry: what else of the player is not counted as it is. A shadowed one has other entries, which only
   * it sees; of others the one that was pushed out may be there still.
   */
  private async entriesBeside(list: RankList, moved: MovedKeys): Promise<EntriesBeside> {
    const { entryKey, displacedKey } = moved;
    if (entryOfKey(entryKey).entryId === undefined) return { better: 0, more: 0 };
    const asked = displacedKey === undefined ? [entryKey] : [entryKey, displacedKey];
    const { keys } = await this.projection.sortKeys(list, asked);
    return keys[0] === null ? this.unrankedBeside(list, moved) : { better: 0, more: keys[1] ? -1 : 0 };
  }

  private async unrankedBeside(list: RankList, { entryKey, after }: MovedKeys): Promise<EntriesBeside> {
    const unranked = await unrankedRuns(this.database, list, playerOfKey(entryKey));
    const others = unranked.filter(({ key }) => key !== entryKey);
    const isBetter = (run: (typeof others)[number]): boolean =>
      compareSortKeys(encodeSortKey(list.ordering, run, run.key), after) < 0;
    return { better: others.filter(isBetter).length, more: others.length };
  }

  /** A retry moved nothing: answers the present rank. */
  private async standing(of: BoardList, entryKey: string, version: number): Promise<RankMovement | null> {
    const { list } = of;
    const { entry, total, ...reading } = await this.projection.player(list, entryKey, 0, 0, 'ordinal');
    if (!entry) return this.standingOfShadowed(of, entryKey);
    const { rank } = entry;
    const accuracy = this.accuracyOf(list, { total, ...reading }, entry.version >= version);
    const { errorBound = 0 } = reading;
    return { before: rank, after: rank, delta: 0, accuracy, errorBound, total, asOf: toTimestamp(nowMs()) };
  }

  /** The rank that the entry of a shadowed player would have; null for all others. */
  private async standingOfShadowed({ board, list }: BoardList, entryKey: string): Promise<RankMovement | null> {
    const entry = await shadowedEntry(this.database, list, entryKey);
    const key = entry && sortKeyOf(board, list, { values: entry, runs: entry.patchRuns }, entryKey);
    if (!key) return null;
    return this.counted(list, { entryKey, after: key, before: key }, entry.version);
  }

  /** A count that includes the submission is exact, and all later exact answers show the submission, too. */
  private accuracyOf(list: RankList, { accuracy, listVersion }: Reading, isOfIt: boolean): RankAccuracy {
    if (!isOfIt || accuracy === 'estimated') return 'estimated';
    this.answered.note(list, listVersion, nowMs());
    return 'exact';
  }
}

const withEntries = (movement: RankMovement, { better, more }: EntriesBeside): RankMovement => ({
  ...movement,
  before: movement.before === null ? null : movement.before + better,
  after: movement.after + better,
  total: movement.total + more,
});

/** The places of both keys in the sketched list, without the player's own entry. */
function estimatedMovement(
  list: RankList,
  { entryKey, displacedKey, after, before }: MovedKeys,
  { sketch, asOfMs }: ListSketch,
): RankMovement {
  // The list may hold the entry from before this run, this run's entry already, or an even older one.
  const candidates = before === null ? [after] : [before, after];
  const found = sketch.ownEntry(entryKey, (member) => playerIdIn(list.ordering, member), candidates);
  const own = found.kind === 'unknown' && before === null ? { ...found, likely: null } : found;
  const places = [after, ...(before ? [before] : [])].map((key) => sketch.estimateOthers(key, own));
  const [rank, rankBefore = null] = places.map(({ likely }) => likely + 1);
  const isNew = (own.kind === 'none' || (own.kind === 'unknown' && before === null)) && displacedKey === undefined;
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

function movedKeys(
  list: RankList,
  entryKey: string,
  playerId: string,
  { movement, answer }: RankedWrite['receipt'],
): MovedKeys {
  const { after, before } = movement!;
  const { displaced } = answer;
  const sortKeyOf = (entry: typeof after): SortKey => encodeSortKey(list.ordering, entry, entryKey);
  return {
    entryKey,
    after: sortKeyOf(after),
    before: before && sortKeyOf(before),
    ...(displaced !== undefined && { displacedKey: keyOfEntry({ playerId, entryId: displaced }) }),
  };
}

/** The key of the entry that a write is answered with. */
const keyOf = ({ playerId }: RankedWrite['write'], { answer: { entryId } }: RankedWrite['receipt']): string =>
  keyOfEntry({ playerId, entryId });

/** The end of a wait of so many seconds from now; null: no wait. */
export const waitUntilMs = (seconds: number): number | null => (seconds > 0 ? monotonicMs() + seconds * 1000 : null);
