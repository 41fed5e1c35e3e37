import {
  decodeSortKey,
  holdsOn,
  LadderError,
  percentileOf,
  runsThatCanStand,
  type RankStyle,
} from '@laddercast/domain';
import { extended, monotonicMs, toTimestamp } from '@laddercast/platform';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { ListReader } from '../rows/list-reader.js';
import type { ResolvedList } from '../lists/list-resolver.js';
import { percentileIn } from '../lists/percentile.js';
import { GetPlayerQuery, type ListEnvelope, type PlayerRank, type RunOfPatch, type ShownSanction } from '../queries.js';
import { columnsByName } from '../rows/entry-details.js';
import { taxOfRow } from '../rows/taxed-rows.js';
import { accuracyOf, RankEstimates } from '../lists/rank-estimates.js';
import { scoreToBeat } from './score-to-beat.js';

@QueryHandler(GetPlayerQuery)
export class GetPlayerHandler implements IQueryHandler<GetPlayerQuery> {
  constructor(
    private readonly reader: ListReader,
    private readonly estimates: RankEstimates,
  ) {}

  async execute(query: GetPlayerQuery): Promise<PlayerRank> {
    const { selection, playerId, above, below, unlistedShown } = query;
    const { resolved: found, style } = await this.reader.open(selection);
    const profiles = this.reader.details.ahead(found);
    const resolved = selection.moderates ? await this.reader.withEntryOf(playerId, found, profiles) : found;
    const estimated = query.accuracy === 'estimated' ? await this.estimated(query, resolved, style, profiles) : null;
    if (estimated) return estimated;
    const beganAtMs = monotonicMs();
    const reading = await resolved.ranks.player(resolved.list, playerId, above, below, style);
    const envelope = this.reader.envelope(resolved, style, reading);
    // The reader may see unlisted players, and asked for this one: of its neighbours only listed ones are shown.
    const including = unlistedShown === 'all' ? [playerId] : unlistedShown;
    const read = { listVersion: reading.listVersion, beganAtMs };
    const rows = await this.reader.details.complete(resolved, reading.neighbours, { including, read, profiles });
    const neighbours = await this.reader.details.withChange(resolved, style, rows);
    const own = neighbours.find((row) => row.playerId === playerId && row.entryId === reading.entry?.entryId);
    if (!own) return this.withoutEntry(query, resolved, envelope);
    const percentile = await percentileIn(resolved, style, own, reading.total);
    const entry = extended(own, { percentile, ...accuracyOf(reading) });
    const sanction = await this.sanctionShown(query, resolved, profiles);
    const runs = query.withRuns ? await this.runsOf(resolved, playerId) : null;
    const entries =
      reading.entries && (await this.reader.details.complete(resolved, reading.entries, { including, read }));
    const beside = { ...(entries && { entries }), neighbours, ...(runs && { runs }), ...(sanction && { sanction }) };
    return extended(envelope, { entry, ...beside });
  }

  /** The runs of a player that stand or can stand again. @throws NOT_SUPPORTED */
  private async runsOf(resolved: ResolvedList, playerId: string): Promise<RunOfPatch[]> {
    const { board, list, edition, final } = resolved;
    if (!board.definition.decay || !list.tax) {
      const detail = `Board "${board.id}" has no decay: its runs, where it keeps them, are at …/players/{player}/runs.`;
      throw new LadderError('NOT_SUPPORTED', detail, { option: 'runs' });
    }
    if (edition !== null && edition.kind !== 'frozen' && edition.number !== final?.number) {
      const detail = 'Of a board as it stood only the standing runs are kept: leave runs out, or read it as it is.';
      throw new LadderError('NOT_SUPPORTED', detail, { option: 'runs' });
    }
    const runs = await this.reader.details.patchRunsOf(resolved, playerId);
    return runsThatCanStand(board.definition, runs, list.tax).map(({ run, values }) => ({
      score: values.score,
      ...taxOfRow(resolved, values.taxedFrom),
      columns: columnsByName(list.ordering, run.columns),
      achievedAt: toTimestamp(run.achievedAtMs),
      metadata: run.metadata === null ? null : (JSON.parse(run.metadata) as unknown),
    }));
  }

