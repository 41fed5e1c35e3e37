import { LadderError } from '@laddercast/domain';
import type { LiveSubscription } from '../connection/live-subscription.js';
import { WatchBudget } from '../channels/watch-budget.js';

interface WaitedFor {
  subscriptions: Set<LiveSubscription>;
  /** In whose name it is waited for: who asked first. */
  party: string | null;
}

/**
 * Subscriptions to scopes in which nobody has a score yet, by the name of the scope. Such a scope has no number, and
 * reading it does not draw one: numbers are kept for ever, and anybody could ask for any number of names.
 */
export class ScopesAwaitingScores {
  private readonly waiting = new Map<string, WaitedFor>();
  private readonly budget: WatchBudget;

  /** @param namesMax the most names that are looked up again and again */
  constructor(namesMax: number) {
    this.budget = new WatchBudget(namesMax, 'scopes without a score');
  }

  get names(): string[] {
    return [...this.waiting.keys()];
  }

  /** @throws SUBSCRIPTION_LIMIT */
  add(subscription: LiveSubscription): void {
    const name = subscription.request.listScope()!;
    const { party } = subscription.socket;
    const known = this.waiting.get(name);
    if (known) return void known.subscriptions.add(subscription);
    if (!this.budget.has(party)) {
      const detail = `Nobody has a score in ${name} yet, and this gateway waits for as many such scopes as it may.`;
      throw new LadderError('SUBSCRIPTION_LIMIT', detail);
    }
    this.budget.take(party);
    this.waiting.set(name, { subscriptions: new Set([subscription]), party });
  }

  delete(subscription: LiveSubscription): void {
    const name = subscription.request.listScope();
    const waiting = name === undefined ? undefined : this.waiting.get(name);
    if (!waiting?.subscriptions.delete(subscription) || waiting.subscriptions.size > 0) return;
    this.waiting.delete(name!);
    this.budget.give(waiting.party);
  }

  of(name: string): LiveSubscription[] {
    return [...(this.waiting.get(name)?.subscriptions ?? [])];
  }
}
