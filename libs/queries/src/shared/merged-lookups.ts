import { answered } from './time-out.js';

/** One query gathers ids while the other is answered; more queries would only be smaller ones. */
const QUERIES_AT_ONCE = 2;
/** The most ids in one query; a request that has more by itself is not split. */
const IDS_MAX = 1000;

type Rows<Row> = ReadonlyMap<string, Row>;

/**
 * Look-ups of rows by id, those of requests that come together in one query: each is answered with what the database knows
 * from then on, since none joins a query that has begun.
 */
export class MergedLookups<Of, Row> {
  private readonly waiting: Lookup<Of, Row>[] = [];
  private underWay = 0;
  private isDue = false;

  /** @param read the rows of ids that belong together, whose ids `idOf` tells */
  constructor(
    private readonly read: (of: Of, ids: string[]) => Promise<Row[]>,
    private readonly idOf: (row: Row) => string,
  ) {}

  /**
   * @param name what the ids belong to: one name is always of the same `of`
   * @returns at least the rows of these ids that there are, by id; null when they did not come in time
   */
  ask(name: string, of: Of, ids: readonly string[]): Promise<Rows<Row> | null> {
    const known = this.waiting.find((one) => one.name === name && one.ids.size + ids.length <= IDS_MAX);
    const lookup = known ?? this.wait(name, of);
    for (const id of ids) lookup.ids.add(id);
    if (!this.isDue) {
      this.isDue = true;
      setImmediate(() => {
        this.isDue = false;
        this.begin();
      });
    }
    return lookup.answer;
  }

  private wait(name: string, of: Of): Lookup<Of, Row> {
    const lookup = new Lookup<Of, Row>(name, of, () => {
      const at = this.waiting.indexOf(lookup);
      if (at >= 0) this.waiting.splice(at, 1);
    });
    this.waiting.push(lookup);
    return lookup;
  }

  private begin(): void {
    while (this.underWay < QUERIES_AT_ONCE && this.waiting.length > 0) {
      const lookup = this.waiting.shift()!;
      this.underWay += 1;
      const rows = this.read(lookup.of, [...lookup.ids]);
      lookup.settle(rows.then((found) => new Map(found.map((row) => [this.idOf(row), row]))));
      const next = (): void => {
        this.underWay -= 1;
        this.begin();
      };
      rows.then(next, next);
    }
  }
}

/** What will be asked in one query. */
class Lookup<Of, Row> {
  readonly ids = new Set<string>();
  readonly answer: Promise<Rows<Row> | null>;
  settle!: (rows: Promise<Rows<Row>>) => void;

  /** @param isLate told when nobody waits any more */
  constructor(
    readonly name: string,
    readonly of: Of,
    isLate: () => void,
  ) {
    const rows = new Promise<Rows<Row>>((resolve) => (this.settle = resolve));
    this.answer = answered(rows).then((found) => {
      if (found === null) isLate();
      return found;
    });
  }
}
