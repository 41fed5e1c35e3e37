import {
  guildTotalDetails,
  runDetails,
  StandingsReader,
  type Edition,
  type PatchRunDetails,
  type RunDetailsRow,
  type SqlRunner,
} from '@laddercast/ledger';
import { GUILDS_SCOPE, keyOfEntry } from '@laddercast/domain';
import { monotonicMs } from '@laddercast/platform';
import type { ProjectedEntry } from '@laddercast/projections';
import type { ResolvedList } from '../lists/list-resolver.js';
import { MergedLookups } from '../shared/merged-lookups.js';
import { ListsWithoutMetadata, type WhenRead } from './lists-without-metadata.js';
import { ShortMemory } from '../shared/short-memory.js';
import { runShown, taxedFromOf } from './taxed-rows.js';

/** What PostgreSQL knows of a row beside its rank. */
export interface RunDetails {
  score: number;
  /** null: guilds have none. */
  columns: number[] | null;
  achievedAtMs: number;
  metadata: unknown;
  /** Of the run that it rests on; false: that is none that is kept. */
  verified: boolean;
  /** An https URL. */
  proof: string | null;
  /** When it was asked for, by this process's monotonic clock. */
  askedAtMs: number;
  /** On boards with decay: the player's runs, of which a list shows one. */
  patchRuns?: readonly PatchRunDetails[];
}

/** The most players of whom it is known that a run changed a moment ago; beyond them all are taken to have. */
const CHANGED_PLAYERS_MAX = 50_000;

/** When and for what details are looked up. */
export interface LoadOptions {
  /** When the entries were read, where that is known. */
  read?: WhenRead | undefined;
  /** Whether rows are shown until the list changes: then nothing is remembered of runs that sort keys do not tell apart. */
  areLasting?: boolean;
}

/** The runs behind rows, guilds' totals, or what the standings kept of them. */
export class RunDetailsOfLists {
  private readonly memory = new ShortMemory<RunDetails>();
  private readonly lookups: MergedLookups<ResolvedList, RunDetailsRow>;
  private readonly bare: ListsWithoutMetadata;
  private readonly editions: StandingsReader;
  /** When a run of a player was last said to have changed, by player; and of any player. */
  private readonly changedAtMs = new Map<string, number>();
  private anyChangedAtMs = -Infinity;

  constructor(private readonly database: SqlRunner) {
    this.editions = new StandingsReader(database);
    this.bare = new ListsWithoutMetadata(database);
    this.lookups = new MergedLookups(
      (resolved, playerIds) => this.read(resolved, playerIds),
      (row) => row.player_id,
    );
  }

  /** @returns false when the database did not answer in time */
  async load(
    resolved: ResolvedList,
    entries: readonly ProjectedEntry[],
    { read, areLasting = false }: LoadOptions = {},
  ): Promise<boolean> {
    const areWhole = await this.areWhole(resolved, entries, read);
    if (areWhole) return true;
    const isGuilds = resolved.list.scope === GUILDS_SCOPE;
    const missing = entries.filter((entry) => {
      const run = this.memory.get(keyOf(resolved, keyOfEntry(entry)));
      // How many members a guild has changes without its score, and the lists of guilds are short.
      if (run == null || (isGuilds && !resolved.edition)) return true;
      if (areLasting && mayBeOfAnother(resolved, entry)) return true;
      if (detailsShown(resolved, entry, run) === null) return true;
      return resolved.board.runsFrom !== undefined && run.askedAtMs <= this.lastChangeOf(entry.playerId);
    });
    if (missing.length === 0) return true;
    if (areWhole === null) return false;
    const remember = this.memory.asking();
    const askedAtMs = monotonicMs();
    const keys = missing.map(keyOfEntry);
    const rows = await this.lookups.ask(keyOf(resolved, ''), resolved, keys);
    if (rows === null) return false;
    for (const key of keys) {
      const row = rows.get(key);
      // An answer can be overtaken by that of a later query.
      if ((this.of(resolved, key)?.askedAtMs ?? -Infinity) > askedAtMs) continue;
      remember(keyOf(resolved, key), row ? detailsOf(row, askedAtMs) : null);
    }
    return true;
  }

  /** As it was last known. @param key of the entry */
  of(resolved: ResolvedList, key: string): RunDetails | null {
    return this.memory.isEmpty ? null : this.memory.stale(keyOf(resolved, key));
  }

