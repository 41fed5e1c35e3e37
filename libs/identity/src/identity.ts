import { LadderError, type Board } from '@laddercast/domain';
import type { KeyScope } from '@laddercast/ledger';

/**
 * Who asks: an API key (a game server or an operator), a player with a token, or nobody in particular. `expiresAtMs` (Unix
 * ms) is when it ends by itself; keys without it do not. `signedBy` is the thumbprint of the token's key in the key set.
 */
export type Identity =
  | { kind: 'key'; keyId: string; scopes: KeyScope[]; expiresAtMs?: number }
  | { kind: 'player'; playerId: string; expiresAtMs: number; signedBy?: string }
  | { kind: 'anonymous' };

export const ANONYMOUS: Identity = { kind: 'anonymous' };

/** Who is named in the audit log. */
export const actorOf = (identity: Identity): string => (identity.kind === 'key' ? identity.keyId : identity.kind);

function refuse(identity: Identity, needed: string): LadderError {
  return identity.kind === 'anonymous'
    ? new LadderError('UNAUTHENTICATED', `Send "Authorization: Bearer …" with ${needed}.`)
    : new LadderError('FORBIDDEN', `This needs ${needed}.`);
}

/** The scopes that stand for another one as well: moderators read, admin keys may do everything. */
const HELD_BY: Record<KeyScope, readonly KeyScope[]> = {
  'scores:write': ['scores:write', 'admin'],
  read: ['read', 'moderate', 'admin'],
  moderate: ['moderate', 'admin'],
  admin: ['admin'],
};

/** Whether a key may do what the scope is for, by this scope or by one that implies it. */
export const holdsScope = (identity: Identity, scope: KeyScope): boolean =>
  identity.kind === 'key' && identity.scopes.some((held) => HELD_BY[scope].includes(held));

/** @throws UNAUTHENTICATED */
export function assertIdentified(identity: Identity): void {
  if (identity.kind === 'anonymous') throw refuse(identity, 'an API key or a player token');
}

/** @throws UNAUTHENTICATED, FORBIDDEN */
export function assertScope(identity: Identity, scope: KeyScope): void {
  if (!holdsScope(identity, scope)) throw refuse(identity, `an API key with the scope ${scope}`);
}

/** @throws UNAUTHENTICATED, FORBIDDEN */
export const assertAdmin = (identity: Identity): void => assertScope(identity, 'admin');

/**
 * Sanctions, runs and flags are for keys with the scope moderate, or admin.
 * @throws UNAUTHENTICATED, FORBIDDEN
 */
export const assertModerate = (identity: Identity): void => assertScope(identity, 'moderate');

/**
 * Runs are seen by moderators, and by the player whose they are.
 * @throws UNAUTHENTICATED, FORBIDDEN
 */
export function assertMayReadRuns(identity: Identity, playerId: string): void {
  if (identity.kind === 'player') assertItself(identity, playerId);
  else assertModerate(identity);
}

/** What acts of moderation are done to, as the audit log names it: a player, a run, a flag. */
const MODERATED = /^(player|run|flag):/;

/**
 * All of the audit log is for admin keys; moderators read what was done to one player, run or flag.
 * @throws UNAUTHENTICATED, FORBIDDEN
 */
export function assertMayReadAudit(identity: Identity, subject: string | undefined): void {
  if (holdsScope(identity, 'admin')) return;
  if (holdsScope(identity, 'moderate') && subject !== undefined && MODERATED.test(subject)) return;
  throw refuse(identity, 'an API key with the scope admin, or with the scope moderate and a subject like player:ada');
}

/** Whether the caller may read private boards, too: see {@link assertMayRead}. */
export const mayReadPrivateBoards = (identity: Identity): boolean =>
  identity.kind === 'player' || holdsScope(identity, 'read');

/**
 * Public boards and pools may be read by everyone, private ones by players and by keys with the scope read.
 * @throws UNAUTHENTICATED, FORBIDDEN
 */
export function assertMayRead(
  identity: Identity,
  { definition }: { definition: Pick<Board['definition'], 'visibility'> },
): void {
  if (definition.visibility !== 'public') assertPlayerOrReader(identity);
}

/**
 * Keys submit for anybody, players for themselves and only where the board takes their scores.
 * @throws UNAUTHENTICATED, FORBIDDEN
 */
export function assertMaySubmit(identity: Identity, board: Board, playerId: string): void {
  if (identity.kind !== 'player') {
    assertScope(identity, 'scores:write');
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

/**
 * Friends and follows: keys change anybody's, players their own alone.
 * @throws UNAUTHENTICATED, FORBIDDEN
 */
export function assertMayChangeFriends(identity: Identity, playerId: string): void {
  if (identity.kind === 'player') assertItself(identity, playerId);
  else assertMayWriteCircles(identity);
}

/**
 * Named circles are written by keys alone.
 * @throws UNAUTHENTICATED, FORBIDDEN
 */
export function assertMayWriteCircles(identity: Identity): void {
  assertScope(identity, 'scores:write');
}

/**
 * A player's friends and follows are shown to that player and to keys with the scope read.
 * @throws UNAUTHENTICATED, FORBIDDEN
 */
export function assertMayReadFriends(identity: Identity, playerId: string): void {
  if (identity.kind === 'player') assertItself(identity, playerId);
  else if (!holdsScope(identity, 'read'))
    throw refuse(identity, "an API key with the scope read, or the player's own token");
}

/**
 * Named circles are seen by players and by keys with the scope read.
 * @throws UNAUTHENTICATED, FORBIDDEN
 */
export function assertMayReadCircles(identity: Identity): void {
  assertPlayerOrReader(identity);
}

/**
 * Profiles and guilds are written by keys alone.
 * @throws UNAUTHENTICATED, FORBIDDEN
 */
export function assertMayWritePlayers(identity: Identity): void {
  assertScope(identity, 'scores:write');
}

/**
 * A player may leave its guild by itself; keys take out anybody.
 * @throws UNAUTHENTICATED, FORBIDDEN
 */
export function assertMayLeaveGuild(identity: Identity, playerId: string): void {
  if (identity.kind === 'player') assertItself(identity, playerId);
  else assertMayWritePlayers(identity);
}

function assertPlayerOrReader(identity: Identity): void {
  if (!mayReadPrivateBoards(identity)) throw refuse(identity, 'an API key with the scope read, or a player token');
}

function assertItself(identity: { playerId: string }, playerId: string): void {
  if (identity.playerId !== playerId)
    throw new LadderError('FORBIDDEN', "This is for the player's own token, or a key.");
}

/** Whether it sees the player also when that is not listed: it is the player itself, or a key that reads. */
export const seesUnlisted = (identity: Identity, playerId: string): boolean =>
  holdsScope(identity, 'read') || (identity.kind === 'player' && identity.playerId === playerId);

/** The player who asks; null: a key, or nobody. */
export const playerOfIdentity = (identity: Identity): string | null =>
  identity.kind === 'player' ? identity.playerId : null;
