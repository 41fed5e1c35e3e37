import { scopeNamesOf, type BoardDefinition, type ScopeValues } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { ScopeCatalog } from '../catalogs/scope-catalog.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { leftScopesOf, type EntryRow } from '../entries/entry-rows.js';
import { LaneQueue } from '../lanes/lane-queue.js';
import { drawPositions } from '../lanes/lane-events.js';
import { Lanes, placedAnew } from '../lanes/lanes.js';
import { storeEntries } from '../reemission/entry-reemission.js';
import { REWRITE_KEPT_PART } from '../runs/entry-refold-sql.js';
import { noteRevision } from '../standings/revision-notes.js';
import { BOARD_OF_WINDOW, ENTRIES_TO_RESTATE } from './restated-entries-sql.js';
import {
  lanesLeft,
  nextStaged,
  noteDone,
  takeStaged,
  type RestatedEntry,
  type Restatement,
} from './restatement-rows.js';

/** The most rows of one transaction; a lane's runs wait some milliseconds for it. */
const ROWS_AT_ONCE = 250;

interface BoardOfWindow {
  boardUid: number;
  definition: BoardDefinition;
  scopes: BoardDefinition['scopes'] | null;
}

interface StoredRow {
  playerId: string;
  /** null, as all that follows but the last two: there never was an entry. */
  version: number | null;
  removed: boolean | null;
  score: number | null;
  columns: number[] | null;
  achievedAtMs: number | null;
  metadata: string | null;
  scopes: number[] | null;
  leftScopes: number[] | null;
  unranked: boolean;
  values: ScopeValues;
}

/** Writes what differs of a window that is restated, lane by lane, and has its next edition made. */
@Injectable()
export class RestatedEntries {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly work: LaneQueue,
    private readonly scopes: ScopeCatalog,
  ) {}

  /** Goes on with what is left, until the signal; what was written is not written again. */
  async write(restatement: Restatement, signal: AbortSignal): Promise<void> {
    for (const lane of await lanesLeft(this.database, restatement)) {
      let isLeft = true;
      while (isLeft && !signal.aborted) isLeft = await this.writeNext(lane, restatement);
    }
    if (!signal.aborted) await noteDone(this.database, restatement);
  }

  /**
   * @param staged the lane as it was when the rows were kept: their players may be in others now
   * @returns whether there were any
   */
  private writeNext(staged: number, restatement: Restatement): Promise<boolean> {
    const { database, lanes, work } = this;
    return placedAnew(database, lanes, async () => {
      const playerIds = await nextStaged(database, restatement, staged, ROWS_AT_ONCE);
      for (const { place, things } of lanes.sorted(playerIds, (playerId) => playerId)) {
        await work.holding(place, async (transaction) => {
          const taken = await takeStaged(transaction, restatement, staged, things);
          await this.writeSome(transaction, place.lane, restatement, taken);
        });
      }
      return playerIds.length > 0;
    });
  }

  private async writeSome(
    transaction: SqlRunner,
    lane: number,
    restatement: Restatement,
    taken: readonly RestatedEntry[],
  ): Promise<void> {
    const { windowUid, auditId } = restatement;
    const [board] = await transaction.query<BoardOfWindow>(BOARD_OF_WINDOW, [windowUid]);
    if (!board || taken.length === 0) return;
    for (const { guildId, playerId, present, score, achievedAtMs } of taken.filter(({ guildId }) => guildId !== '')) {
      await transaction.query(REWRITE_KEPT_PART, [windowUid, guildId, playerId, present, score, achievedAtMs]);
    }
    await this.writeEntries(
      transaction,
      { ...board, windowUid, lane },
      taken.filter(({ guildId }) => guildId === ''),
    );
    const touched = [...new Set(taken.map(({ playerId }) => playerId))].map((playerId) => ({ windowUid, playerId }));
    await noteRevision(transaction, touched, auditId);
  }

  private async writeEntries(
    transaction: SqlRunner,
    board: BoardOfWindow & { windowUid: number; lane: number },
    restated: readonly RestatedEntry[],
  ): Promise<void> {
    const { windowUid, lane } = board;
    const playerIds = restated.map(({ playerId }) => playerId);
    const found = await transaction.query<StoredRow>(ENTRIES_TO_RESTATE, [windowUid, playerIds]);
    const stored = new Map(found.map((row) => [row.playerId, row]));
    const scopesOf = await this.scopesOf(board, found);
    const positions = await drawPositions(transaction, restated.length);
    const rows = restated.flatMap((entry, index) => {
      const row = stored.get(entry.playerId)!;
      return entryRow(board, entry, row, { version: positions[index]!, scopes: row.scopes ?? scopesOf(row) }) ?? [];
    });
    // The projection is not told: a window that ended a moment ago is read from it until there is a later edition, and half of
    // the entries must not be seen.
    if (rows.length > 0) await storeEntries(transaction, lane, rows, []);
  }

  /** Who was not there at the end comes into the lists of its region and guild as they are now. */
  private async scopesOf(
    { definition, scopes }: BoardOfWindow,
    rows: readonly StoredRow[],
  ): Promise<(row: StoredRow) => number[]> {
    const namesOf = ({ values }: StoredRow): string[] => scopeNamesOf(scopes ?? definition.scopes, values);
    const names = [...new Set(rows.filter((row) => row.scopes === null).flatMap(namesOf))];
    const uids = names.length === 0 ? [] : await this.scopes.ensure(names);
    const uidOf = new Map(names.map((name, index) => [name, uids[index]!]));
    return (row) => namesOf(row).map((name) => uidOf.get(name)!);
  }
}

/** null: an entry that was never there is not removed. */
function entryRow(
  { boardUid, windowUid }: BoardOfWindow & { windowUid: number },
  { playerId, present, score, columns, achievedAtMs }: RestatedEntry,
  row: StoredRow,
  { version, scopes }: { version: number; scopes: number[] },
): EntryRow | null {
  if (!present && row.version === null) return null;
  const state = present
    ? { score, columns, achievedAtMs, metadata: null, version }
    : { score: row.score!, columns: row.columns!, achievedAtMs: row.achievedAtMs!, metadata: row.metadata, version };
  const before = row.version === null ? null : { scopes: row.scopes!, leftScopes: row.leftScopes! };
  const { everLeft: leftScopes } = leftScopesOf(before, scopes);
  return { boardUid, windowUid, playerId, state, removed: !present, unranked: row.unranked, scopes, leftScopes };
}
