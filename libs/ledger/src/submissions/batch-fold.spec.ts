import type { BoardDefinition, EntryState, SanctionKind, StoredWindow } from '@laddercast/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boardOf, overrideOf, runOf } from '../../test/made-writes.js';
import { AttemptCounts } from './attempt-counts.js';
import { BatchFold } from './batch-fold.js';
import { entryKeyOf, type StoredBatch } from './stored-batch.js';
import type { EntryRow } from '../entries/entry-rows.js';
import type { PlacedWrite } from './window-placement.js';
import type { LedgerWrite, SubmitReceipt } from '../entries/ledger-writes.js';

const NOW_MS = Date.parse('2026-11-20T20:00:00Z');

const window = (uid: number, given: Partial<StoredWindow> = {}): StoredWindow => ({
  uid,
  kind: 'alltime',
  id: `window-${uid}`,
  startsAtMs: null,
  endsAtMs: null,
  freezeAtMs: null,
  state: 'open',
  ...given,
});
const ALL_TIME = window(1, { id: 'alltime' });
const DAY = window(2, {
  kind: 'daily',
  id: 'daily:2026-11-20',
  startsAtMs: Date.parse('2026-11-20T00:00:00Z'),
  endsAtMs: Date.parse('2026-11-21T00:00:00Z'),
});

const placed = <Write extends LedgerWrite>(
  write: Write,
  given: Partial<Omit<PlacedWrite, 'write'>> = {},
): PlacedWrite<Write> => ({
  write,
  atMs: NOW_MS,
  nowMs: NOW_MS,
  windows: [ALL_TIME],
  ...given,
});
const nothingStored = (given: Partial<StoredBatch> = {}): StoredBatch => ({
  entries: new Map(),
  remembered: new Map(),
  hours: new Map(),
  standing: new Map(),
  scopes: new Map(),
  attempts: new AttemptCounts([]),
  feedPositions: new Map(),
  sanctions: new Map(),
  ...given,
});
const storedRow = (state: Partial<EntryState>, given: Partial<EntryRow> = {}): EntryRow => ({
  boardUid: 7,
  windowUid: ALL_TIME.uid,
  playerId: 'ada',
  state: { score: 0, columns: [], achievedAtMs: NOW_MS - 1000, metadata: null, version: 1, ...state },
  removed: false,
  unranked: false,
  scopes: [],
  leftScopes: [],
  ...given,
});

function receiptOf(result: ReturnType<BatchFold['apply']>): SubmitReceipt {
  if ('error' in result) throw result.error;
  return result.receipt as SubmitReceipt;
}

