import { LadderError } from '@laddercast/domain';
import { Inject, Injectable } from '@nestjs/common';
import { EntryReemission, type RunningEntry } from '../reemission/entry-reemission.js';
import {
  GUILD_BY_ID,
  GUILD_OF_PLAYER,
  KEEP_NOTHING_YET,
  KEEP_PARTS,
  MEMBERS_OF_GUILD,
  RUNNING_KEPT_WINDOWS,
  TAKE_BACK_PARTS,
} from './guild-registry-sql.js';
import { GuildTotals } from './guild-totals.js';
import { LaneQueue } from '../lanes/lane-queue.js';
import { appendEvent, nextPosition } from '../lanes/lane-events.js';
import { takeLane } from '../lanes/lane-locks.js';
import { ledgerNowMs } from '../database/ledger-clock.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { ScopeCatalog } from '../catalogs/scope-catalog.js';

/** The most members of a guild: its total reads them all. */
export const GUILD_MEMBERS_MAX = 10_000;
/** How long it is remembered who left: longer than any window takes late runs and they take to arrive. */
const LEAVERS_DAYS = 60;

export interface Guild {
  guildId: string;
  displayName: string | null;
  /** Without who is banned or shadowed everywhere: such a player counts itself alone. */
  memberCount: number;
}

/** A page of a guild's members: after an id, as a reader sees them. */
export interface MembersPage {
  limit: number;
  after: string;
  /** Keys that read see everybody, all others those who are listed, and players themselves. */
  reader: 'key' | { playerId: string | null };
}

export interface GuildMember {
  playerId: string;
  displayName: string | null;
  joinedAtMs: number;
}

/** Guilds and who is in them: a player in one at most. */
@Injectable()
export class GuildRegistry {
  constructor(
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    private readonly work: LaneQueue,
    private readonly scopes: ScopeCatalog,
    private readonly reemission: EntryReemission,
    private readonly totals: GuildTotals,
  ) {}

  /** Creates a guild, or gives it another name. */
  async put(guildId: string, displayName: string | null): Promise<{ guild: Guild; created: boolean }> {
    const { work, database } = this;
    const created = await work.holding(guildId, async (transaction, lane) => {
      const [before] = await transaction.query<{ display_name: string | null }>(
        'SELECT display_name FROM guilds WHERE guild_id = $1',
        [guildId],
      );
      if (before !== undefined && before.display_name === displayName) return false;
      await transaction.query(
        `INSERT INTO guilds (guild_id, display_name, created_at) VALUES ($1, $2, ladder_now())
         ON CONFLICT (guild_id) DO UPDATE SET display_name = excluded.display_name`,
        [guildId, displayName],
      );
      await announce(transaction, lane, guildId);
      return before === undefined;
    });
    return { guild: await this.require(database, guildId), created };
  }

  /**
   * @param readerId the player who reads; null: a key
   * @throws GUILD_NOT_FOUND
   */
  find(guildId: string, readerId: string | null = null): Promise<Guild> {
    return this.require(this.database, guildId, readerId);
  }

  /**
   * Members by id, after a given one.
   * @throws GUILD_NOT_FOUND
   */
  async members(guildId: string, { limit, after, reader }: MembersPage): Promise<GuildMember[]> {
    await this.require(this.database, guildId);
    const isKey = reader === 'key';
    return this.database.query<GuildMember>(MEMBERS_OF_GUILD, [
      guildId,
      after,
      limit,
      isKey,
      isKey ? null : reader.playerId,
    ]);
  }

