import {
  compareSortKeys,
  countedKey,
  encodeSortKey,
  LadderError,
  versionBeyond,
  type RankStyle,
  type SortKey,
} from '@laddercast/domain';
import {
  isDatabaseUnavailable,
  probesBetween,
  StandingsReader,
  type StandingRow,
  type StandingsList,
} from '@laddercast/ledger';
import { Injectable } from '@nestjs/common';
import {
  RankReadings,
  type PageReading,
  type PlayerReading,
  type ProjectedEntry,
  type RankList,
  type Reading,
} from '../ranks/rank-projection.js';

/** How many rows one step of the search for a key's place looks at: a million rows take four steps. */
const PROBES = 63;

type FoundRow = StandingRow & { ordinal: number };

/**
 * Ranks of windows as they were written to PostgreSQL: `list.edition` says which. Where only the top was kept, `total` is
 * still that of the whole list; pages beyond what was kept are empty, and players beyond it have no entry.
 *
 * Versions are beyond all that the projection answered of the list until the moment the edition is of, and grow with the
 * number of the edition.
 * Methods throw SNAPSHOT_GONE when the edition is not there any more, and PROJECTION_UNAVAILABLE when PostgreSQL cannot
 * answer in time.
 */
@Injectable()
export class StandingsRanks extends RankReadings {
  constructor(private readonly standings: StandingsReader) {
    super();
  }

  async page(list: RankList, offset: number, limit: number, style: RankStyle): Promise<PageReading> {
    const { reading, rows } = await this.read(list, (of) => this.standings.after(of, offset, offset + limit));
    return { ...reading, entries: rows.map((row) => entryOf(list, row, style)) };
  }

  /** The version of the entry is the edition's: no entry in it is newer. */
  async player(
    list: RankList,
    playerId: string,
    above: number,
    below: number,
    style: RankStyle,
  ): Promise<PlayerReading> {
    const { reading, rows } = await this.read(list, (of) => this.standings.around(of, playerId, above, below));
    const neighbours = rows.map((row) => entryOf(list, row, style));
    const entry = neighbours.find((neighbour) => neighbour.playerId === playerId);
    return { ...reading, entry: entry ? { ...entry, version: rows[0]!.version } : null, neighbours };
  }

  async lookup(
    list: RankList,
    playerIds: readonly string[],
    style: RankStyle,
  ): Promise<Reading & { entries: (ProjectedEntry | null)[] }> {
    const { reading, rows } = await this.read(list, (of) => this.standings.ofPlayers(of, [...new Set(playerIds)]));
    const found = new Map(rows.map((row) => [row.player_id, entryOf(list, row, style)]));
    return { ...reading, entries: playerIds.map((playerId) => found.get(playerId) ?? null) };
  }

  /**
   * Found by a search over the ordinals: some rows a step, some steps, however long the list is.
   * @throws SNAPSHOT_GONE also when the key stands below the rows that were kept
   */
  async rankOfKey(list: RankList, asked: SortKey, style: RankStyle): Promise<Reading & { rank: number }> {
    const key = countedKey(list.ordering, asked, style);
    const isBefore = (row: FoundRow): boolean => compareSortKeys(keyOf(list, row), key) < 0;
    const { reading, rows } = await this.read(list, (of) => this.standings.last(of));
    const last = rows[0];
    if (last === undefined && reading.total === 0) return { ...reading, rank: 1 };
    if (last === undefined || isBefore(last)) {
      const kept = last?.ordinal ?? 0;
      if (kept >= reading.total) return { ...reading, rank: (style === 'dense' ? last!.dense : kept) + 1 };
      const detail = `Only the first ${kept} of ${reading.total} were kept; this score stands below them.`;
      throw new LadderError('SNAPSHOT_GONE', detail, { total: reading.total });
    }
    // Rows up to `before` stand before the key; the row at `after` does not.
    let [before, after] = [0, last];
    while (after.ordinal - before > 1) {
      const probes = probesBetween(before, after.ordinal, PROBES);
      const probed = await this.read(list, (of) => this.standings.at(of, probes));
      if (probed.rows.length === 0) throw gone();
      for (const row of probed.rows) {
        if (isBefore(row)) before = row.ordinal;
        else if (row.ordinal < after.ordinal) after = row;
      }
    }
    // All that is better than the key's value is before that row, and nothing else is: their ranks are the same.
    return { ...reading, rank: style === 'dense' ? after.dense : after.ordinal };
  }

  async total(list: RankList): Promise<Reading> {
    return (await this.read(list, (of) => this.standings.last(of))).reading;
  }

  private async read(
    list: RankList,
    readRows: (list: StandingsList) => Promise<StandingRow[]>,
  ): Promise<{ reading: Reading; rows: FoundRow[] }> {
    const { edition, scope, ordering } = list;
    const rows = await readRows({ edition: edition!, scope, ordering }).catch((error: unknown) => {
      if (!isDatabaseUnavailable(error)) throw error;
      const detail = 'The standings cannot be read now; try again shortly.';
      throw new LadderError('PROJECTION_UNAVAILABLE', detail, { retryAfterSeconds: 2 }, { cause: error });
    });
    const head = rows[0];
    if (!head) throw gone();
    return {
      reading: { total: head.total, listVersion: versionBeyond(list, head.as_of_ms) + head.number - 1 },
      rows: rows.filter((row): row is FoundRow => row.ordinal !== null),
    };
  }
}

const gone = (): LadderError =>
  new LadderError('SNAPSHOT_GONE', 'The standings that were asked for are not kept any more.');

const entryOf = (list: RankList, row: FoundRow, style: RankStyle): ProjectedEntry => ({
  rank: row[style],
  playerId: row.player_id,
  score: row.score,
  columns: list.ordering.columns.map((_, index) => row.columns[index]!),
  achievedAtMs: list.ordering.tiebreak === 'none' ? null : row.achieved_at_ms,
  ...(row.patch_uid != null && { taxedFrom: { rawScore: row.raw_score!, patch: row.patch_uid } }),
});

const keyOf = (list: RankList, { player_id, score, columns, achieved_at_ms }: FoundRow): SortKey =>
  encodeSortKey(list.ordering, { score, columns, achievedAtMs: achieved_at_ms }, player_id);
