import { PLAYERS_OF_WINDOW } from '../reemission/entry-reemission-sql.js';
import type { EntryReemission } from '../reemission/entry-reemission.js';
import { GUILDS_OF_WINDOW } from '../people/guild-totals-sql.js';
import type { GuildTotals } from '../people/guild-totals.js';
import { LeasedTask } from '../leases/leased-task.js';
import { ledgerNowMs } from '../database/ledger-clock.js';
import { takeLane, type Lanes } from '../lanes/lanes.js';
import type { PostgresDatabase } from '../database/postgres-database.js';
import type { PostgresLeases } from '../leases/postgres-leases.js';
import { settleEach } from '../database/settle-each.js';

const LOOK_EVERY_MS = 500;
const LEASE_TTL_MS = 10_000;
const PLAYERS_AT_ONCE = 500;
const GUILDS_AT_ONCE = 200;

export interface BoardRescoperParts {
  database: PostgresDatabase;
  lanes: Lanes;
  leases: PostgresLeases;
  reemission: EntryReemission;
  totals: GuildTotals;
}

interface RescopedBoard {
  board_uid: number;
  definition_revision: number;
}

/**
 * Gives the running entries of a board the scopes of its new definition, and its guilds their totals, a chunk at a
 * time; one process does. Begun again after a failure, it passes over what is done.
 */
export class BoardScopeMigration {
  private readonly task: LeasedTask;

  constructor(
    private readonly parts: BoardRescoperParts,
    who: { holder: string; onFailure: (error: unknown) => void },
  ) {
    const duties = [{ everyMs: LOOK_EVERY_MS, run: (signal: AbortSignal) => this.run(signal) }];
    const lease = { name: 'boards:rescope', ttlMs: LEASE_TTL_MS, askEveryMs: LEASE_TTL_MS / 2 };
    this.task = new LeasedTask(parts.leases, { ...lease, ...who, duties });
  }

  start(): void {
    this.task.start();
  }

  stop(): Promise<void> {
    return this.task.stop();
  }

  /** Rescopes every board that waits for it. */
  async run(signal: AbortSignal): Promise<void> {
    const { database } = this.parts;
    const boards = await database.query<RescopedBoard>(
      'SELECT board_uid, definition_revision FROM boards WHERE rescope AND board_id IS NOT NULL ORDER BY board_uid',
    );
    await settleEach(boards, signal, async (board) => {
      if (!(await this.rescope(board.board_uid, signal))) return;
      // Put once more meanwhile: it begins again.
      await database.query('UPDATE boards SET rescope = false WHERE board_uid = $1 AND definition_revision = $2', [
        board.board_uid,
        board.definition_revision,
      ]);
    });
  }

  /** @returns whether it came to the end */
  private async rescope(boardUid: number, signal: AbortSignal): Promise<boolean> {
    // Also those that ended and still take late runs: their guilds' totals are made by the definition that closes them.
    const windows = await this.parts.database.query<{ window_uid: number }>(
      `SELECT window_uid FROM windows WHERE board_uid = $1 AND state <> 'settled' AND state = 'open' ORDER BY window_uid`,
      [boardUid],
    );
    for (const { window_uid } of windows) {
      await this.rescopeEntries(window_uid, signal);
      await this.recomputeGuilds(window_uid, signal);
    }
    return !signal.aborted;
  }

  /** What is written after the new definition was put has its scopes already: only those that were there are looked at. */
  private async rescopeEntries(windowUid: number, signal: AbortSignal): Promise<void> {
    const { database, reemission, lanes } = this.parts;
    for (let after = ''; !signal.aborted;) {
      const page = await database.query<{ player_id: string }>(PLAYERS_OF_WINDOW, [windowUid, after, PLAYERS_AT_ONCE]);
      const playerIds = page.map(({ player_id }) => player_id);
      const entries = await reemission.runningOfWindow(database, windowUid, playerIds, await ledgerNowMs(database));
      const seen = await reemission.differing(entries);
      for (const lane of lanes.all) {
        const ofLane = seen.map(({ row }) => row.playerId).filter((playerId) => lanes.of(playerId) === lane);
        if (ofLane.length > 0) await this.writeChunk(lane, windowUid, ofLane);
      }
      if (page.length < PLAYERS_AT_ONCE) return;
      after = playerIds.at(-1)!;
    }
  }

  private async writeChunk(lane: number, windowUid: number, playerIds: readonly string[]): Promise<void> {
    const { database, reemission } = this.parts;
    await database.transaction(async (transaction) => {
      await takeLane(transaction, lane);
      const nowMs = await ledgerNowMs(transaction);
      const entries = await reemission.runningOfWindow(transaction, windowUid, playerIds, nowMs);
      await reemission.write(transaction, lane, await reemission.differing(entries));
    });
  }

  private async recomputeGuilds(windowUid: number, signal: AbortSignal): Promise<void> {
    const { database, totals } = this.parts;
    for (let after = ''; !signal.aborted;) {
      const page = await database.query<{ guild_id: string }>(GUILDS_OF_WINDOW, [windowUid, after, GUILDS_AT_ONCE]);
      await totals.recompute(page.map(({ guild_id }) => ({ windowUid, guildId: guild_id })));
      if (page.length < GUILDS_AT_ONCE) return;
      after = page.at(-1)!.guild_id;
    }
  }
}