  /**
   * Deletes a guild that nobody is in, with what leavers left to it in windows that run.
   * @throws GUILD_NOT_FOUND, GUILD_NOT_EMPTY
   */
  async delete(guildId: string): Promise<void> {
    const { work, totals } = this;
    await work.inTurn(guildId, async (transaction, place) => {
      const { lane } = place;
      await totals.takeTurn(transaction, lane);
      await takeLane(transaction, place);
      const rows = await transaction.query('SELECT 1 FROM guilds WHERE guild_id = $1 FOR UPDATE', [guildId]);
      if (rows.length === 0) throw guildNotFound(guildId);
      const [member] = await transaction.query('SELECT 1 FROM guild_members WHERE guild_id = $1 LIMIT 1', [guildId]);
      if (member) {
        throw new LadderError('GUILD_NOT_EMPTY', `Guild "${guildId}" has members; take them out first.`);
      }
      const nowMs = await ledgerNowMs(transaction);
      const windows = await transaction.query<{ window_uid: number }>(RUNNING_KEPT_WINDOWS, [guildId, nowMs]);
      const windowUids = windows.map(({ window_uid }) => window_uid);
      await transaction.query('DELETE FROM guild_kept WHERE window_uid = ANY ($1::int[]) AND guild_id = $2', [
        windowUids,
        guildId,
      ]);
      await transaction.query('DELETE FROM guilds WHERE guild_id = $1', [guildId]);
      await totals.recomputeWithin(
        transaction,
        place,
        windowUids.map((windowUid) => ({ windowUid, guildId })),
      );
      await announce(transaction, lane, guildId);
    });
  }

  /**
   * Puts a player into a guild, out of the one it was in; its running entries go along.
   * @returns since when it is a member, and the guild that it left
   * @throws GUILD_NOT_FOUND, LIMIT_REACHED
   */
  async join(guildId: string, playerId: string): Promise<{ joinedAtMs: number; leftGuildId: string | null }> {
    return this.move(playerId, async (transaction, before, nowMs) => {
      const [guild] = await transaction.query('SELECT 1 FROM guilds WHERE guild_id = $1 FOR NO KEY UPDATE', [guildId]);
      if (!guild) throw guildNotFound(guildId);
      if (before?.guildId === guildId)
        return { to: guildId, result: { joinedAtMs: before.joinedAtMs, leftGuildId: null } };
      await assertRoom(transaction, guildId);
      await transaction.query(
        `INSERT INTO guild_members (player_id, guild_id, joined_at) VALUES ($1, $2, to_timestamp($3::float8 / 1000))
         ON CONFLICT (player_id) DO UPDATE SET guild_id = excluded.guild_id, joined_at = excluded.joined_at`,
        [playerId, guildId, nowMs],
      );
      return { to: guildId, result: { joinedAtMs: nowMs, leftGuildId: before?.guildId ?? null } };
    });
  }

  /**
   * Takes a player out of a guild; nothing happens when it is not in it.
   * @throws GUILD_NOT_FOUND
   */
  async leave(guildId: string, playerId: string): Promise<void> {
    await this.move(playerId, async (transaction, before) => {
      if (before?.guildId !== guildId) {
        await this.require(transaction, guildId);
        return { to: before?.guildId ?? null, result: undefined };
      }
      await transaction.query('DELETE FROM guild_members WHERE player_id = $1', [playerId]);
      return { to: null, result: undefined };
    });
  }

  /** One transaction in the player's lane: the membership, what is kept of the leaver, and its running entries. */
  private move<T>(
    playerId: string,
    change: (
      transaction: SqlRunner,
      before: { guildId: string; joinedAtMs: number } | undefined,
      nowMs: number,
    ) => Promise<{ to: string | null; result: T }>,
  ): Promise<T> {
    const { work, reemission } = this;
    return work.holding(playerId, async (transaction, lane) => {
      const nowMs = await ledgerNowMs(transaction);
      const [before] = await transaction.query<{ guildId: string; joinedAtMs: number }>(GUILD_OF_PLAYER, [playerId]);
      const { to, result } = await change(transaction, before, nowMs);
      const from = before?.guildId ?? null;
      if (from === to) return result;
      const entries = await reemission.runningOfPlayer(transaction, playerId, nowMs);
      if (from !== null) await this.leaveParts(transaction, from, playerId, entries, nowMs);
      const back = to === null ? new Set<number>() : await takeBackParts(transaction, to, playerId, nowMs);
      const differing = await reemission.differing(entries);
      // A guild whose kept part goes is added up anew even where the player has no entry any more.
      const also = entries.filter((entry) => back.has(entry.row.windowUid) && !differing.includes(entry));
      await reemission.write(transaction, lane, [...differing, ...also]);
      return result;
    });
  }

