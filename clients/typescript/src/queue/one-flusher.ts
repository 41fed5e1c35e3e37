import { newId, world, type Clock, type Storage } from '../world.js';

/** A lease is good for so long after it was taken or renewed. */
export const LEASE_MS = 15_000;
/** Who takes a lease at the same moment has written it by then. */
const SETTLED_AFTER_MS = 50;

/**
 * Sees to it that one tab sends at a time. Two at once would count nothing twice, because of the ids; they would only
 * send it twice.
 */
export interface OneFlusher {
  /**
   * Does the work alone. @returns ms until the one who sends now is done at the latest; null: the work was done
   * @param work `renew` is to be called before each step of it that takes long
   */
  alone(work: (renew: () => Promise<void>) => Promise<void>): Promise<number | null>;
}

export function createOneFlusher(storage: Storage, key: string, clock: Clock): OneFlusher {
  const owner = newId();
  // Node has locks, too; they reach no other process.
  const locks = world.indexedDB ? world.navigator?.locks : undefined;
  const renew = (): Promise<void> => storage.set(key, `${clock.now() + LEASE_MS} ${owner}`);
  const heldByOthersMs = async (): Promise<number> => {
    const [until, by] = `${await storage.get(key)}`.split(' ');
    const ms = Number(until) - clock.now();
    // A text that is no lease holds nothing, nor does one of a clock that was set back.
    return by !== owner && ms <= LEASE_MS ? ms : 0;
  };
  return {
    async alone(work) {
      if (locks) {
        await locks.request(key, () => work(async () => undefined));
        return null;
      }
      for (const isTaken of [false, true]) {
        const ms = await heldByOthersMs();
        if (ms > 0) return ms;
        if (isTaken) break;
        await renew();
        await new Promise<void>((resolve) => clock.setTimeout(resolve, SETTLED_AFTER_MS));
      }
      try {
        await work(renew);
      } finally {
        await storage.delete(key);
      }
      return null;
    },
  };
}
