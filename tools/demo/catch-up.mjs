import { setTimeout as sleep } from 'node:timers/promises';

const maxMs = 60_000;
const standstillMaxMs = 10_000;
const lookEveryMs = 250;

/**
 * Looks at lists until they are right: the service may be a moment behind. Gives up on one that has not changed for ten
 * seconds, or after a minute; from then on it looks once at each, as nothing more will come.
 */
export class CatchUp {
  #hasGivenUp = false;

  /**
   * @param read resolves to the list as it is shown
   * @param faultsOf what is wrong with such a list, in words
   * @returns `{ shown, faults }`
   */
  async look(read, faultsOf) {
    const deadline = performance.now() + maxMs;
    let changedAt = performance.now();
    let before = '';
    for (;;) {
      const shown = await read();
      const faults = faultsOf(shown);
      const text = JSON.stringify(shown);
      if (text !== before) changedAt = performance.now();
      before = text;
      this.#hasGivenUp ||= performance.now() > Math.min(deadline, changedAt + standstillMaxMs);
      if (faults.length === 0 || this.#hasGivenUp) return { shown, faults };
      await sleep(lookEveryMs);
    }
  }
}
