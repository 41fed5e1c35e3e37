import { parseTimestamp } from '@laddercast/commands';
import { assertMayRead, holdsScope, type Identity } from '@laddercast/identity';
import { validationFailed, type Board } from '@laddercast/domain';
import { nowMs } from '@laddercast/platform';
import type { ListSelection, UnlistedShown } from '@laddercast/queries';
import { isWithPlayers } from './fields-parameter.js';
import type { RowParameters } from './parameters.js';
import { NOT_A_TIME } from './time-range.js';

/** A clock of a client may be so far ahead. */
const FUTURE_TOLERANCE_MS = 60_000;

/**
 * The list that a request means, as its caller may see it.
 * @throws UNAUTHENTICATED, FORBIDDEN, VALIDATION_FAILED
 */
export function selectionOf(
  board: Board,
  { window, scope, rankStyle, minVersion, asOf, edition, fields }: Partial<RowParameters>,
  identity: Identity,
): ListSelection {
  assertMayRead(identity, board);
  if (edition !== undefined && asOf !== undefined) {
    throw validationFailed([{ pointer: '?edition', message: 'is not taken with asOf' }]);
  }
  return {
    boardId: board.id,
    window,
    scope,
    rankStyle,
    minVersion,
    edition,
    asOfMs: asOf === undefined ? undefined : pastTime(asOf),
    withPlayers: fields !== undefined && isWithPlayers({ fields }),
    isAdmin: holdsScope(identity, 'admin'),
    readerId: identity.kind === 'player' ? identity.playerId : undefined,
    moderates: holdsScope(identity, 'moderate'),
  };
}

/** The players whom the caller may see by their ids though they are not listed: itself, or anybody for a key. */
export function unlistedShownTo(identity: Identity): UnlistedShown {
  if (identity.kind === 'player') return [identity.playerId];
  return holdsScope(identity, 'read') ? 'all' : [];
}

function pastTime(text: string): number {
  const ms = parseTimestamp(text);
  if (ms !== null && ms <= nowMs() + FUTURE_TOLERANCE_MS) return ms;
  const message = ms === null ? NOT_A_TIME : 'must not lie in the future';
  throw validationFailed([{ pointer: '?asOf', message }]);
}
