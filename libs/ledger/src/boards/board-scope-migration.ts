import { Injectable } from '@nestjs/common';
import { PLAYERS_OF_WINDOW } from '../reemission/entry-reemission-sql.js';
import { EntryReemission } from '../reemission/entry-reemission.js';
import { GUILDS_OF_WINDOW } from '../people/guild-totals-sql.js';
import { GuildTotals } from '../people/guild-totals.js';
import { ledgerNowMs } from '../database/ledger-clock.js';
import { takeLane } from '../lanes/lane-locks.js';
import { Lanes, placedAnew, type Place } from '../lanes/lanes.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { tryEach } from '../database/try-each.js';

const PLAYERS_AT_ONCE = 500;
const GUILDS_AT_ONCE = 200;

interface RescopedBoard {
  board_uid: number;
  definition_revision: number;
  rescopes_asked: number;
}

/** Boards whose entries are yet to be given their scopes. */
const TO_RESCOPE =
  'SELECT board_uid, definition_revision, rescopes_asked FROM boards WHERE rescope AND board_id IS NOT NULL ORDER BY board_uid';

/** Has {@link BoardScopeMigration} go over every board with guilds, which recomputes their totals. */
export async function rescopeGuildBoards(database: SqlRunner): Promise<void> {
  await database.query(
    `UPDATE boards SET rescope = true, rescopes_asked = rescopes_asked + 1
     WHERE board_id IS NOT NULL AND definition->'scopes' ? 'guild'`,
  );
}

/**
 * Gives the running entries of a board the scopes of its new definition, and its guilds their totals, a chunk at a
 * time. Begun again after a failure, it passes over what is done.
 */
@Injectable()
export class BoardScopeMigration {
  /** What {@link run} finds, for a `SharedLook`. */
  readonly due = TO_RESCOPE;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly reemission: EntryReemission,
    private readonly totals: GuildTotals,
  ) {}

  /** Migrates every board that waits for it. */
  async run(signal: AbortSignal): Promise<void> {
    const { database } = this;
    const boards = await database.query<RescopedBoard>(TO_RESCOPE);
    await tryEach(boards, signal, async (board) => {
      if (!(await this.rescope(board.board_uid, signal))) return;
      // Put once more or asked for anew meanwhile: it begins again.
      await database.query(
        'UPDATE boards SET rescope = false WHERE board_uid = $1 AND definition_revision = $2 AND rescopes_asked = $3',
        [board.board_uid, board.definition_revision, board.rescopes_asked],
      );
    });
  }

  /** @returns whether it came to the end */
  private async rescope(boardUid: number, signal: AbortSignal): Promise<boolean> {
    // Also ended windows that still take late runs: their guilds' totals follow the definition under which they close.
    const windows = await this.database.query<{ window_uid: number }>(
      `SELECT window_uid FROM windows WHERE board_uid = $1 AND state <> 'settled' AND state = 'open' ORDER BY window_uid`,
      [boardUid],
    );
    for (const { window_uid } of windows) {
      await this.rescopeEntries(window_uid, signal);
      await this.recomputeGuilds(window_uid, signal);
    }
    return !signal.aborted;
  }

  /** Entries written after the new definition was put have its scopes already: only older ones are looked at. */
  private async rescopeEntries(windowUid: number, signal: AbortSignal): Promise<void> {
    const { database, reemission, lanes } = this;
    for (let after = ''; !signal.aborted;) {
      const page = await database.query<{ player_id: string }>(PLAYERS_OF_WINDOW, [windowUid, after, PLAYERS_AT_ONCE]);
      const playerIds = page.map(({ player_id }) => player_id);
      const entries = await reemission.runningOfWindow(database, windowUid, playerIds, await ledgerNowMs(database));
      const seen = await reemission.differing(entries);
      const stale = seen.map(({ row }) => row.playerId);
      // What is written by then is not seen again.
      await placedAnew(database, lanes, async () => {
        for (const { place, things } of lanes.sorted(stale, (playerId) => playerId)) {
          await this.writeChunk(place, windowUid, things);
        }
      });
      if (page.length < PLAYERS_AT_ONCE) return;
      after = playerIds.at(-1)!;
    }
  }

  private async writeChunk(place: Place, windowUid: number, playerIds: readonly string[]): Promise<void> {
    const { database, reemission } = this;
    await database.transaction(async (transaction) => {
      await takeLane(transaction, place);
      const nowMs = await ledgerNowMs(transaction);
      const entries = await reemission.runningOfWindow(transaction, windowUid, playerIds, nowMs);
      await reemission.write(transaction, place.lane, await reemission.differing(entries));
    });
  }

  private async recomputeGuilds(windowUid: number, signal: AbortSignal): Promise<void> {
    const { database, totals } = this;
    for (let after = ''; !signal.aborted;) {
      const page = await database.query<{ guild_id: string }>(GUILDS_OF_WINDOW, [windowUid, after, GUILDS_AT_ONCE]);
      await totals.recompute(page.map(({ guild_id }) => ({ windowUid, guildId: guild_id })));
      if (page.length < GUILDS_AT_ONCE) return;
      after = page.at(-1)!.guild_id;
    }
  }
}
