import type { LadderError } from '@laddercast/domain';
import type { RankSnapshot } from '@laddercast/projections';
import type { EntryDetails, ResolvedList } from '@laddercast/queries';
import { worthOf } from '../protocol/frame-worth.js';
import { firstRows, ranksAreReadAnew } from './top-channel.js';
import type { Viewed } from './channel-kind.js';
import type { RowsReading } from './watched-channel.js';
import { viewOf, type RowsReader } from './watched-rows.js';

/** The first places, with the faces of their players. */
type FacedTopWatch = Viewed & { limit: number };

const NOBODY: ReadonlySet<string> = new Set();

/**
 * Reads the first places of a list with the faces of their players. The rows are those of the last tick, which this process
 * has in memory; faces are no part of ticks, so that who does not ask for them does not pay for them.
 */
export class FacedTopRows implements RowsReader<FacedTopWatch> {
  readonly atOnce = 32;

  /** @param last what the last tick said */
  constructor(
    private readonly last: () => RankSnapshot,
    private readonly details: EntryDetails,
  ) {}

  keyOf({ limit, ...view }: FacedTopWatch): string {
    return `${viewOf(view)}:${limit}`;
  }

  /** @throws PROJECTION_BEHIND while the snapshot does not say the ranks of a style */
  async read(resolved: ResolvedList, watches: readonly FacedTopWatch[]): Promise<(RowsReading | LadderError)[]> {
    const snapshot = this.last();
    return Promise.all(
      watches.map(async ({ limit, style }) => {
        const rows = firstRows(snapshot, limit, style);
        if (rows === null) throw ranksAreReadAnew();
        const entries = await this.details.withPlayers(resolved, rows);
        const { total, asOfMs } = snapshot;
        // Who is not listed is for ticks to know.
        return { total, ...worthOf(snapshot), entries, hidden: NOBODY, asOfMs };
      }),
    );
  }
}
