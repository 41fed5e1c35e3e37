import {
  entryOfKey,
  GLOBAL_SCOPE,
  holdsOn,
  isPatchScope,
  isPerRun,
  LadderError,
  playerOfKey,
  sharesRank,
  type RankStyle,
  NEVER_USED_SCOPE,
} from '@laddercast/domain';
import { Extensions } from '@laddercast/extension';
import {
  exportedEntries,
  ownExportedEntries,
  PostgresDatabase,
  runDetails,
  ScopeCatalog,
  StandingsReader,
  type ExportedEntry,
  type ExportedStanding,
} from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';
import type { ExportedRow } from './export-lines.js';
import { withOwnRows } from './own-rows.js';
import { verificationOf } from '../rows/entry-details.js';
import { runShown, taxedFromOf, taxOfRow } from '../rows/taxed-rows.js';
import { answered } from '../shared/time-out.js';
import { lackedBy } from '../lists/own-worlds.js';
import { type ResolvedList } from '../lists/list-resolver.js';

/** How many rows are in memory at a time, and how many ids an enricher is asked for at once. */
const ROWS_AT_ONCE = 500;

export interface ExportRowsOptions {
  style: RankStyle;
  showsUnlisted: boolean;
  /** How long PostgreSQL may take to sort a list, and the reader for some rows. */
  timeoutMs: number;
  signal: AbortSignal;
}

/**
 * All rows of a list, some at a time, as they were at one moment: from the standings where there are some, else from the
 * ledger's entries by a cursor. Not from the projection: its pages change while they are read, and a player who moves
 * would be on two of them, or on none.
 */
