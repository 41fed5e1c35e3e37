/**
 * What a moderator did to a player: `ban` (no entry for anybody, no new runs), `shadow` (no entry for others), or `hide`
 * (ranked and counted, but its row is shown to nobody else).
 */
export const SANCTION_KINDS = ['ban', 'hide', 'shadow'] as const;
export type SanctionKind = (typeof SANCTION_KINDS)[number];

/** The sanction of a player that is in force: there is at most one. */
export interface SanctionInForce {
  kind: SanctionKind;
  /** The ids of the boards that it holds on; null: all, also those made later. */
  boards: readonly string[] | null;
  /** When the ledger's clock lifts it, Unix ms; null: never. */
  untilMs: number | null;
  /** What the player may know; null: nothing. */
  publicReason: string | null;
}

/** Whether a sanction, if there is one, holds on a board. */
export const holdsOn = (sanction: Pick<SanctionInForce, 'boards'> | null | undefined, boardId: string): boolean =>
  sanction != null && (sanction.boards === null || sanction.boards.includes(boardId));

/** Whether a player's entries on a board are ranked for nobody. */
export const isUnranked = (sanction: SanctionInForce | null | undefined, boardId: string): boolean =>
  sanction?.kind !== 'hide' && holdsOn(sanction, boardId);

/** Whether a player's runs on a board are refused. */
export const isBanned = (sanction: SanctionInForce | null | undefined, boardId: string): boolean =>
  sanction?.kind === 'ban' && holdsOn(sanction, boardId);