  /** The runs of these players are looked up again, where a board keeps runs; null: those of all. */
  forget(playerIds: readonly string[] | null): void {
    const now = monotonicMs();
    if (playerIds !== null && this.changedAtMs.size + playerIds.length <= CHANGED_PLAYERS_MAX) {
      for (const playerId of playerIds) this.changedAtMs.set(playerId, now);
      return;
    }
    this.anyChangedAtMs = now;
    this.changedAtMs.clear();
  }

  private lastChangeOf(playerId: string): number {
    return Math.max(this.anyChangedAtMs, this.changedAtMs.get(playerId) ?? -Infinity);
  }

  /** Whether the projection knows all that there is of these entries; null when that is not said in time. */
  private async areWhole(
    { board, list, edition, ownWorldOf }: ResolvedList,
    entries: readonly ProjectedEntry[],
    read: WhenRead | undefined,
  ): Promise<boolean | null> {
    // The version of a list says nothing of an entry that it does not have, nor of runs.
    if (!read || edition || ownWorldOf !== undefined || board.runsFrom !== undefined) return false;
    if (list.scope === GUILDS_SCOPE) return false;
    return entries.every(({ achievedAtMs }) => achievedAtMs !== null) && this.bare.isBare(list, read);
  }

  private read(resolved: ResolvedList, keys: readonly string[]): Promise<RunDetailsRow[]> {
    const { board, window, list, edition } = resolved;
    if (edition) return this.ofStandings(resolved, edition, keys);
    if (list.scope === GUILDS_SCOPE) return guildTotalDetails(this.database, window.uid, keys);
    return runDetails(this.database, window.uid, keys, board);
  }

  /** What standings kept; they have nothing of entries that stand in the list for one reader alone. */
  private async ofStandings(
    { board, window, list: { scope, ordering } }: ResolvedList,
    { uid, kind }: Edition,
    keys: readonly string[],
  ): Promise<RunDetailsRow[]> {
    const kept = await this.editions.details({ edition: uid, scope, ordering }, keys);
    const lacking = keys.filter((key) => !kept.some((row) => row.player_id === key));
    if (lacking.length === 0 || scope === GUILDS_SCOPE) return kept;
    return [...kept, ...(await runDetails(this.database, window.uid, lacking, board, kind === 'frozen'))];
  }
}

/**
 * The details, where they are of the very run that is ranked, else null: the database may hold a newer one than the
 * projection. On a board with decay they are of one of the player's runs.
 */
export function detailsShown(
  resolved: Pick<ResolvedList, 'list'>,
  entry: ProjectedEntry,
  details: RunDetails | null,
): RunDetails | null {
  const taxedFrom = taxedFromOf(resolved, entry);
  if (taxedFrom === undefined || !details?.patchRuns) return isRun(entry, details) ? details : null;
  const run = runShown(taxedFrom, entry, details.patchRuns);
  if (!run) return null;
  const { achievedAtMs, metadata, verified = false, proof = null } = run;
  return { ...details, achievedAtMs, metadata: parsed(metadata), verified, proof };
}

const isRun = (entry: ProjectedEntry, run: RunDetails | null): boolean =>
  run !== null &&
  run.score === entry.score &&
  (run.columns === null || entry.columns.every((column, at) => column === run.columns![at])) &&
  (entry.achievedAtMs ?? run.achievedAtMs) === run.achievedAtMs;

/** Whether the entry can rest on another run than a moment ago and stand where it stood, with the same sort key. */
const mayBeOfAnother = ({ board, edition }: ResolvedList, { achievedAtMs }: ProjectedEntry): boolean =>
  edition === null && (achievedAtMs === null || board.definition.operator !== 'best');

function keyOf({ window, list, edition }: ResolvedList, key: string): string {
  if (edition) return `edition/${edition.uid}/${list.scope}/${key}`;
  return list.scope === GUILDS_SCOPE ? `guild/${window.uid}/${key}` : `run/${window.uid}/${key}`;
}

const detailsOf = (
  { score, columns, achieved_at_ms, metadata, members, verified, proof, patch_runs }: RunDetailsRow,
  askedAtMs: number,
): RunDetails => ({
  score,
  columns,
  achievedAtMs: achieved_at_ms,
  metadata: members === null ? parsed(metadata) : { members },
  verified: verified ?? false,
  proof: proof ?? null,
  askedAtMs,
  ...(patch_runs && { patchRuns: patch_runs }),
});

const parsed = (json: string | null): unknown => (json === null ? null : (JSON.parse(json) as unknown));