  /** What the leaver scored stays with the guild where the board says so; what has left a rolling window is nobody's. */
  private async leaveParts(
    transaction: SqlRunner,
    guildId: string,
    playerId: string,
    entries: readonly RunningEntry[],
    nowMs: number,
  ): Promise<void> {
    await transaction.query(
      `INSERT INTO guild_leavers (guild_id, player_id, left_at) VALUES ($1, $2, to_timestamp($3::float8 / 1000))
       ON CONFLICT (guild_id, player_id) DO UPDATE SET left_at = excluded.left_at`,
      [guildId, playerId, nowMs],
    );
    await transaction.query(
      `DELETE FROM guild_leavers WHERE guild_id = $1 AND left_at < to_timestamp($2::float8 / 1000) - $3 * interval '1 day'`,
      [guildId, nowMs, LEAVERS_DAYS],
    );
    const [scope] = await this.scopes.ensure([`guild:${guildId}`]);
    const keeping = entries.filter(
      ({ definition, isRolling }) =>
        definition.guildAggregate.onLeave === 'keep' && !isRolling && definition.scopes.includes('guild'),
    );
    const kept = keeping.filter(({ row }) => !row.removed && row.scopes.includes(scope!));
    if (kept.length > 0) {
      await transaction.query(KEEP_PARTS, [
        guildId,
        playerId,
        nowMs,
        kept.map(({ row }) => row.windowUid),
        kept.map(({ row }) => row.state.score),
        kept.map(({ row }) => row.state.achievedAtMs),
      ]);
    }
    const removed = keeping.filter(({ row, definition }) => row.removed && definition.runs !== null);
    if (removed.length === 0) return;
    const nothingIn = removed.map(({ row }) => row.windowUid);
    await transaction.query(KEEP_NOTHING_YET, [guildId, playerId, nowMs, nothingIn]);
  }

  /** @throws GUILD_NOT_FOUND */
  private async require(sql: SqlRunner, guildId: string, readerId: string | null = null): Promise<Guild> {
    const [guild] = await sql.query<Guild>(GUILD_BY_ID, [guildId, readerId]);
    if (!guild) throw guildNotFound(guildId);
    return guild;
  }
}

/** Who comes back is counted by its live entries again. */
async function takeBackParts(
  transaction: SqlRunner,
  guildId: string,
  playerId: string,
  nowMs: number,
): Promise<Set<number>> {
  const rows = await transaction.query<{ window_uid: number }>(TAKE_BACK_PARTS, [guildId, playerId, nowMs]);
  return new Set(rows.map(({ window_uid }) => window_uid));
}

/** @throws LIMIT_REACHED */
async function assertRoom(transaction: SqlRunner, guildId: string): Promise<void> {
  const [row] = await transaction.query<{ members: number }>(
    'SELECT count(*)::int AS members FROM guild_members WHERE guild_id = $1',
    [guildId],
  );
  if (row!.members < GUILD_MEMBERS_MAX) return;
  throw new LadderError('LIMIT_REACHED', `Guild "${guildId}" has ${GUILD_MEMBERS_MAX} members, the most there can be.`);
}

async function announce(transaction: SqlRunner, lane: number, guildId: string): Promise<void> {
  const position = await nextPosition(transaction);
  await appendEvent(transaction, lane, position, guildId, { type: 'player-changed', playerId: guildId, isGuild: true });
}

const guildNotFound = (guildId: string): LadderError =>
  new LadderError('GUILD_NOT_FOUND', `There is no guild "${guildId}".`);
