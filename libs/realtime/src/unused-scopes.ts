import { LadderError } from '@laddercast/domain';
import type { LiveSubscription } from './live-subscription.js';

/**
 * Subscriptions to scopes in which nobody has a score yet, by the name of the scope. Such a scope has no number, and gets
 * none for being looked at: names are kept for ever, and anybody could ask for any number of them.
 */
export class UnusedScopes {
  private readonly waiting = new Map<string, Set<LiveSubscription>>();

  /** @param namesMax the most names that are looked up again and again */
  constructor(private readonly namesMax: number) {}

  get names(): string[] {
    return [...this.waiting.keys()];
  }

  /** @throws SUBSCRIPTION_LIMIT */
  add(subscription: LiveSubscription): void {
    const name = subscription.request.scope!;
    if (!this.waiting.has(name) && this.waiting.size >= this.namesMax) {
      const detail = `Nobody has a score in ${name} yet, and this gateway waits for ${this.namesMax} such scopes already.`;
      throw new LadderError('SUBSCRIPTION_LIMIT', detail);
    }
    this.waiting.set(name, (this.waiting.get(name) ?? new Set()).add(subscription));
  }

  delete(subscription: LiveSubscription): void {
    const name = subscription.request.scope;
    const waiting = name === undefined ? undefined : this.waiting.get(name);
    if (waiting?.delete(subscription) && waiting.size === 0) this.waiting.delete(name!);
  }

  of(name: string): LiveSubscription[] {
    return [...(this.waiting.get(name) ?? [])];
  }
}