  /** What moderators are told of the player, and a banned player of itself; null: nothing. */
  private async sanctionShown(
    { selection, playerId }: GetPlayerQuery,
    { board }: ResolvedList,
    profiles?: Promise<boolean | null>,
  ): Promise<ShownSanction | null> {
    const isItself = selection.readerId === playerId;
    if (!selection.moderates && !isItself) return null;
    const sanction = await this.reader.details.sanctionOf(playerId, profiles);
    if (sanction === null || !holdsOn(sanction, board.id)) return null;
    if (!selection.moderates && sanction.kind !== 'ban') return null;
    const { kind, untilMs, publicReason } = sanction;
    return { kind, until: untilMs === null ? null : toTimestamp(untilMs), publicReason };
  }

  /** The entry alone, with its rank out of the sketch; null where that is not possible. */
  private async estimated(
    query: GetPlayerQuery,
    resolved: ResolvedList,
    style: RankStyle,
    profiles: Promise<boolean | null> | undefined,
  ): Promise<PlayerRank | null> {
    const { selection, playerId, unlistedShown } = query;
    const beganAtMs = monotonicMs();
    const reading = await this.estimates.ofPlayers(resolved, [playerId], { style, minVersion: selection.minVersion });
    if (reading === null) return null;
    const { total, sketched, players } = reading;
    const { listVersion, asOfMs } = sketched;
    const [found] = players;
    const { errorBound = 0 } = found ?? {};
    const estimate = { total, listVersion, accuracy: 'estimated', errorBound } as const;
    const envelope = this.reader.envelope(resolved, style, estimate, asOfMs);
    if (!found) return this.withoutEntry(query, resolved, await this.counted(resolved, envelope));
    const { rank, key } = found;
    const rows = [{ rank, ...decodeSortKey(resolved.list.ordering, key) }];
    const including = unlistedShown === 'all' ? [playerId] : unlistedShown;
    // The entry may be newer than the sketch.
    const read = { listVersion: reading.readVersion, beganAtMs };
    const [own] = await this.reader.details.complete(resolved, rows, { including, read, profiles });
    if (!own) return this.withoutEntry(query, resolved, await this.counted(resolved, envelope));
    const percentile = percentileOf(rank, total);
    const entry = extended(own, { percentile, accuracy: 'estimated', errorBound } as const);
    const sanction = await this.sanctionShown(query, resolved, profiles);
    const runs = query.withRuns ? await this.runsOf(resolved, playerId) : null;
    return extended(envelope, { entry, neighbours: [own], ...(runs && { runs }), ...(sanction && { sanction }) });
  }

  /** A sketch is of a moment ago: the list may have no place any more that it had then. */
  private async counted(resolved: ResolvedList, envelope: ListEnvelope): Promise<ListEnvelope> {
    return this.reader.envelope(resolved, envelope.rankStyle, await resolved.ranks.total(resolved.list));
  }

  /** The end of the list, where it is asked for. */
  private async withoutEntry(
    query: GetPlayerQuery,
    resolved: ResolvedList,
    envelope: ListEnvelope,
  ): Promise<PlayerRank> {
    const { playerId, above, below, fallbackToLast, unlistedShown } = query;
    const { total, accuracy, errorBound } = envelope;
    if (!fallbackToLast) {
      const kept = resolved.edition?.kind === 'kept' ? `, or was not among those kept as of ${envelope.asOf}` : '';
      const detail = `"${playerId}" has no entry on board "${envelope.board}" in ${envelope.window.id}${kept}.`;
      const toBeat = await scoreToBeat(resolved, envelope);
      this.reader.assertShown(resolved);
      const sanction = await this.sanctionShown(query, resolved);
      // As an answer says it: a total is estimated where entries cross between shards.
      const worth = accuracy === 'exact' ? {} : { accuracy, errorBound };
      const told = { total, ...worth, scoreToBeat: toBeat, ...(sanction && { sanction }) };
      throw new LadderError('ENTRY_NOT_FOUND', detail, told);
    }
    const shown = above + below + 1;
    const end = await resolved.ranks.page(resolved.list, Math.max(0, total - shown), shown, envelope.rankStyle);
    this.reader.assertShown(resolved);
    const including = unlistedShown === 'all' ? [] : unlistedShown;
    const rows = await this.reader.details.complete(resolved, end.entries, { including });
    return {
      ...envelope,
      entry: null,
      neighbours: await this.reader.details.withChange(resolved, envelope.rankStyle, rows),
    };
  }
}
