import {
  isSameVersion,
  nameOfRef,
  SketchStore,
  type ListRef,
  type SketchStamp,
  type StoredSketch,
} from '@laddercast/projections';

/** Sketches in memory. */
export class MemorySketchStore extends SketchStore {
  readonly stored = new Map<string, StoredSketch>();
  readonly inUse = new Map<string, { list: ListRef; untilMs: number }>();

  override async markInUse(lists: readonly ListRef[], untilMs: number): Promise<void> {
    for (const list of lists) this.inUse.set(nameOfRef(list), { list, untilMs });
  }

  override async listsInUse(nowMs: number, limit: number): Promise<ListRef[]> {
    const used = [...this.inUse.values()].filter(({ untilMs }) => untilMs > nowMs);
    return used.slice(0, limit).map(({ list: { boardUid, windowUid, scope } }) => ({ boardUid, windowUid, scope }));
  }

  override async stamps(lists: readonly ListRef[]): Promise<(SketchStamp | null)[]> {
    return lists.map((list) => this.stored.get(nameOfRef(list)) ?? null);
  }

  override async read(list: ListRef): Promise<StoredSketch | null> {
    return this.stored.get(nameOfRef(list)) ?? null;
  }

  override async publish(list: ListRef, sketch: StoredSketch): Promise<boolean> {
    const known = this.stored.get(nameOfRef(list));
    if (known && known.listVersion > sketch.listVersion) return false;
    this.stored.set(nameOfRef(list), sketch);
    return true;
  }

  override async confirm(list: ListRef, stamp: SketchStamp): Promise<boolean> {
    const known = this.stored.get(nameOfRef(list));
    if (!known || !isSameVersion(known, stamp)) return false;
    this.stored.set(nameOfRef(list), { ...known, asOfMs: Math.max(known.asOfMs, stamp.asOfMs) });
    return true;
  }
}
