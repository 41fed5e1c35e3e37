import { encodeSortKey, GLOBAL_SCOPE, isFrozen, type RankMovement } from '@laddercast/domain';
import type { SubmitReceipt, WindowCatalog } from '@laddercast/ledger';
import { monotonicMs, nowMs, sleep, toTimestamp } from '@laddercast/platform';
import { rankListOf, type RankList, type RankProjection } from '@laddercast/projections';
import { holdsScope, type Identity } from './identity.js';
import type { AcceptedSubmission } from './score-submitter.js';

const POLL_FIRST_MS = 2;
const POLL_MAX_MS = 50;

/** Says where a submission stands: counted on the projection as it is, or, after a wait, exactly. */
export class SubmissionRanks {
  constructor(
    private readonly projection: RankProjection,
    private readonly windows: WindowCatalog,
  ) {}

  /**
   * @param untilMs until when the projection may take to reach this very submission (monotonic ms); null: no wait
   * @returns null when the projection says nothing, or says what the one who asks must not know: while a window is
   * frozen, only admins see where anybody stands
   */
  async movementOf(
    accepted: AcceptedSubmission,
    untilMs: number | null,
    identity: Identity,
  ): Promise<RankMovement | null> {
    const { board, write, receipt } = accepted;
    const list = rankListOf(board, receipt.windowUid, GLOBAL_SCOPE);
    try {
      const window = await this.windows.byUid(receipt.windowUid);
      if (!window || (isFrozen(window, nowMs()) && !holdsScope(identity, 'admin'))) return null;
      if (untilMs !== null) await this.waitFor(list, write.playerId, receipt.answer.version, untilMs);
      return receipt.movement
        ? await this.moved(list, accepted, receipt.movement)
        : await this.standing(list, write.playerId, receipt.answer.version);
    } catch {
      // The score is safe; a projection that cannot be read only leaves the rank unsaid.
      return null;
    }
  }

  private async waitFor(list: RankList, playerId: string, version: number, untilMs: number): Promise<void> {
    for (let pollMs = POLL_FIRST_MS; ; pollMs = Math.min(POLL_MAX_MS, pollMs * 1.5)) {
      const projected = await this.projection.entryVersion(list, playerId);
      if ((projected !== null && projected >= version) || monotonicMs() >= untilMs) return;
      await sleep(Math.min(pollMs, untilMs - monotonicMs()));
    }
  }

  private async moved(
    list: RankList,
    { write, receipt }: AcceptedSubmission,
    movement: NonNullable<SubmitReceipt['movement']>,
  ): Promise<RankMovement> {
    const keyOf = (entry: typeof movement.after) => encodeSortKey(list.ordering, entry, write.playerId);
    const reading = await this.projection.placement(
      list,
      write.playerId,
      keyOf(movement.after),
      movement.before && keyOf(movement.before),
    );
    const projected = reading.version !== null && reading.version >= receipt.answer.version;
    return {
      before: reading.before,
      after: reading.after,
      delta: reading.before === null ? null : reading.before - reading.after,
      accuracy: projected ? 'exact' : 'estimated',
      // Counted, not interpolated: as of asOf nothing is uncertain.
      errorBound: 0,
      total: reading.total,
      asOf: toTimestamp(nowMs()),
    };
  }

  /** A retry moved nothing: the rank as of now. */
  private async standing(list: RankList, playerId: string, version: number): Promise<RankMovement | null> {
    const { entry, total } = await this.projection.player(list, playerId, 0, 0, 'ordinal');
    if (!entry) return null;
    const { rank } = entry;
    const accuracy = entry.version >= version ? 'exact' : 'estimated';
    return { before: rank, after: rank, delta: 0, accuracy, errorBound: 0, total, asOf: toTimestamp(nowMs()) };
  }
}

/** The end of a wait of so many seconds that begins now; null for none. */
export const waitUntilMs = (seconds: number): number | null => (seconds > 0 ? monotonicMs() + seconds * 1000 : null);
