import { decodeSortKey, isPerRun, LadderError, type RankStyle } from '@laddercast/domain';
import type { EntryDetails, RankEstimates, ResolvedList } from '@laddercast/queries';
import { completedRows, shownOf } from './completed-rows.js';
import { keyOfPlayerWatch, type PlayerWatch } from './player-rows.js';
import type { RowsReading } from './watched-channel.js';
import type { RowsReader } from './watched-rows.js';

/**
 * Reads the watched players beyond those that can be exact: each gets only its own row, with its rank from the list's
 * sketch. One pipelined look-up reads them all.
 */
export class EstimatedPlayerRows implements RowsReader<PlayerWatch> {
  readonly atOnce = 1000;
  /** The list version from which the last rows were estimated. */
  private readVersion: number | null = null;

  constructor(
    private readonly estimates: RankEstimates,
    private readonly details: EntryDetails,
  ) {}

  keyOf(watch: PlayerWatch): string {
    return keyOfPlayerWatch(watch);
  }

  /** @throws PROJECTION_UNAVAILABLE */
  async read(resolved: ResolvedList, watches: readonly PlayerWatch[]): Promise<(RowsReading | LadderError)[]> {
    const readings = new Map<PlayerWatch, RowsReading | LadderError>();
    for (const style of new Set(watches.map((watch) => watch.style))) {
      const ofStyle = watches.filter((watch) => watch.style === style);
      const read = await this.readInStyle(resolved, ofStyle, style);
      for (const [at, watch] of ofStyle.entries()) readings.set(watch, read[at]!);
    }
    return watches.map((watch) => readings.get(watch)!);
  }

  private async readInStyle(
    resolved: ResolvedList,
    watches: readonly PlayerWatch[],
    style: RankStyle,
  ): Promise<(RowsReading | LadderError)[]> {
    if (style === 'dense' && resolved.edition === null) return watches.map(denseIsCounted);
    const ids = [...new Set(watches.map(({ playerId }) => playerId))];
    // Where each run is an entry, a sketch does not know which are a player's: they are counted.
    const isEstimated = resolved.edition === null && !isPerRun(resolved.board.definition);
    const { total, entries, worthOfPlayer } = isEstimated
      ? await this.estimated(resolved, ids, style)
      : await standing(resolved, ids, style);
    const rows = new Map((await completedRows(this.details, resolved, entries)).map((one) => [one.row.playerId, one]));
    return watches.map(({ playerId, isOwn }) => {
      const worth = worthOfPlayer(playerId);
      const own = rows.get(playerId);
      if (!own) return { total, ...worth, entries: [], hidden: new Set() };
      // As one who has no entry: that there is one is not for others either.
      if (!own.isListed && !isOwn) return { total, ...worthOfPlayer(null), entries: [], hidden: new Set([playerId]) };
      return { ...shownOf([own], total, isOwn ? playerId : null), ...worth };
    });
  }

  /**
   * Whether there is a newer sketch than that of the rows, without a tick to come that would have them read again: the
   * sketch comes after the last tick of a list that became quiet.
   * @param listVersion of the last tick
   */
  async isBehind(resolved: ResolvedList, listVersion: number): Promise<boolean> {
    if (resolved.edition !== null || this.readVersion === null || this.readVersion === listVersion) return false;
    const sketched = await this.estimates.newestSketchOf(resolved, { style: 'ordinal' });
    return sketched?.listVersion === listVersion;
  }

  private async estimated(resolved: ResolvedList, ids: readonly string[], style: RankStyle): Promise<RowsOfPlayers> {
    const reading = await this.estimates.ofPlayers(resolved, ids, { style });
    if (reading === null) {
      const detail = 'Ranks cannot be estimated now; try again shortly.';
      throw new LadderError('PROJECTION_UNAVAILABLE', detail, { retryAfterSeconds: 1 });
    }
    const { sketched, total, players } = reading;
    this.readVersion = sketched.listVersion;
    const { asOfMs } = sketched;
    const found = new Map(players.flatMap((one, at) => (one ? [[ids[at]!, one] as const] : [])));
    return {
      total,
      entries: [...found.values()].map(({ rank, key }) => ({ rank, ...decodeSortKey(resolved.list.ordering, key) })),
      worthOfPlayer: (id) => {
        const errorBound = (id === null ? null : found.get(id)?.errorBound) ?? 0;
        return { accuracy: 'estimated', errorBound, asOfMs };
      },
    };
  }
}

interface RowsOfPlayers {
  total: number;
  entries: Parameters<typeof completedRows>[2];
  /** Nothing is uncertain about a player without an entry. */
  worthOfPlayer: (playerId: string | null) => Pick<RowsReading, 'accuracy' | 'errorBound' | 'asOfMs'>;
}

/** A sketch counts entries, not distinct values. */
const denseIsCounted = (): LadderError =>
  new LadderError(
    'SUBSCRIPTION_LIMIT',
    'More players are watched here than are kept exact, and dense ranks are not estimated: watch in another style.',
  );

/** The ranks of standings are written; those of runs are counted. */
async function standing(resolved: ResolvedList, ids: readonly string[], style: RankStyle): Promise<RowsOfPlayers> {
  const { total, entries } = await resolved.ranks.lookup(resolved.list, ids, style);
  return { total, entries: entries.filter((entry) => entry !== null), worthOfPlayer: () => ({}) };
}
