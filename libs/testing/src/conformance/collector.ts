import { setTimeout as delay } from 'node:timers/promises';
import type { EntryChanged } from '@laddercast/domain';
import type { LogBatch } from '@laddercast/event-log';

const POLL_MS = 20;

let lastBoardUid = 1000;

export const newBoard = (): number => (lastBoardUid += 1);

/** What one consumer saw of one board's events; other tests' events pass by. */
export class Collector {
  readonly deliveries: { lane: number; position: number }[] = [];
  /** When the ledger wrote each position, as it was delivered; a redelivery that says otherwise is its own. */
  readonly writtenAtMs = new Map<number, Set<number>>();

  constructor(readonly boardUid: number) {}

  readonly collect = async (batch: LogBatch): Promise<void> => {
    for (const { lane, position, event, writtenAtMs } of batch.records) {
      if ((event as EntryChanged).boardUid !== this.boardUid) continue;
      this.deliveries.push({ lane, position });
      this.writtenAtMs.set(position, (this.writtenAtMs.get(position) ?? new Set<number>()).add(writtenAtMs));
    }
  };

  /** Positions of a lane, each at its first delivery, in the order of delivery. */
  firsts(lane: number): number[] {
    return [...new Set(this.deliveries.filter((one) => one.lane === lane).map((one) => one.position))];
  }

  count(position: number): number {
    return this.deliveries.filter((one) => one.position === position).length;
  }
}

export async function until(what: string, isTrue: () => boolean | Promise<boolean>, timeoutMs = 30_000): Promise<void> {
  for (const giveUpAt = performance.now() + timeoutMs; !(await isTrue()); await delay(POLL_MS)) {
    if (performance.now() > giveUpAt) throw new Error(`Within ${timeoutMs} ms it never came to this: ${what}`);
  }
}

export const ascending = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);

const gates: (() => void)[] = [];

/** A promise and the way to resolve it; the end of the test does so at the latest, or handlers would wait for ever. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  gates.push(open);
  return { opened, open };
}

export function openGates(): void {
  for (const open of gates.splice(0)) open();
}
