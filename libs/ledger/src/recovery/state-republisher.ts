import {
  keyOfEntry,
  runOfKey,
  withBoardDefaults,
  type BoardDefinition,
  type EntryChange,
  type EntryChanged,
  type StandingsRevised,
  type FlagRaised,
} from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { keptAfterEndMs, runsOfEvent, type RankedRow } from '../entries/entry-rows.js';
import { GuildTotals } from '../people/guild-totals.js';
import { LaneQueue } from '../lanes/lane-queue.js';
import { moveHead } from '../lanes/lane-heads.js';
import { appendEvent, nextPosition } from '../lanes/lane-events.js';
import { takeLane } from '../lanes/lane-locks.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { tellRunNow } from '../runs/recorded-run.js';
import { keepBases } from '../runs/run-rows.js';
import { sanctionChanged, sanctionInForce } from '../sanctions/sanction-rows.js';
import {
  ENTRIES_OF_PLAYER,
  PRESENT_FLAG,
  RENUMBER_ENTRIES,
  RENUMBER_TOTALS,
  TOTALS_OF_GUILD,
} from './state-republisher-sql.js';

/** Which of a player's or guild's entries; null: all of living boards. */
export interface EntriesWanted {
  boardUid: number | null;
  windowUids: readonly number[] | null;
  /** Entries of runs that are wanted although they may be removed, where each run is one; absent: none. */
  entryIds?: readonly string[];
}

interface PresentRow extends RankedRow {
  /** The player's id, the guild's, or the key of a run's entry. */
  key: string;
  boardUid: number;
  definition: BoardDefinition;
  windowUid: number;
  endsAtMs: number | null;
}

/**
 * Says once more in the log what is, for those whose event did not arrive: under a new version, so that it counts
 * wherever the old one does, and is brought back with whatever Redis loses after it. Doing it twice changes nothing.
 */
@Injectable()
export class StateRepublisher {
  constructor(
    private readonly work: LaneQueue,
    private readonly totals: GuildTotals,
  ) {}

  /** @returns how many events were written: one for each board on which the player has, or had, an entry */
  async emitPlayer(playerId: string, wanted: EntriesWanted): Promise<number> {
    return this.work.holding(playerId, (transaction, lane) => emitEntries(transaction, lane, playerId, wanted, false));
  }

  /** As {@link emitPlayer}, after the guild's totals were brought up to its members' entries. */
  async emitGuild(guildId: string, wanted: EntriesWanted): Promise<number> {
    if (wanted.windowUids !== null) {
      await this.totals.recompute(wanted.windowUids.map((windowUid) => ({ windowUid, guildId })));
    }
    return this.work.inTurn(guildId, async (transaction, place) => {
      await this.totals.takeTurn(transaction, place.lane);
      await takeLane(transaction, place);
      return emitEntries(transaction, place.lane, guildId, wanted, true);
    });
  }

  /** Has everybody look at the name of a player, or guild, anew. */
  async emitName(playerId: string, isGuild: boolean): Promise<void> {
    await this.work.holding(playerId, async (transaction, lane) => {
      const position = await nextPosition(transaction);
      const event = { type: 'player-changed' as const, playerId, ...(isGuild && { isGuild }) };
      await appendEvent(transaction, lane, position, playerId, event);
    });
  }

  /** Tells what is in force against a player, or that nothing is. */
  async emitSanction(playerId: string): Promise<void> {
    await this.work.holding(playerId, async (transaction, lane) => {
      const inForce = await sanctionInForce(transaction, playerId);
      const event = sanctionChanged(playerId, inForce ?? null);
      await appendEvent(transaction, lane, await nextPosition(transaction), playerId, event);
    });
  }

  /** @returns false when there never was such a board */
  async emitBoard(boardUid: number, lane: number): Promise<boolean> {
    return this.work.holdingLane(lane, async (transaction) => {
      const [board] = await transaction.query<{ boardId: string | null; revision: number }>(
        'SELECT board_id AS "boardId", revision FROM boards WHERE board_uid = $1',
        [boardUid],
      );
      if (!board) return false;
      const position = await nextPosition(transaction);
      await appendEvent(transaction, lane, position, String(boardUid), { type: 'board-changed', boardUid, ...board });
      return true;
    });
  }

  /** @returns false when the window is not closed, or its board is gone */
  async emitWindow(windowUid: number, lane: number): Promise<boolean> {
    return this.work.holdingLane(lane, async (transaction) => {
      const [window] = await transaction.query<{ boardUid: number; windowId: string; version: number }>(
        `SELECT w.board_uid AS "boardUid", w.window_id AS "windowId", e.version
         FROM windows w JOIN boards b USING (board_uid) JOIN editions e USING (window_uid)
         WHERE w.window_uid = $1 AND w.state = 'settled' AND e.kind = 'final' AND e.number = 1 AND b.board_id IS NOT NULL`,
        [windowUid],
      );
      if (!window) return false;
      const event = { type: 'window-closed' as const, windowUid, ...window };
      await appendEvent(transaction, lane, await nextPosition(transaction), String(window.boardUid), event);
      return true;
    });
  }

