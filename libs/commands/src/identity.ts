import { LadderError, type Board } from '@laddercast/domain';
import type { KeyScope } from '@laddercast/ledger';

/** Who asks: an API key (a game server or an operator), a player with a token, or nobody in particular. */
export type Identity =
  | { kind: 'key'; keyId: string; scopes: KeyScope[] }
  | { kind: 'player'; playerId: string; expiresAtMs: number }
  | { kind: 'anonymous' };

export const ANONYMOUS: Identity = { kind: 'anonymous' };

/** Who is named in the audit log. */
export const actorOf = (identity: Identity): string => (identity.kind === 'key' ? identity.keyId : identity.kind);

function refuse(identity: Identity, needed: string): LadderError {
  return identity.kind === 'anonymous'
    ? new LadderError('UNAUTHENTICATED', `Send "Authorization: Bearer …" with ${needed}.`)
    : new LadderError('FORBIDDEN', `This needs ${needed}.`);
}

const holds = (identity: Identity, scope: KeyScope): boolean =>
  identity.kind === 'key' && (identity.scopes.includes(scope) || identity.scopes.includes('admin'));

/** @throws UNAUTHENTICATED */
export function assertIdentified(identity: Identity): void {
  if (identity.kind === 'anonymous') throw refuse(identity, 'an API key or a player token');
}

/** @throws UNAUTHENTICATED, FORBIDDEN */
export function assertAdmin(identity: Identity): void {
  if (!holds(identity, 'admin')) throw refuse(identity, 'an API key with the scope admin');
}

/** @throws UNAUTHENTICATED, FORBIDDEN */
export function assertMayListBoards(identity: Identity): void {
  if (identity.kind !== 'player' && !holds(identity, 'read'))
    throw refuse(identity, 'an API key with the scope read, or a player token');
}

/**
 * Public boards may be read by everyone, private ones by players and by keys with the scope read.
 * @throws UNAUTHENTICATED, FORBIDDEN
 */
export function assertMayRead(identity: Identity, board: Board): void {
  if (board.definition.visibility !== 'public') assertMayListBoards(identity);
}

/**
 * Keys submit for anybody, players for themselves and only where the board takes their scores.
 * @throws UNAUTHENTICATED, FORBIDDEN
 */
export function assertMaySubmit(identity: Identity, board: Board, playerId: string): void {
  if (identity.kind !== 'player') {
    if (!holds(identity, 'scores:write')) throw refuse(identity, 'an API key with the scope scores:write');
    return;
  }
  if (board.definition.submitters !== 'players') {
    throw new LadderError(
      'FORBIDDEN',
      `Board "${board.id}" takes scores from game servers only (submitters: servers).`,
    );
  }
  if (identity.playerId !== playerId) throw new LadderError('FORBIDDEN', 'A player submits for itself alone.');
}
