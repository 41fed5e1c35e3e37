import { fnv1a } from '@laddercast/domain';
import { nameOfRef, type ListRef } from '@laddercast/projections';

/** Lists are shared out among processes in this many parts. */
export const TICK_SLOTS = 8;

/** The part (0-based) that a list belongs to. */
export function slotOf(list: ListRef): number {
  const sum = fnv1a(nameOfRef(list));
  // The lowest bits of the sum alone hardly depend on more than the parity of the last digits.
  return ((sum ^ (sum >>> 16)) >>> 0) % TICK_SLOTS;
}

/**
 * Says which lists this process ticks. Only a way to save work: two processes that both hold a slot
 * write one history all the same, because publishing is compare-and-set.
 */
export abstract class TickSlots {
  abstract holds(slot: number): boolean;
}

/** Every list: for one process alone, and for tests. */
export class AllTickSlots extends TickSlots {
  override holds(): boolean {
    return true;
  }
}
