export function chunksOf<T>(items: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}

/** Chunks that are worked on side by side: the next is made ready while the store is busy with one. */
const CHUNKS_AT_ONCE = 2;

/** Works on chunks, and adds up what that gives. */
export async function sumOverChunks<T>(chunks: readonly T[], work: (chunk: T) => Promise<number>): Promise<number> {
  let sum = 0;
  for (const some of chunksOf(chunks, CHUNKS_AT_ONCE)) {
    for (const number of await Promise.all(some.map(work))) sum += number;
  }
  return sum;
}

export function groupBy<T>(items: Iterable<T>, groupOf: (item: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const item of items) pushTo(groups, groupOf(item), item);
  return groups;
}

export function pushTo<T>(groups: Map<number, T[]>, group: number, item: T): void {
  const known = groups.get(group);
  if (known === undefined) groups.set(group, [item]);
  else known.push(item);
}
