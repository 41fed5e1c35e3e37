/** How long requests wait, those without an answer included. */
export class Waits {
  private readonly openSinceMs = new Map<Promise<unknown>, number>();
  private answeredAfterMs = 0;

  /** Counts a request as open until it is settled. */
  async of<T>(request: Promise<T>): Promise<T> {
    const sinceMs = Date.now();
    this.openSinceMs.set(request, sinceMs);
    try {
      return await request;
    } finally {
      this.openSinceMs.delete(request);
      this.answeredAfterMs = Math.max(this.answeredAfterMs, Date.now() - sinceMs);
    }
  }

  /** Forgets the requests that are settled. */
  restart(): void {
    this.answeredAfterMs = 0;
  }

  /** The longest wait of those that were open at the last restart or begun since; what is open has waited until now. */
  get longestMs(): number {
    const nowMs = Date.now();
    return Math.max(this.answeredAfterMs, ...[...this.openSinceMs.values()].map((sinceMs) => nowMs - sinceMs));
  }
}
