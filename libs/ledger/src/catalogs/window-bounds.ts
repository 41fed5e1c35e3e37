import {
  kindOf,
  nameOfSpec,
  type Board,
  type StoredWindow,
  type WindowBounds,
  type WindowSpec,
} from '@laddercast/domain';

/** An operator can close a window, and the one after it, again and again: at most this often within one period. */
const CLOSED_IN_A_PERIOD_MAX = 366;

/**
 * Bounds that leave stored windows as they are: cut off where one of them begins or ends. If the id belongs to a window
 * that has already ended (the zone changed, or it was closed early), the rest of its time belongs to the next one.
 */
export function besides(
  stored: readonly WindowBounds[],
  calculated: WindowBounds,
  atMs: number,
  next: (endsAtMs: number) => WindowBounds | null,
): WindowBounds | null {
  const isTaken = ({ id }: WindowBounds): boolean => stored.some((window) => window.id === id);
  if (calculated.kind === 'season') return stored.find(({ id }) => id === calculated.id) ?? calculated;
  let bounds: WindowBounds | null = calculated;
  for (let tries = 0; bounds !== null && isTaken(bounds); tries += 1) {
    if (bounds.endsAtMs === null || tries === CLOSED_IN_A_PERIOD_MAX) return null;
    bounds = next(bounds.endsAtMs);
  }
  if (bounds === null) return null;
  const ended = stored.flatMap(({ endsAtMs }) => (endsAtMs !== null && endsAtMs <= atMs ? [endsAtMs] : []));
  const later = stored.flatMap(({ startsAtMs }) => (startsAtMs !== null && startsAtMs > atMs ? [startsAtMs] : []));
  // A window that takes the rest of another's time begins where that ended, before its own.
  const isNext = bounds !== calculated && ended.length > 0;
  const startsAtMs = isNext ? Math.max(...ended) : Math.max(bounds.startsAtMs ?? -Infinity, ...ended);
  const endsAtMs = Math.min(bounds.endsAtMs ?? Infinity, ...later);
  return {
    ...bounds,
    startsAtMs: Number.isFinite(startsAtMs) ? startsAtMs : null,
    endsAtMs: Number.isFinite(endsAtMs) ? endsAtMs : null,
  };
}

/** Whether the instant is in the window. */
export const holds = (window: WindowBounds, atMs: number): boolean =>
  (window.startsAtMs ?? -Infinity) <= atMs && atMs < (window.endsAtMs ?? Infinity);

/** Whether a stored window is one of the spec's. Kinds that recur follow the kind, whatever zone they were made in. */
const isOf = (window: WindowBounds, spec: WindowSpec): boolean =>
  window.kind === kindOf(spec) &&
  (window.kind === 'season' || window.kind === 'rolling' ? window.id === nameOfSpec(spec) : true);

/** The stored window of a spec that holds an instant. */
export const stored = <W extends WindowBounds>(live: readonly W[], spec: WindowSpec, atMs: number): W | undefined =>
  live.find((window) => isOf(window, spec) && holds(window, atMs));

/** A season has one window: if that does not hold the instant, none is made. */
export const isKnownElsewhere = (live: readonly WindowBounds[], spec: WindowSpec): boolean =>
  kindOf(spec) === 'season' && live.some((window) => isOf(window, spec));

/** The stored windows of specs that the board has no more, those left out that were found, that hold an instant. */
export const ofEarlierDefinition = <W extends StoredWindow>(
  live: readonly W[],
  board: Board,
  found: readonly StoredWindow[],
  atMs: number,
): W[] =>
  live.filter(
    (window) =>
      window.endsAtMs !== null &&
      holds(window, atMs) &&
      !found.some(({ uid }) => uid === window.uid) &&
      !board.definition.windows.some((spec) => isOf(window, spec)),
  );
