import { isDeepStrictEqual } from 'node:util';
import { LadderError, type PoolGame } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import type { AuditRecord } from '../operators/audit-log.js';
import { prepared } from '../database/postgres-statements.js';
import type { Recomputed } from './recomputed.js';
import type { RecordedPlayer, VoidMode } from '../pools/recorded-games.js';

/** The event of a pool that makes games void, or gives one of them another result. */
export interface PoolCorrection {
  /** Of the games; ascending. */
  readonly positions: readonly number[];
  readonly mode: VoidMode;
  /** Where points are given back: whose opponents get them (null: everybody who lost some), with positions of their own, one a game. */
  readonly refund: { readonly playerId: string | null; readonly firstPosition: number } | null;
  /** Who really played, and how, in the one game; null: the games are void. */
  readonly players: readonly RecordedPlayer[] | null;
}

/** A correction as it is recorded. */
export interface RecordedCorrection extends PoolCorrection {
  /** Whose act it is, written down once it is done: of one that is refused then there is none. */
  readonly act: AuditRecord;
}

export const POOL_CORRECTION = 'correction';

const IS_CORRECTED_AFTER = prepared(`
  SELECT EXISTS (SELECT FROM pool_events WHERE pool_uid = $1 AND position > $2 AND type = '${POOL_CORRECTION}'
    AND outcome IS NOT NULL) AS "isCorrected"`);

/** Whether what the pool was rated up to a position has been corrected since then. */
export async function isCorrectedAfter(sql: SqlRunner, poolUid: number, position: number): Promise<boolean> {
  const [row] = await sql.query<{ isCorrected: boolean }>(IS_CORRECTED_AFTER, [poolUid, position]);
  return row!.isCorrected;
}

/** What a correction came to. */
export interface CorrectionOutcome {
  /** How many were corrected. */
  readonly games: number;
  /** Whose rating is another one, by id. */
  readonly players: readonly { playerId: string; before: number; after: number; delta: number }[];
}

/** The outcome as it is kept: of a correction that was too large nothing was done. */
export type KeptOutcome = CorrectionOutcome | { readonly refused: { detail: string; gamesMax: number } };

const GAME_AT = prepared(`
  SELECT game_id AS "gameId", position, played_at_ms AS "playedAtMs", weight, players, results
  FROM games WHERE pool_uid = $1 AND position = $2`);

export async function gameAt(sql: SqlRunner, poolUid: number, position: number): Promise<PoolGame> {
  const [game] = await sql.query<PoolGame>(GAME_AT, [poolUid, position]);
  return game!;
}

/** What is said of a correction that changes nothing. */
export const NOTHING_CORRECTED: CorrectionOutcome = { games: 0, players: [] };

/** In whatever order the players are named. */
export async function hasResultAlready(
  sql: SqlRunner,
  poolUid: number,
  { positions, players }: PoolCorrection,
): Promise<boolean> {
  if (players === null) return false;
  const game = await gameAt(sql, poolUid, positions[0]!);
  return isDeepStrictEqual(byPlayer(game.players), byPlayer(players));
}

const byPlayer = <Player extends { playerId: string }>(players: readonly Player[]): Player[] =>
  [...players].sort((a, b) => (a.playerId < b.playerId ? -1 : 1));

/** What is said of a correction. */
export const outcomeOf = (
  { positions }: PoolCorrection,
  { players }: Pick<Recomputed, 'players'>,
): CorrectionOutcome => ({
  games: positions.length,
  players: [...players]
    .map(([playerId, { before, after }]) => ({
      playerId,
      before: before.rating,
      after: after.rating,
      delta: after.rating - before.rating,
    }))
    .sort((a, b) => (a.playerId < b.playerId ? -1 : 1)),
});

/** What was kept of a correction, for whoever asked for it. @throws RECOMPUTE_TOO_LARGE */
export function asAnswered(kept: KeptOutcome): CorrectionOutcome {
  if (!('refused' in kept)) return kept;
  const { detail, gamesMax } = kept.refused;
  throw new LadderError('RECOMPUTE_TOO_LARGE', detail, { gamesMax });
}
