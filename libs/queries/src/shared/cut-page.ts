/** A part of a list. */
export interface CutPage<Item> {
  page: Item[];
  /** The cursor of the page after this one, null where there is none. */
  next: string | null;
}

/**
 * The first `limit` of what was found.
 * @param found one more than the limit where there are more
 * @param cursorOf the cursor of what comes after an item
 */
export function cutPage<Item>(found: readonly Item[], limit: number, cursorOf: (last: Item) => string): CutPage<Item> {
  const page = found.slice(0, limit);
  return { page, next: found.length > limit ? cursorOf(page.at(-1)!) : null };
}