describe('a batch', () => {
  it('counts a run in every window that it was placed in, and answers for the first', () => {
    const fold = new BatchFold(nothingStored());
    const write = runOf(boardOf(), { score: 12, metadata: '{"a":1}' });
    const { answer } = receiptOf(fold.apply(placed(write, { windows: [DAY, ALL_TIME] }), 50));
    expect(answer).toEqual({
      outcome: 'created',
      score: 12,
      previousScore: null,
      version: 50,
      windows: ['daily:2026-11-20', 'alltime'],
    });
    expect([...fold.changedEntries.values()].map(({ windowUid, state }) => [windowUid, state.score])).toEqual([
      [DAY.uid, 12],
      [ALL_TIME.uid, 12],
    ]);
    expect(fold.events).toMatchObject([{ boardUid: 7, playerId: 'ada', version: 50, changes: [{}, {}] }]);
  });

  it('takes the second run of a player on what the first left, and not on what is stored', () => {
    const fold = new BatchFold(nothingStored());
    const board = boardOf({ operator: 'sum' });
    receiptOf(fold.apply(placed(runOf(board, { score: 3 })), 10));
    const { answer } = receiptOf(fold.apply(placed(runOf(board, { score: 4 })), 11));
    expect(answer).toMatchObject({ outcome: 'changed', previousScore: 3, score: 7, version: 11 });
  });

  it('takes a set as the total from then on, with its own time and metadata', () => {
    const fold = new BatchFold(nothingStored());
    const board = boardOf({ operator: 'sum', submissionOperators: ['sum', 'set'] });
    const submit = (given: Parameters<typeof runOf>[1], atMs: number, position: number) =>
      receiptOf(fold.apply(placed(runOf(board, given), { atMs }), position));
    submit({ score: 30, metadata: '{"a":1}' }, NOW_MS, 10);
    const set = submit({ score: 12, operator: 'set' }, NOW_MS - 5000, 11);
    expect(set.answer).toMatchObject({ outcome: 'changed', previousScore: 30, score: 12, version: 11 });
    expect(set.movement!.after).toMatchObject({ score: 12, achievedAtMs: NOW_MS - 5000, metadata: null });
    expect(submit({ score: 1 }, NOW_MS - 9000, 12).movement!.after).toMatchObject({
      score: 13,
      achievedAtMs: NOW_MS - 5000,
    });
    // As a run, it changes the entry also where the total is the same.
    expect(submit({ score: 13, operator: 'set' }, NOW_MS, 13).answer).toMatchObject({
      outcome: 'changed',
      version: 13,
    });
    expect(submit({ playerId: 'bob', score: 0, operator: 'set' }, NOW_MS, 14).answer.outcome).toBe('created');
  });

  it('puts a set into the hour of its own time, and takes the hours before it out of a rolling window', () => {
    const rolling = window(5, { kind: 'rolling', id: 'rolling:24h' });
    const board = boardOf({ operator: 'sum', submissionOperators: ['sum', 'set'] });
    const fold = new BatchFold(nothingStored());
    const submit = (given: Parameters<typeof runOf>[1], hoursAgo: number, position: number) =>
      fold.apply(placed(runOf(board, given), { atMs: NOW_MS - hoursAgo * 3_600_000, windows: [rolling] }), position);
    submit({ score: 5 }, 0, 10);
    submit({ score: 7 }, 4, 11);
    submit({ score: 2, operator: 'set' }, 3, 12);
    submit({ score: 1 }, 6, 13);
    const hourNow = Math.floor(NOW_MS / 3_600_000);
    const hours = [...fold.hours.changed.values()].map(({ hour, state }) => [hourNow - hour, state.score]);
    expect(hours).toEqual([
      [3, 2],
      [6, 1],
    ]);
    expect([...fold.hours.cleared.values()]).toEqual([{ windowUid: 5, playerId: 'ada' }]);
    expect(fold.changedEntries.get(entryKeyOf(5, 'ada'))!.state.score).toBe(3);
  });

  it('writes no event for a run that changes nothing, and still remembers its answer', () => {
    const stored = new Map([[entryKeyOf(ALL_TIME.uid, 'ada'), storedRow({ score: 9, version: 4 })]]);
    const fold = new BatchFold(nothingStored({ entries: stored }));
    const { answer } = receiptOf(fold.apply(placed(runOf(boardOf(), { score: 5 })), 10));
    expect(answer).toMatchObject({ outcome: 'unchanged', score: 9, previousScore: 9, version: 4 });
    expect(fold.events).toEqual([]);
    expect(fold.changedEntries.size).toBe(0);
    expect(fold.newSubmissions).toHaveLength(1);
  });

  it('counts a run in all of its windows or in none', () => {
    const board = boardOf({ operator: 'sum', limits: { ...boardOf().definition.limits, scoreMax: 10 } });
    const full = new Map([[entryKeyOf(ALL_TIME.uid, 'ada'), storedRow({ score: 8 })]]);
    const fold = new BatchFold(nothingStored({ entries: full }));
    const result = fold.apply(placed(runOf(board, { score: 5 }), { windows: [DAY, ALL_TIME] }), 10);
    expect(result).toMatchObject({ error: { code: 'SCORE_OUT_OF_BOUNDS' } });
    expect([fold.changedEntries.size, fold.events.length, fold.newSubmissions.length]).toEqual([0, 0, 0]);
  });

  it('answers a repeated id with the first answer, also inside one batch', () => {
    const fold = new BatchFold(nothingStored());
    const board = boardOf({ operator: 'sum' });
    const first = runOf(board, { submissionId: 'once', score: 3 });
    const { answer } = receiptOf(fold.apply(placed(first), 10));
    expect(fold.replay(first)).toMatchObject({ receipt: { replayed: true, answer, movement: null } });
  });

  it('refuses a repeated id with another body', () => {
    const fold = new BatchFold(nothingStored());
    const first = runOf(boardOf(), { submissionId: 'once' });
    fold.apply(placed(first), 10);
    const other = { ...first, bodySha256: Buffer.from('another') };
    expect(fold.replay(other)).toMatchObject({ error: { code: 'SUBMISSION_ID_REUSED' } });
  });

  it('keeps ids per player where players submit for themselves', () => {
    const fold = new BatchFold(nothingStored());
    const board = boardOf({ submitters: 'players' });
    fold.apply(placed(runOf(board, { submissionId: 'once' })), 10);
    expect(fold.replay(runOf(board, { submissionId: 'once', playerId: 'bob' }))).toBeNull();
  });

  it('does not remember a run that was refused', () => {
    const board = boardOf({ operator: 'sum', limits: { ...boardOf().definition.limits, scoreMax: 10 } });
    const fold = new BatchFold(nothingStored());
    const write = runOf(board, { submissionId: 'too-much', score: 11 });
    fold.apply(placed(write), 10);
    expect(fold.replay(write)).toBeNull();
  });

  it('saves once how an entry stood when its window froze', () => {
    const frozen = window(3, { ...DAY, uid: 3, freezeAtMs: NOW_MS - 1000 });
    const row = storedRow({ score: 4 }, { windowUid: 3 });
    const fold = new BatchFold(nothingStored({ entries: new Map([[entryKeyOf(3, 'ada'), row]]) }));
    for (const score of [5, 6]) fold.apply(placed(runOf(boardOf(), { score }), { windows: [frozen] }), score);
    expect([...fold.frozenEntries.values()]).toEqual([{ windowUid: 3, playerId: 'ada', row }]);
  });

  it('leaves the entry of an ended window in the scopes that it had', () => {
    const ended = window(4, { ...DAY, uid: 4, endsAtMs: NOW_MS - 1000 });
    const row = storedRow({ score: 4 }, { windowUid: 4, scopes: [5] });
    const fold = new BatchFold(
      nothingStored({ entries: new Map([[entryKeyOf(4, 'ada'), row]]), scopes: new Map([['7/ada', [6]]]) }),
    );
    fold.apply(placed(runOf(boardOf(), { score: 9 }), { windows: [ended, ALL_TIME] }), 10);
    expect(fold.changedEntries.get('4/ada')).toMatchObject({ scopes: [5] });
    expect(fold.changedEntries.get('1/ada')).toMatchObject({ scopes: [6] });
  });

  it('removes an entry under a version of its own, and leaves one that is not there alone', () => {
    const stored = new Map([[entryKeyOf(ALL_TIME.uid, 'ada'), storedRow({ score: 9, version: 4 })]]);
    const fold = new BatchFold(nothingStored({ entries: stored }));
    const write = overrideOf(boardOf(), null);
    fold.apply(placed(write), 10);
    fold.apply(placed(overrideOf(boardOf(), null, 'nobody')), 11);
    expect([...fold.changedEntries.values()]).toMatchObject([
      { playerId: 'ada', removed: true, state: { version: 10 } },
    ]);
    expect(fold.events).toMatchObject([{ playerId: 'ada', version: 10, changes: [{ entry: null }] }]);
    expect(fold.audits).toEqual([write.audit]);
  });

  it('makes a removed entry again with a version that goes on', () => {
    const gone = storedRow({ score: 9, version: 4 }, { removed: true });
    const fold = new BatchFold(nothingStored({ entries: new Map([[entryKeyOf(ALL_TIME.uid, 'ada'), gone]]) }));
    const { answer } = receiptOf(fold.apply(placed(runOf(boardOf(), { score: 1 })), 12));
    expect(answer).toMatchObject({ outcome: 'created', previousScore: null, score: 1, version: 12 });
  });
});

