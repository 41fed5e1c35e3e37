/**
 * Batches the calls of one turn of the event loop that have the same subject. A call never joins a batch that was
 * already sent, so its answer is never older than the call.
 */
export class CallBatcher<Subject, Item, Answer> {
  private readonly open = new Map<string, Gathered<Subject, Item, Answer>>();

  /**
   * @param question answers the items, in their order
   * @param weightMax of the items of one batch; a heavier one goes alone
   */
  constructor(
    private readonly question: (subject: Subject, items: readonly Item[]) => Promise<readonly Answer[]>,
    private readonly weightMax: number,
  ) {}

  /** @param name names the subject */
  async ask(name: string, subject: Subject, item: Item, weight = 1): Promise<Answer> {
    let gathered = this.open.get(name);
    if (gathered && gathered.weight + weight > this.weightMax) {
      gathered.begin();
      gathered = undefined;
    }
    gathered ??= this.gather(name, subject);
    gathered.weight += weight;
    const at = gathered.items.push(item) - 1;
    return (await gathered.answers)[at]!;
  }

  private gather(name: string, subject: Subject): Gathered<Subject, Item, Answer> {
    if (this.open.size === 0) setImmediate(() => this.beginAll());
    const gathered = new Gathered(subject, this.question);
    this.open.set(name, gathered);
    return gathered;
  }

  private beginAll(): void {
    const all = [...this.open.values()];
    this.open.clear();
    for (const gathered of all) gathered.begin();
  }
}

class Gathered<Subject, Item, Answer> {
  readonly items: Item[] = [];
  weight = 0;
  readonly answers: Promise<readonly Answer[]>;
  begin!: () => void;

  constructor(subject: Subject, question: (subject: Subject, items: readonly Item[]) => Promise<readonly Answer[]>) {
    this.answers = new Promise<void>((resolve) => (this.begin = resolve)).then(() => question(subject, this.items));
  }
}
