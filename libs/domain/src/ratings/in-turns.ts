/** How many are gone through before others have a turn: some milliseconds of ratings. */
const ITEMS_A_TURN = 200;

/** One after the other; now and then whatever else the process has to do has a turn. */
export async function* inTurns<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  let at = 0;
  for (const item of items) {
    at += 1;
    if (at % ITEMS_A_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    yield item;
  }
}
