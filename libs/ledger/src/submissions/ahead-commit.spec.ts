import { withBoardDefaults, type Board, type StoredWindow } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import type { LedgerClock } from '../database/ledger-clock.js';
import type { EntryRow } from '../entries/entry-rows.js';
import type { SubmitWrite } from '../entries/ledger-writes.js';
import { AheadCommit } from './ahead-commit.js';
import { LaneMemory, memoryRoom } from './lane-memory.js';
import type { LaneCatalogs } from './lane-transaction.js';
import type { PendingWrite } from './lane-writer.js';

const definition = withBoardDefaults({ order: 'desc', operator: 'sum' } as never);
const board = {
  ...{ uid: 1, id: 'b', revision: 1, windowsSinceMs: {} },
  definition: { ...definition, limits: { ...definition.limits, scoreMax: 100 } },
} as unknown as Board;
const alltime = {
  uid: 1,
  id: 'alltime',
  kind: 'alltime',
  startsAtMs: null,
  endsAtMs: null,
  freezeAtMs: null,
  state: 'open',
};
const catalogs = { windows: { cachedAt: () => [alltime as StoredWindow] } } as unknown as LaneCatalogs;
const clock = { isKnown: true, earliestMs: () => 2000 } as LedgerClock;

const rowOf = (playerId: string, score: number): EntryRow =>
  ({
    ...{ boardUid: 1, windowUid: 1, playerId, removed: false, unranked: false, scopes: [], leftScopes: [] },
    state: { score, columns: [], achievedAtMs: 1, metadata: null, version: 5 },
  }) as unknown as EntryRow;

function pendingOf(playerId: string, score: number, more: Partial<SubmitWrite & PendingWrite> = {}): PendingWrite {
  const { unsettled = false, isHandedOver = false, idFromClient = false } = more;
  const write = {
    ...{ kind: 'submit', board, playerId, score, columns: [], achievedAtMs: null, windowId: null, metadata: null },
    ...{ refusal: null, submissionId: `of-${playerId}`, bodySha256: Buffer.alloc(32), idFromClient, owner: 'k' },
  };
  return { write, unsettled, isHandedOver } as unknown as PendingWrite;
}

/** By a memory in which the sum of ada is 50 of at most 100. */
function commitOf(...batch: PendingWrite[]): AheadCommit | null {
  const memory = new LaneMemory(memoryRoom(10));
  memory.leave({ head: '1 0', nowMs: 1000, entries: [rowOf('ada', 50), rowOf('bea', 1)], absent: [] });
  return AheadCommit.of(0, catalogs, memory, batch, clock);
}

describe('a commit in one trip', () => {
  it('refuses what is too much by what is remembered', () => {
    expect(commitOf(pendingOf('ada', 60), pendingOf('bea', 1))).not.toBeNull();
  });

  it.each([
    ['by the id of its client', { idFromClient: true }],
    ['in a commit that went unanswered', { unsettled: true }],
    ['by who handed it over', { isHandedOver: true }],
  ])('refuses nothing that may have counted before, %s: it is looked up', (_, more) => {
    expect(commitOf(pendingOf('ada', 60, more), pendingOf('bea', 1))).toBeNull();
    expect(commitOf(pendingOf('ada', 1, more), pendingOf('bea', 1))).not.toBeNull();
  });
});
