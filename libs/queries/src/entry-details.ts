import type { RankedEntry } from '@laddercast/domain';
import type { EntryEnricher, PlayerDecoration } from '@laddercast/extension';
import type { SqlRunner } from '@laddercast/ledger';
import { monotonicMs, sleep, toTimestamp } from '@laddercast/platform';
import type { ProjectedEntry } from '@laddercast/projections';
import type { ResolvedList } from './list-resolver.js';

/** How long a name or a run's metadata is remembered: a change shows within this time. */
const REMEMBERED_MS = 1000;
const REMEMBERED_ROWS_MAX = 50_000;

/** A database that takes longer leaves the rows with what was known: reads do not wait for it. */
const WAITED_FOR_MS = 500;

const RUNS_SQL = `
  SELECT e.player_id, e.score, e.achieved_at_ms, e.metadata
  FROM unnest($2::text[]) AS k (player_id)
  CROSS JOIN LATERAL (SELECT * FROM entries WHERE window_uid = $1 AND player_id = k.player_id LIMIT 1) AS e`;

interface RunDetails {
  score: number;
  achievedAtMs: number;
  metadata: unknown;
}

interface DetailRow {
  player_id: string;
  score: number;
  achieved_at_ms: number;
  metadata: string | null;
}

/** Rows looked up a moment ago. Oldest go first at the limit. */
class ShortMemory<Row> {
  private readonly rows = new Map<string, { row: Row | null; untilMs: number }>();

  get(key: string): Row | null | undefined {
    const known = this.rows.get(key);
    return known && known.untilMs > monotonicMs() ? known.row : undefined;
  }

  /** What was known, however old: for when the source is away. */
  stale(key: string): Row | null {
    return this.rows.get(key)?.row ?? null;
  }

  set(key: string, row: Row | null): void {
    this.rows.delete(key);
    if (this.rows.size >= REMEMBERED_ROWS_MAX) this.rows.delete(this.rows.keys().next().value!);
    this.rows.set(key, { row, untilMs: monotonicMs() + REMEMBERED_MS });
  }
}

/**
 * Makes what clients see of projected entries: names from the {@link EntryEnricher}, metadata and (where the tie-break
 * keeps no time) achievedAt from PostgreSQL, by one keyed query per page. While PostgreSQL is away rows come with what
 * was known.
 */
export class EntryDetails {
  private readonly runs = new ShortMemory<RunDetails>();
  private readonly names = new ShortMemory<PlayerDecoration>();

  constructor(
    private readonly database: SqlRunner,
    private readonly enricher: () => EntryEnricher | null,
  ) {}

  async complete(resolved: ResolvedList, entries: readonly ProjectedEntry[]): Promise<RankedEntry[]> {
    return (await this.completeOrPartial(resolved, entries)).entries;
  }

  /** As {@link complete}; `partial` says that something could not be looked up in time. */
  async completeOrPartial(
    { board, window }: ResolvedList,
    entries: readonly ProjectedEntry[],
  ): Promise<{ entries: RankedEntry[]; partial: boolean }> {
    const runKey = (playerId: string): string => `${window.uid}/${playerId}`;
    const loaded = await Promise.all([this.loadRuns(window.uid, entries, runKey), this.loadNames(entries)]);
    const rows = entries.map((entry) => {
      const run = this.runs.stale(runKey(entry.playerId));
      // The database may already hold a newer run than the projection: its metadata are not of this score.
      const same =
        run !== null && run.score === entry.score && (entry.achievedAtMs ?? run.achievedAtMs) === run.achievedAtMs;
      const achievedAtMs = entry.achievedAtMs ?? run?.achievedAtMs ?? null;
      return {
        rank: entry.rank,
        playerId: entry.playerId,
        displayName: this.names.stale(entry.playerId)?.displayName ?? null,
        score: entry.score,
        columns: Object.fromEntries(board.definition.columns.map(({ name }, index) => [name, entry.columns[index]!])),
        achievedAt: achievedAtMs === null ? null : toTimestamp(achievedAtMs),
        metadata: same ? run.metadata : null,
      };
    });
    return { entries: rows, partial: loaded.includes(false) };
  }

  /** @returns false when the database did not answer in time */
  private async loadRuns(
    windowUid: number,
    entries: readonly ProjectedEntry[],
    runKey: (playerId: string) => string,
  ): Promise<boolean> {
    const missing = entries.filter((entry) => {
      const run = this.runs.get(runKey(entry.playerId));
      return (
        run === undefined || run?.score !== entry.score || (entry.achievedAtMs ?? run.achievedAtMs) !== run.achievedAtMs
      );
    });
    if (missing.length === 0) return true;
    const rows = await Promise.race([
      this.database.query<DetailRow>(RUNS_SQL, [windowUid, missing.map((entry) => entry.playerId)]).catch(() => null),
      sleep(WAITED_FOR_MS).then(() => null),
    ]);
    if (rows === null) return false;
    for (const entry of missing) this.runs.set(runKey(entry.playerId), null);
    for (const row of rows) {
      this.runs.set(runKey(row.player_id), {
        score: row.score,
        achievedAtMs: row.achieved_at_ms,
        metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as unknown),
      });
    }
    return true;
  }

  /** @returns false when the enricher did not answer in time */
  private async loadNames(entries: readonly ProjectedEntry[]): Promise<boolean> {
    const enricher = this.enricher();
    if (!enricher) return true;
    const missing = entries.map((entry) => entry.playerId).filter((playerId) => this.names.get(playerId) === undefined);
    if (missing.length === 0) return true;
    const decorations = await Promise.race([
      enricher.decorate(missing).catch(() => null),
      sleep(WAITED_FOR_MS).then(() => null),
    ]);
    if (decorations === null) return false;
    for (const playerId of missing) this.names.set(playerId, decorations.get(playerId) ?? null);
    return true;
  }
}
