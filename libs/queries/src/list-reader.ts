import { LadderError, type RankedEntry, type RankStyle } from '@laddercast/domain';
import { monotonicMs, nowMs, sleep, toTimestamp } from '@laddercast/platform';
import type { RankProjection, RankSnapshot, Reading } from '@laddercast/projections';
import { EntryDetails } from './entry-details.js';
import { ListResolver, type ResolvedList } from './list-resolver.js';
import type { ListEnvelope, ListSelection } from './queries.js';
import { SnapshotCache } from './snapshot-cache.js';

/** How long a read waits for the projection to reach `minVersion`. */
const MIN_VERSION_WAIT_MS = 1000;
const MIN_VERSION_POLL_MS = 20;

/** What the query handlers share: finding the list, its version, and the envelope of an answer. */
export class ListReader {
  constructor(
    private readonly resolver: ListResolver,
    readonly projection: RankProjection,
    readonly details: EntryDetails,
    private readonly snapshots: SnapshotCache,
  ) {}

  /** @throws BOARD_NOT_FOUND, WINDOW_NOT_FOUND, PROJECTION_BEHIND */
  async open(selection: ListSelection): Promise<{ resolved: ResolvedList; style: RankStyle }> {
    const resolved = await this.resolver.resolve(selection.boardId, selection.window);
    if (selection.minVersion !== undefined) await this.waitFor(resolved, selection.minVersion);
    return { resolved, style: selection.rankStyle ?? resolved.board.definition.rankStyle };
  }

  /** The top in memory, where it is not older than `minVersion`; asking keeps the list in use. */
  snapshot(resolved: ResolvedList, minVersion: number | undefined): RankSnapshot | undefined {
    const snapshot = this.snapshots.latest(resolved);
    return snapshot && snapshot.listVersion >= (minVersion ?? 0) ? snapshot : undefined;
  }

  /** The last top that this process saw, however old: what is left to show while the shards cannot be asked. */
  lastKnown(resolved: ResolvedList, minVersion: number | undefined): RankSnapshot | undefined {
    const snapshot = this.snapshots.lastKnown(resolved);
    return snapshot && snapshot.listVersion >= (minVersion ?? 0) ? snapshot : undefined;
  }

  envelope({ board, window }: ResolvedList, style: RankStyle, reading: Reading, asOfMs = nowMs()): ListEnvelope {
    const time = (ms: number | null): string | null => (ms === null ? null : toTimestamp(ms));
    const running = window.endsAtMs !== null && nowMs() < window.endsAtMs;
    return {
      board: board.id,
      window: {
        id: window.id,
        startsAt: time(window.startsAtMs),
        endsAt: time(window.endsAtMs),
        resetsAt: running ? time(window.endsAtMs) : null,
      },
      scope: 'global',
      total: reading.total,
      boardVersion: reading.listVersion,
      asOf: toTimestamp(asOfMs),
      rankStyle: style,
    };
  }

  private async waitFor({ list }: ResolvedList, minVersion: number): Promise<void> {
    const untilMs = monotonicMs() + MIN_VERSION_WAIT_MS;
    while ((await this.projection.total(list)).listVersion < minVersion) {
      if (monotonicMs() > untilMs) {
        throw new LadderError('PROJECTION_BEHIND', `The board has not reached version ${minVersion} yet.`, {
          retryAfterSeconds: 1,
        });
      }
      await sleep(MIN_VERSION_POLL_MS);
    }
  }
}

/** The rows of the top of a list, which are in ordinal order, with ranks in another style. */
export function inStyle(rows: readonly RankedEntry[], style: RankStyle): RankedEntry[] {
  if (style === 'ordinal') return [...rows];
  const styled: RankedEntry[] = [];
  for (const row of rows) {
    const above = styled.at(-1);
    const tied = above !== undefined && above.score === row.score && sameColumns(above, row);
    styled.push(tied ? { ...row, rank: above.rank } : row);
  }
  return styled;
}

const sameColumns = (a: RankedEntry, b: RankedEntry): boolean =>
  Object.keys(a.columns).every((name) => a.columns[name] === b.columns[name]);
