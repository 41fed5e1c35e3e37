/**
 * Which of these can stay where they are while the others are put between them: as many as can, in the new order. `before` are
 * their places until now, in the new order, -1 for what is new.
 * @returns a Set of indexes into `before`
 */
export function stillRows(before) {
  // The longest run of places that rises: `ends[n]` is the index with the least place that ends a run of n + 1.
  const ends = [];
  const previous = Array(before.length).fill(-1);
  before.forEach((place, index) => {
    if (place < 0) return;
    let at = ends.length;
    while (at > 0 && before[ends[at - 1]] >= place) at -= 1;
    previous[index] = at === 0 ? -1 : ends[at - 1];
    ends[at] = index;
  });
  const still = new Set();
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index]) still.add(index);
  return still;
}