  /** @returns false when the window's standings were not revised, or its board is gone */
  async emitRevision(windowUid: number, lane: number): Promise<boolean> {
    return this.work.holdingLane(lane, async (transaction) => {
      const [newest] = await transaction.query<{
        boardUid: number;
        windowId: string;
        edition: number;
        isFrozen: boolean;
      }>(
        `SELECT w.board_uid AS "boardUid", w.window_id AS "windowId", e.number AS edition, e.kind = 'frozen' AS "isFrozen"
         FROM windows w JOIN boards b USING (board_uid) JOIN editions e USING (window_uid)
         WHERE w.window_uid = $1 AND e.kind IN ('final', 'frozen') AND e.number > 1 AND b.board_id IS NOT NULL
         ORDER BY e.kind = 'final' DESC, e.number DESC LIMIT 1`,
        [windowUid],
      );
      if (!newest) return false;
      const { isFrozen, ...revised } = newest;
      const version = await nextPosition(transaction);
      const event: StandingsRevised = { type: 'standings-revised', windowUid, ...revised, version };
      if (isFrozen) event.isFrozen = true;
      await appendEvent(transaction, lane, version, String(revised.boardUid), event);
      return true;
    });
  }

  /** @returns false when the pool is gone */
  async emitPool(poolUid: number, lane: number): Promise<boolean> {
    return this.work.holdingLane(lane, async (transaction) => {
      const [pool] = await transaction.query<{ position: number }>(
        'SELECT recorded_position AS position FROM pools WHERE pool_uid = $1 AND pool_id IS NOT NULL',
        [poolUid],
      );
      if (!pool) return false;
      const event = { type: 'game-recorded' as const, poolUid, ...pool };
      await appendEvent(transaction, lane, await nextPosition(transaction), String(poolUid), event);
      return true;
    });
  }

  /** Has the rules look at a run again. @returns false when it is not kept any more, or nothing examines it */
  emitRun(run: { boardUid: number; playerId: string; position: number }): Promise<boolean> {
    return this.work.holding(run.playerId, (transaction, lane) => tellRunNow(transaction, lane, run));
  }

  /** @returns false when the flag is kept no more */
  async emitFlag(flagId: string, lane: number): Promise<boolean> {
    return this.work.holdingLane(lane, async (transaction) => {
      const [flag] = await transaction.query<Omit<FlagRaised, 'type' | 'flagId'>>(PRESENT_FLAG, [flagId]);
      if (!flag) return false;
      const event: FlagRaised = { type: 'flag-raised', flagId, ...flag };
      await appendEvent(transaction, lane, await nextPosition(transaction), flag.playerId ?? flagId, event);
      return true;
    });
  }
}

async function emitEntries(
  transaction: SqlRunner,
  lane: number,
  playerId: string,
  { boardUid, windowUids, entryIds = [] }: EntriesWanted,
  isGuild: boolean,
): Promise<number> {
  const sql = isGuild ? TOTALS_OF_GUILD : ENTRIES_OF_PLAYER;
  const keys = entryIds.map((entryId) => keyOfEntry({ playerId, entryId }));
  const rows = await transaction.query<PresentRow>(sql, [playerId, boardUid, windowUids, keys]);
  const byBoard = new Map<number, PresentRow[]>();
  for (const row of rows) byBoard.set(row.boardUid, [...(byBoard.get(row.boardUid) ?? []), row]);
  if (!isGuild && byBoard.size > 0) await moveHead(transaction, lane);
  for (const [uid, ofBoard] of byBoard) {
    const version = await nextPosition(transaction);
    const places = ofBoard.map(({ windowUid, key }) => ({ windowUid, playerId: key }));
    if (!isGuild) await keepBases(transaction, places);
    const named = [places.map((place) => place.windowUid), places.map((place) => place.playerId)];
    await transaction.query(isGuild ? RENUMBER_TOTALS : RENUMBER_ENTRIES, [...named, version, lane]);
    const changes = ofBoard.map(changeOf);
    const event: EntryChanged = { type: 'entry-changed', boardUid: uid, playerId, version, changes };
    await appendEvent(transaction, lane, version, playerId, isGuild ? { ...event, isGuild } : event);
  }
  return byBoard.size;
}

/** Every scope that it ever left is named: it is not known which of them the lost event took it out of. */
function changeOf(row: PresentRow): EntryChange {
  const { windowUid, endsAtMs, definition, removed, score, columns, achievedAtMs, scopes, leftScopes, patchRuns } = row;
  return {
    windowUid,
    ...runOfKey(row.key),
    keepUntilMs: endsAtMs === null ? null : endsAtMs + keptAfterEndMs(withBoardDefaults(definition)),
    entry: removed ? null : { score, columns, achievedAtMs },
    ...(scopes.length > 0 && { scopes }),
    ...(leftScopes.length > 0 && { leftScopes }),
    ...runsOfEvent(patchRuns, !removed),
  };
}
