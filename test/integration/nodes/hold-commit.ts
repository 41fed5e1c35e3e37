import type { BoardsWithMetadata } from '@laddercast/ledger';
import { vi } from 'vitest';
import type { LedgerNode } from './ledger-node.js';

/** Holds the node's next commit of a player's lane: it has taken its writes by then, and not the lane. */
export function holdCommit(
  { lanes, writers }: LedgerNode,
  playerId: string,
): { held: Promise<void>; letGo: () => void } {
  const writer = writers.of(lanes.of(playerId));
  const { metadata } = Reflect.get(writer, 'catalogs') as { metadata: BoardsWithMetadata };
  const note = metadata.note.bind(metadata);
  let letGo!: () => void;
  const goesOn = new Promise<void>((resolve) => (letGo = resolve));
  const held = new Promise<void>((resolve) => {
    vi.spyOn(metadata, 'note').mockImplementationOnce(async (writes) => {
      resolve();
      await goesOn;
      await note(writes);
    });
  });
  return { held, letGo };
}
