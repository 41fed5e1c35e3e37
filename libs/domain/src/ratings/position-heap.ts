/** Positions of which the least is taken first, each once. */
export class PositionHeap {
  /** A binary heap: no position is less than the one at half its index. */
  private readonly heap: number[] = [];
  private readonly held = new Set<number>();

  constructor(positions: Iterable<number> = []) {
    for (const position of positions) this.add(position);
  }

  /** Does nothing where the position waits already. */
  add(position: number): void {
    if (this.held.has(position)) return;
    this.held.add(position);
    let at = this.heap.push(position) - 1;
    for (let above = (at - 1) >> 1; at > 0 && this.heap[above]! > position; above = (at - 1) >> 1) {
      this.heap[at] = this.heap[above]!;
      at = above;
    }
    this.heap[at] = position;
  }

  /** The least position, which waits no more; null where none is left. */
  take(): number | null {
    const [least] = this.heap;
    if (least === undefined) return null;
    this.held.delete(least);
    const last = this.heap.pop()!;
    if (this.heap.length > 0) this.sink(last);
    return least;
  }

  private sink(position: number): void {
    const { heap } = this;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && heap[below + 1]! < heap[below]!) below++;
      if (heap[below]! >= position) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = position;
  }
}
