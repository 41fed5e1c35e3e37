import type { SanctionChanged, SanctionInForce, SanctionKind } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';

/** A sanction as a moderator puts it. */
export interface NewSanction extends SanctionInForce {
  /** For moderators, never for the player. */
  reason: string;
}

/** A sanction as it is stored; times in Unix ms. */
export interface Sanction extends NewSanction {
  sanctionId: number;
  playerId: string;
  putBy: string;
  putAtMs: number;
  /** null: it is in force. */
  endedAtMs: number | null;
  /** The id of a key, or `clock`. */
  endedBy: string | null;
  endReason: string | null;
  /** Whether entries of the player are yet to follow. */
  pending: boolean;
  /** Entries of windows up to this one follow already. */
  followedWindow: number;
  /** How many entries were changed for it. */
  followedEntries: number;
}

const msOf = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::float8`;

const COLUMNS = `sanction_id AS "sanctionId", player_id AS "playerId", kind, reason, public_reason AS "publicReason",
  ${msOf('until')} AS "untilMs", boards, put_by AS "putBy", ${msOf('put_at')} AS "putAtMs",
  ${msOf('ended_at')} AS "endedAtMs", ended_by AS "endedBy", end_reason AS "endReason", pending,
  followed_window AS "followedWindow", followed_entries AS "followedEntries"`;

const IN_FORCE = `SELECT ${COLUMNS} FROM sanctions WHERE player_id = $1 AND ended_at IS NULL`;

const OF_PLAYER = `
  SELECT ${COLUMNS} FROM sanctions WHERE player_id = $1 AND sanction_id < $2 ORDER BY sanction_id DESC LIMIT $3`;

/** The entries of a player follow the last one that it got. */
const LAST_OF_PLAYER = `SELECT ${COLUMNS} FROM sanctions WHERE player_id = $1 ORDER BY sanction_id DESC LIMIT 1`;

const INSERT = `
  INSERT INTO sanctions (player_id, kind, reason, public_reason, until, boards, put_by, put_at, pending)
  VALUES ($1, $2, $3, $4, to_timestamp($5::float8 / 1000), $6, $7, to_timestamp($8::float8 / 1000), true)
  RETURNING ${COLUMNS}`;

const END = `
  UPDATE sanctions SET ended_at = to_timestamp($2::float8 / 1000), ended_by = $3, end_reason = $4, pending = $5,
    followed_window = 0, followed_entries = 0
  WHERE sanction_id = $1 RETURNING ${COLUMNS}`;

const NOTE_FOLLOWED = `
  UPDATE sanctions SET followed_window = coalesce($2, followed_window), pending = $2::int IS NOT NULL,
    followed_entries = followed_entries + $3
  WHERE sanction_id = $1 RETURNING ${COLUMNS}`;

/** The sanction of a player that is in force; undefined: none is. */
export async function sanctionInForce(sql: SqlRunner, playerId: string): Promise<Sanction | undefined> {
  const [sanction] = await sql.query<Sanction>(IN_FORCE, [playerId]);
  return sanction;
}

/** The event that tells of a player's sanction in force; null: nothing is. */
export function sanctionChanged(playerId: string, inForce: SanctionInForce | null): SanctionChanged {
  if (inForce === null) return { type: 'sanction-changed', playerId, sanction: null };
  const { kind, boards, untilMs } = inForce;
  return { type: 'sanction-changed', playerId, sanction: { kind, boards, untilMs } };
}

/** The newest first, at most `limit` with ids below `beforeId`. */
export const sanctionsOf = (
  sql: SqlRunner,
  playerId: string,
  limit: number,
  beforeId: number | null,
): Promise<Sanction[]> => sql.query<Sanction>(OF_PLAYER, [playerId, beforeId ?? Number.MAX_SAFE_INTEGER, limit]);

/** The player's last sanction, in force or not. */
export async function lastSanctionOf(sql: SqlRunner, playerId: string): Promise<Sanction | undefined> {
  const [sanction] = await sql.query<Sanction>(LAST_OF_PLAYER, [playerId]);
  return sanction;
}

/** Puts a sanction that the entries are yet to follow; none may be in force. */
export async function insertSanction(
  transaction: SqlRunner,
  playerId: string,
  { kind, reason, publicReason, untilMs, boards }: NewSanction,
  { by, atMs }: { by: string; atMs: number },
): Promise<Sanction> {
  const values = [playerId, kind satisfies SanctionKind, reason, publicReason, untilMs, boards, by, atMs];
  const [sanction] = await transaction.query<Sanction>(INSERT, values);
  return sanction!;
}

/** Ends a sanction; `follows`: whether the entries are to follow its end, and not another one that takes its place. */
export async function endSanction(
  transaction: SqlRunner,
  sanctionId: number,
  { by, atMs, reason, follows }: { by: string; atMs: number; reason: string; follows: boolean },
): Promise<Sanction> {
  const [sanction] = await transaction.query<Sanction>(END, [sanctionId, atMs, by, reason, follows]);
  return sanction!;
}

/** Notes that the entries up to a window follow; null: all do. */
export async function noteFollowed(
  transaction: SqlRunner,
  sanctionId: number,
  upTo: number | null,
  entries: number,
): Promise<Sanction> {
  const [sanction] = await transaction.query<Sanction>(NOTE_FOLLOWED, [sanctionId, upTo, entries]);
  return sanction!;
}
