/** Thrown where an actor is to stop for ever, as a process does that dies. */
export class Died extends Error {}

interface Waiting {
  actor: string;
  go: () => void;
}

/**
 * Lets actors that share a store take their steps one at a time, in an order that is chosen from outside: an actor waits
 * before each step, and once all wait (or have ended) the next is chosen.
 */
export class Turns {
  private readonly waiting: Waiting[] = [];
  private running = 0;
  private wake: () => void = () => undefined;

  /** An actor: it runs until its first step, and takes each when it is chosen. What it throws is thrown by `play`. */
  private readonly actors: Promise<void>[] = [];

  start(work: () => Promise<void>): void {
    this.running += 1;
    const actor = work().finally(() => {
      this.running -= 1;
      this.wake();
    });
    actor.catch(() => undefined);
    this.actors.push(actor);
  }

  /** Waits until the actor is chosen. */
  async step(actor: string): Promise<void> {
    await new Promise<void>((go) => {
      this.waiting.push({ actor, go });
      this.running -= 1;
      this.wake();
    });
  }

  /**
   * Runs all actors to their ends.
   * @param choose picks one of those who wait
   * @param after is called after each step
   */
  async play(choose: (count: number) => number, after: (actor: string) => Promise<void>): Promise<void> {
    for (;;) {
      while (this.running > 0) await new Promise<void>((wake) => (this.wake = wake));
      const next = this.waiting.splice(choose(this.waiting.length), 1)[0];
      if (next === undefined) break;
      this.running += 1;
      next.go();
      while (this.running > 0) await new Promise<void>((wake) => (this.wake = wake));
      await after(next.actor);
    }
    await Promise.all(this.actors);
  }
}
