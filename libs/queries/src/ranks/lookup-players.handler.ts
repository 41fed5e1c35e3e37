import { compareSortKeys, decodeSortKey, type RankedEntry, type RankStyle } from '@laddercast/domain';
import { monotonicMs } from '@laddercast/platform';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { inOrder } from '../lists/entries-in-order.js';
import { ListReader } from '../rows/list-reader.js';
import type { ResolvedList } from '../lists/list-resolver.js';
import { LookupPlayersQuery, type PlayersLookup } from '../queries.js';
import { RankEstimates } from '../lists/rank-estimates.js';

@QueryHandler(LookupPlayersQuery)
export class LookupPlayersHandler implements IQueryHandler<LookupPlayersQuery> {
  constructor(
    private readonly reader: ListReader,
    private readonly estimates: RankEstimates,
  ) {}

  async execute(query: LookupPlayersQuery): Promise<PlayersLookup> {
    const { selection, playerIds, ranked, unlistedShown } = query;
    const { resolved, style } = await this.reader.open(selection);
    const estimated = query.accuracy === 'estimated' ? await this.estimated(query, resolved, style) : null;
    if (estimated) return estimated;
    const beganAtMs = monotonicMs();
    const profiles = this.reader.details.ahead(resolved);
    const reading = await resolved.ranks.lookup(resolved.list, playerIds, style);
    // By their own places: ranks may have been counted a moment apart, and tied players share one.
    const found = inOrder(
      resolved.list.ordering,
      reading.entries.filter((entry) => entry !== null),
    );
    const read = { listVersion: reading.listVersion, beganAtMs };
    const named = await this.reader.details.complete(resolved, found, { including: unlistedShown, read, profiles });
    const completed = await this.reader.details.withChange(resolved, style, named);
    const rows = new Map(completed.map((row) => [row.playerId, row]));
    const entries = ranked ? [...rows.values()] : playerIds.map((id) => rows.get(id) ?? null);
    return { ...this.reader.envelope(resolved, style, reading), entries };
  }

  /** Ranks out of the sketch; null where that is not possible. */
  private async estimated(
    { selection, playerIds, ranked, unlistedShown }: LookupPlayersQuery,
    resolved: ResolvedList,
    style: RankStyle,
  ): Promise<PlayersLookup | null> {
    const options = { style, minVersion: selection.minVersion };
    const reading = await this.estimates.ofPlayers(resolved, playerIds, options);
    if (reading === null) return null;
    const found = new Map(reading.players.flatMap((one, at) => (one ? [[playerIds[at]!, one] as const] : [])));
    const entries = [...found.values()].map(({ rank, key }) => ({
      rank,
      ...decodeSortKey(resolved.list.ordering, key),
    }));
    const completed = await this.reader.details.complete(resolved, entries, { including: unlistedShown });
    const rows = completed.map((row) => ({ ...row, errorBound: found.get(row.playerId)!.errorBound }));
    const rowOf = new Map(rows.map((row) => [row.playerId, row]));
    const { total, sketched } = reading;
    const { listVersion, asOfMs } = sketched;
    const errorBound = rows.reduce((most, row) => Math.max(most, row.errorBound), 0);
    const estimate = { total, listVersion, accuracy: 'estimated', errorBound } as const;
    const keyOf = ({ playerId }: RankedEntry) => found.get(playerId)!.key;
    return {
      ...this.reader.envelope(resolved, style, estimate, asOfMs),
      entries: ranked
        ? rows.sort((a, b) => compareSortKeys(keyOf(a), keyOf(b)))
        : playerIds.map((playerId) => rowOf.get(playerId) ?? null),
    };
  }
}
