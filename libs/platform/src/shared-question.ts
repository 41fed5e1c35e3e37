/** One question for all who ask it at a time; each is answered by what was asked after it came. */
export class SharedQuestion<Answer> {
  private asked: Promise<Answer> | null = null;

  constructor(private readonly question: () => Promise<Answer>) {}

  async ask(): Promise<Answer> {
    const before = this.asked;
    if (before) await before.catch(() => undefined);
    this.asked ??= this.question().finally(() => (this.asked = null));
    return this.asked;
  }
}