@Injectable()
export class ExportRows {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly editions: StandingsReader,
    private readonly scopes: ScopeCatalog,
    private readonly extensions: Extensions,
  ) {}

  /**
   * Rows keep their ranks, also where players who are not listed are left out.
   * @throws SNAPSHOT_GONE when the standings were removed meanwhile
   */
  async *of(resolved: ResolvedList, options: ExportRowsOptions): AsyncGenerator<ExportedRow[], void> {
    const { style, showsUnlisted } = options;
    const { board, list, ownWorldOf } = resolved;
    const others = resolved.edition ? this.standings(resolved) : this.entries(resolved, options);
    const own = await this.ownRows(resolved);
    const chunks = own.length > 0 ? withOwnRows(others, list.ordering, own) : others;
    for await (const rows of chunks) {
      const shown = rows.filter((row) => isShown(row, board.id, showsUnlisted, ownWorldOf));
      yield await this.complete(resolved, style, shown);
    }
  }

  /** The rows that only the reader has, as its world has them, without those that everybody's list has. */
  private async ownRows(resolved: ResolvedList): Promise<ExportedEntry[]> {
    const { board, ownEntries = [], everybodys, edition, list } = resolved;
    if (!everybodys) return [];
    const own = edition
      ? await lackedBy({ list, ranks: everybodys }, ownEntries)
      : ownEntries.filter(({ unranked }) => unranked !== false);
    if (own.length === 0) return [];
    const keys = own.map(({ playerId }) => playerId);
    const isFrozen = edition?.kind === 'frozen';
    const stored = await ownExportedEntries(this.database, list.windowUid, keys, isFrozen);
    const rows = new Map(stored.map((row) => [row.player_id, row]));
    const isTaxed = board.definition.decay !== null;
    const details = isTaxed ? await runDetails(this.database, list.windowUid, keys, board, isFrozen) : [];
    const runs = new Map(details.map(({ player_id, patch_runs }) => [player_id, patch_runs ?? []]));
    return own.flatMap((entry) => {
      const { playerId, score, columns, achievedAtMs } = entry;
      const row = rows.get(playerId);
      if (!row) return [];
      const values = { score, columns: [...columns], achieved_at_ms: achievedAtMs };
      const taxedFrom = taxedFromOf({ list }, entry);
      if (taxedFrom === undefined) return [{ ...row, ...values }];
      const { metadata, verified, proof } = runShown(taxedFrom, entry, runs.get(playerId) ?? []) ?? row;
      const ofRun = { metadata, verified: verified ?? false, proof: proof ?? null };
      return [{ ...row, ...values, ...ofRun, raw_score: taxedFrom.rawScore, patch_uid: taxedFrom.patch }];
    });
  }

  /** By their ordinals, which are dense: nothing is held open between two pages, and a gap is a page that was removed. */
  private async *standings({ list, edition }: ResolvedList): AsyncGenerator<ExportedStanding[]> {
    const read = { edition: edition!.uid, scope: list.scope, ordering: list.ordering };
    const last = await this.editions.length(read);
    if (last === null) throw gone();
    for (let after = 0; after < last; after += ROWS_AT_ONCE) {
      const to = Math.min(after + ROWS_AT_ONCE, last);
      const rows = await this.editions.exported(read, after, to);
      if (rows.length !== to - after) throw gone();
      yield rows;
    }
  }

  private async *entries(
    { board, list, window }: ResolvedList,
    { timeoutMs, signal }: ExportRowsOptions,
  ): AsyncGenerator<ExportedStanding[]> {
    if (list.scope === NEVER_USED_SCOPE) return;
    let last: ExportedStanding | undefined;
    const scope = list.scope === GLOBAL_SCOPE ? null : list.scope;
    const options = { rows: ROWS_AT_ONCE, timeoutMs, signal };
    const asked = {
      windowUid: window.uid,
      scope,
      keepsRuns: board.runsFrom !== undefined,
      isPerRun: isPerRun(board.definition),
      ...(list.tax && { tax: { definition: board.definition, order: list.tax } }),
    };
    const chunks = exportedEntries(this.database, list.ordering, asked, options);
    for await (const chunk of chunks) {
      yield chunk.map((row) => {
        const ordinal = (last?.ordinal ?? 0) + 1;
        const tiedWith = last && sharesRank(last, row) ? last : null;
        const competition = tiedWith?.competition ?? ordinal;
        const dense = tiedWith?.dense ?? (last?.dense ?? 0) + 1;
        last = { ...row, ordinal, competition, dense };
        return last;
      });
    }
  }

  private async complete(
    { board, list }: ResolvedList,
    style: RankStyle,
    rows: readonly ExportedStanding[],
  ): Promise<ExportedRow[]> {
    const enricher = this.extensions.enricher;
    const [scopes, decorations] = await Promise.all([
      this.scopes.namesOf([...new Set(rows.flatMap((row) => row.scopes.filter((scope) => !isPatchScope(scope))))]),
      enricher && rows.length > 0
        ? answered(enricher.decorate([...new Set(rows.map(({ player_id }) => playerOfKey(player_id)))]))
        : null,
    ]);
    return rows.map((row) => ({
      rank: row[style],
      ordinal: row.ordinal,
      ...entryOfKey(row.player_id),
      displayName: decorations?.get(playerOfKey(row.player_id))?.displayName ?? row.display_name,
      score: row.score,
      columns: list.ordering.columns.map((_, index) => row.columns[index]!),
      achievedAt: toTimestamp(row.achieved_at_ms),
      scopes: row.scopes.flatMap((uid) => scopes.get(uid) ?? []).sort(),
      metadata: row.metadata,
      ...verificationOf(board, row),
      ...(row.patch_uid != null && taxOfRow({ board, list }, { rawScore: row.raw_score!, patch: row.patch_uid })),
    }));
  }
}

/** Readers who see players who are not listed see hidden ones, too. */
function isShown(
  { player_id, listed, sanction }: ExportedStanding,
  boardId: string,
  showsUnlisted: boolean,
  ownWorldOf: string | undefined,
): boolean {
  // To itself a shadowed player is listed as ever.
  const isSanctioned = playerOfKey(player_id) !== ownWorldOf && holdsOn(sanction, boardId);
  return showsUnlisted ? !isSanctioned || sanction!.kind === 'hide' : listed !== false && !isSanctioned;
}

const gone = (): LadderError =>
  new LadderError('SNAPSHOT_GONE', 'The standings that were asked for are not kept any more.');
