import { isDatabaseUnavailable } from './postgres-errors.js';

/** If PostgreSQL is away for so many in a row, the items are not at fault. */
const UNAVAILABLE_MAX = 3;

/**
 * Does the work on each, one after another, until the signal; one that fails holds up no other.
 * @throws AggregateError of what failed; where PostgreSQL is away, that
 */
export async function tryEach<Item>(
  items: readonly Item[],
  signal: AbortSignal,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  let unavailable = 0;
  for (const item of items) {
    if (signal.aborted) return;
    try {
      await work(item);
      unavailable = 0;
    } catch (error) {
      unavailable = isDatabaseUnavailable(error) ? unavailable + 1 : 0;
      if (signal.aborted || unavailable === UNAVAILABLE_MAX) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, (failures[0] as Error).message);
}
