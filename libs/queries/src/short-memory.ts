import { monotonicMs } from '@laddercast/platform';

/** How long a row is remembered: a change that is not announced shows within this time. */
const REMEMBERED_MS = 1000;
const REMEMBERED_ROWS_MAX = 50_000;

/** Rows looked up a moment ago. Oldest go first at the limit. */
export class ShortMemory<Row> {
  private readonly rows = new Map<string, { row: Row | null; untilMs: number }>();
  /** Grows with each forgetting: what was asked for before it may be what is to be forgotten. */
  private epoch = 0;

  /** undefined: to be looked up; null: there is none. */
  get(key: string): Row | null | undefined {
    const known = this.rows.get(key);
    return known && known.untilMs > monotonicMs() ? known.row : undefined;
  }

  /** What was known, however old: for when the source is away. */
  stale(key: string): Row | null {
    return this.rows.get(key)?.row ?? null;
  }

  /** To be called before rows are asked for; the function it returns takes the answer. */
  asking(): (key: string, row: Row | null) => void {
    const { epoch } = this;
    return (key, row) => this.set(key, row, epoch === this.epoch ? monotonicMs() + REMEMBERED_MS : 0);
  }

  /** The rows of these keys, or of all, are looked up again. */
  forget(keys: readonly string[] | null): void {
    this.epoch += 1;
    for (const key of keys ?? this.rows.keys()) {
      const known = this.rows.get(key);
      if (known) known.untilMs = 0;
    }
  }

  private set(key: string, row: Row | null, untilMs: number): void {
    this.rows.delete(key);
    if (this.rows.size >= REMEMBERED_ROWS_MAX) this.rows.delete(this.rows.keys().next().value!);
    this.rows.set(key, { row, untilMs });
  }
}