/** What the runs of a player come to, as plainly as API.md says it; integers, so that sums are exact in any order. */

describe('a player who is sanctioned', () => {
  const inForce = (kind: SanctionKind, boards: string[] | null = null): Partial<StoredBatch> => ({
    sanctions: new Map([['ada', { kind, boards, untilMs: null, publicReason: null }]]),
  });
  const boardId = boardOf().id;

  it('has its run refused where it is banned, and nothing is stored', () => {
    const fold = new BatchFold(nothingStored(inForce('ban', ['other', boardId])));
    expect(fold.apply(placed(runOf(boardOf(), {})), 50)).toMatchObject({ error: { code: 'PLAYER_BANNED' } });
    expect([fold.newSubmissions, fold.events, [...fold.changedEntries]]).toEqual([[], [], []]);
  });

  it('has its run folded into an entry that is ranked for nobody where it is shadowed, and by an operator where it is banned', () => {
    for (const [kind, write] of [
      ['shadow', runOf(boardOf(), { score: 12 })],
      ['ban', overrideOf(boardOf(), { score: 12, columns: [] })],
    ] as const) {
      const fold = new BatchFold(nothingStored(inForce(kind)));
      expect(fold.apply(placed(write), 50)).toHaveProperty('receipt');
      const [row] = fold.changedEntries.values();
      expect(row).toMatchObject({ unranked: true, removed: false, state: { score: 12, version: 50 } });
      expect(fold.events[0]!.changes).toMatchObject([{ windowUid: ALL_TIME.uid, entry: null }]);
    }
  });

  it.each([
    ['hidden', inForce('hide')],
    ['banned on another board', inForce('ban', ['other'])],
    ['shadowed on another board', inForce('shadow', ['other'])],
  ])('has its run counted as ever where it is %s', (_what, stored) => {
    const fold = new BatchFold(nothingStored(stored));
    expect(fold.apply(placed(runOf(boardOf(), { score: 12 })), 50)).toHaveProperty('receipt');
    expect(fold.events[0]!.changes).toMatchObject([{ entry: { score: 12 } }]);
  });
});

