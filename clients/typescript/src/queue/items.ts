import { clientProblem } from '../rest/problem.js';
import { newId, world, type Storage } from '../world.js';

export const ITEMS_MAX = 1000;
export const BYTES_MAX = 512 * 1024;

/** A score that waits. Times are Unix ms; `achievedAt` is that of the service, as far as it was known. */
export interface QueueItem {
  readonly submissionId: string;
  readonly board: string;
  /** The submission, with its player. */
  readonly body: Readonly<Record<string, unknown>>;
  /** When it was played, by the time of the service; null: that was not known yet. */
  readonly achievedAt: number | null;
  /** When it was put into the queue, by the clock of this device. */
  readonly queuedAt: number;
  /** When it was sent for the first time without a known outcome, by the time of the service; null: never. */
  readonly firstSentAt: number | null;
  readonly tries: number;
  /** Not sent again before, by the clock of this device. */
  readonly notBefore: number;
  /** Whether it counts at the time of play; false: when it arrives. Absent: that was not decided yet. */
  readonly timeIsKept?: boolean;
  /** How often the service took it for a run of the future. */
  readonly clockTries?: number;
}

/** The items of the storage as this program knows them. What reads and writes them waits its turn. */
export interface Items {
  /** In the order of queuing. */
  all(): [key: string, item: QueueItem][];
  readonly size: number;
  has(key: string): boolean;
  /** Reads all, also what another tab has changed. */
  read(): Promise<void>;
  /** Stored when it resolves. @throws LadderProblem QUEUE_FULL */
  add(item: QueueItem): Promise<void>;
  /** Stores an item that has changed. */
  change(key: string, item: QueueItem): Promise<void>;
  remove(key: string): Promise<void>;
}

export function createItems(storage: Storage, prefix: string): Items {
  const known = new Map<string, { item: QueueItem; bytes: number }>();
  let lastNumber = 0;
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = turn.then(work);
    turn = result.catch(() => undefined);
    return result;
  };
  const keep = (key: string, text: string): void => {
    known.set(key, { item: JSON.parse(text) as QueueItem, bytes: bytesOf(text) });
    lastNumber = Math.max(lastNumber, Number(key.slice(prefix.length).split('.')[0]));
  };
  const write = async (key: string, item: QueueItem): Promise<void> => {
    const text = JSON.stringify(item);
    await storage.set(key, text);
    keep(key, text);
  };
  const look = async (isWhole: boolean): Promise<void> => {
    const stored = new Set(await storage.keys(prefix));
    for (const key of known.keys()) if (!stored.has(key)) known.delete(key);
    for (const key of stored) {
      const text = known.has(key) && !isWhole ? null : await storage.get(key);
      try {
        if (text != null) keep(key, text);
      } catch {
        // A text that is no item stays where it is, and stops no other.
      }
    }
  };
  return {
    all: () => [...known].map(([key, { item }]): [string, QueueItem] => [key, item]).sort(byKey),
    get size() {
      return known.size;
    },
    has: (key) => known.has(key),
    read: () => inTurn(() => look(true)),
    add: (item) =>
      inTurn(async () => {
        await look(false);
        const bytes = [...known.values()].reduce((sum, one) => sum + one.bytes, bytesOf(JSON.stringify(item)));
        if (known.size >= ITEMS_MAX || bytes > BYTES_MAX) {
          throw clientProblem('QUEUE_FULL', `The queue takes ${ITEMS_MAX} scores and ${BYTES_MAX} bytes`);
        }
        lastNumber += 1;
        await write(`${prefix}${String(lastNumber).padStart(9, '0')}.${newId()}`, item);
      }),
    change: (key, item) => inTurn(() => write(key, item)),
    remove: (key) =>
      inTurn(async () => {
        await storage.delete(key);
        known.delete(key);
      }),
  };
}

const bytesOf = (text: string): number => new world.TextEncoder().encode(text).length;

const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);
