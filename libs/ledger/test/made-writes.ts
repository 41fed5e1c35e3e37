import { withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import type { OverrideWrite, SubmitWrite } from '../src/entries/ledger-writes.js';

/** A board as processes know it, without a database. */
export const boardOf = (definition: Partial<BoardDefinition> = {}): Board => ({
  uid: 7,
  id: 'blitz',
  revision: 1,
  definitionRevision: 1,
  definition: { ...withBoardDefaults({ order: 'desc', operator: 'best' }), ...definition },
  windowsSinceMs: {},
  layouts: {} as Board['layouts'],
});

let ids = 0;
export const runOf = (board: Board, given: Partial<SubmitWrite>): SubmitWrite => ({
  kind: 'submit',
  board,
  playerId: 'ada',
  submissionId: `s-${(ids += 1)}`,
  idFromClient: true,
  score: 0,
  columns: [],
  achievedAtMs: null,
  windowId: null,
  metadata: null,
  bodySha256: Buffer.from('body'),
  refusal: null,
  ...given,
});

export const overrideOf = (board: Board, entry: OverrideWrite['entry'], playerId = 'ada'): OverrideWrite => ({
  kind: 'override',
  board,
  playerId,
  entry,
  audit: { actor: 'key', action: 'entry.set', subject: 'blitz', details: {} },
});