function naiveScore(
  operator: BoardDefinition['operator'],
  order: 'asc' | 'desc',
  runs: { score: number; atMs: number }[],
) {
  if (operator === 'sum') return runs.reduce((sum, { score }) => sum + score, 0);
  if (operator === 'latest') return runs.reduce((last, one) => (one.atMs >= last.atMs ? one : last)).score;
  const scores = runs.map(({ score }) => score);
  return order === 'desc' ? Math.max(...scores) : Math.min(...scores);
}

describe('random batches', () => {
  const anyRuns = fc.array(
    fc.record({
      playerId: fc.constantFrom('ada', 'bob', 'cy'),
      score: fc.integer({ min: -5, max: 5 }),
      atMs: fc.integer({ min: NOW_MS - 5, max: NOW_MS }),
      startsBatch: fc.boolean(),
    }),
    { minLength: 1, maxLength: 40 },
  );
  const anyOperator = fc.constantFrom('best' as const, 'latest' as const, 'sum' as const);

  it('come to the same entries however the runs are cut into batches, and to what the runs say', () => {
    fc.assert(
      fc.property(anyRuns, anyOperator, fc.constantFrom('asc' as const, 'desc' as const), (runs, operator, order) => {
        const board = boardOf({ operator, order });
        const entries = new Map<string, EntryRow>();
        let fold = new BatchFold(nothingStored({ entries }));
        const commit = (): void => {
          for (const [key, row] of fold.changedEntries) entries.set(key, row);
          fold = new BatchFold(nothingStored({ entries }));
        };
        runs.forEach(({ playerId, score, atMs, startsBatch }, index) => {
          if (startsBatch) commit();
          fold.apply(placed(runOf(board, { playerId, score }), { atMs }), index + 1);
        });
        commit();
        for (const playerId of new Set(runs.map((one) => one.playerId))) {
          const own = runs.filter((one) => one.playerId === playerId);
          const { state } = entries.get(entryKeyOf(ALL_TIME.uid, playerId))!;
          expect(state.score).toBe(naiveScore(operator, order, own));
        }
      }),
    );
  });

  it('give each change the version of its own position, and events that grow', () => {
    fc.assert(
      fc.property(anyRuns, anyOperator, (runs, operator) => {
        const fold = new BatchFold(nothingStored());
        const board = boardOf({ operator });
        runs.forEach(({ playerId, score, atMs }, index) => {
          const { answer } = receiptOf(fold.apply(placed(runOf(board, { playerId, score }), { atMs }), index + 1));
          expect(answer.outcome === 'unchanged').toBe(answer.version !== index + 1);
        });
        const versions = fold.events.map(({ version }) => version);
        expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
        for (const { playerId, state } of fold.changedEntries.values()) {
          const last = fold.events.findLast((event) => event.playerId === playerId)!;
          expect(state.version).toBe(last.version);
          expect(last.changes[0]!.entry!.score).toBe(state.score);
        }
      }),
    );
  });
});
