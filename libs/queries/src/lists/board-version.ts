import { versionBeyond } from '@laddercast/domain';
import { keptAfterEndMs } from '@laddercast/ledger';
import type { ResolvedList } from './list-resolver.js';

/**
 * The `boardVersion` of a list that was read with the list version `listVersion`. It never falls for a reader of a window,
 * whatever the window is read from at the time:
 *
 * - running: the projection's own version.
 * - frozen: beyond all that was answered before the freeze.
 * - ended and still in the projection: the projection's, which was hidden during the freeze, on top of what the frozen one
 *   gained.
 * - final, by its number or in a style that the projection does not keep, while everybody reads that: as it says.
 * - final: beyond all that the projection can have answered until it forgot the window, and greater with each edition.
 *
 * What was kept of a moment is apart from that: its version is the ledger's, below every version of the window, so that
 * who looked back is not told that the present is behind.
 */
export function boardVersionOf(
  { board, window, list, edition, boardVersion }: ResolvedList,
  listVersion: number,
  atMs: number,
): number {
  if (boardVersion !== undefined) return boardVersion;
  const { freezeAtMs, endsAtMs } = window;
  if (edition?.kind === 'kept') return edition.version;
  if (edition?.kind === 'frozen' || endsAtMs === null || atMs < endsAtMs) return listVersion;
  // Closed early, it may never have frozen.
  const hasFrozen = freezeAtMs !== null && freezeAtMs < endsAtMs;
  const ofFreeze = hasFrozen ? versionBeyond(list, freezeAtMs) - list.versions.base : 0;
  if (edition === null) return ofFreeze + listVersion;
  return ofFreeze + versionBeyond(list, endsAtMs + keptAfterEndMs(board.definition)) + edition.number - 1;
}
