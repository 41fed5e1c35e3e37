import { withBoardDefaults, type EntryState, type StoredWindow } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { AttemptCounts } from '../submissions/attempt-counts.js';
import { BatchFold } from '../submissions/batch-fold.js';
import type { StoredBatch } from '../submissions/stored-batch.js';
import { entryOfHours } from './rolling-hours.js';
import type { PlacedWrite } from '../submissions/window-placement.js';
import type { SubmitWrite } from './ledger-writes.js';

const HOUR_MS = 3_600_000;
const { MAX_VALUE } = Number;
const definition = withBoardDefaults({ order: 'desc', operator: 'sum', windows: [{ rolling: '24h' }] });
const hour = (score: number): EntryState => ({ score, columns: [], achievedAtMs: 0, metadata: null, version: 1 });
const scoreOf = (...scores: number[]): number => entryOfHours(definition, scores.map(hour), 2).score;

describe('the hours of a rolling window', () => {
  it('are added up in their order', () => {
    expect(scoreOf(0.1, 0.2, 0.3)).toBe(0.1 + 0.2 + 0.3);
    expect(scoreOf(5, -5, 0)).toBe(0);
  });

  it('stay within the doubles when an hour leaves that had held the others back', () => {
    expect(scoreOf(-1.7e308, 1.7e308, 1.7e308)).toBe(1.7e308);
    expect(scoreOf(1.7e308, 1.7e308)).toBe(MAX_VALUE);
    expect(scoreOf(-1.7e308, -1.7e308)).toBe(-MAX_VALUE);
    expect(scoreOf(1.7e308, 1.7e308, -1.7e308)).toBe(1.7e308);
  });

  it('take no run that would take one of them out of the doubles, though the window has room', () => {
    const window: StoredWindow = {
      ...{ uid: 1, kind: 'rolling', id: 'rolling:24h', state: 'open' },
      ...{ startsAtMs: null, endsAtMs: null, freezeAtMs: null },
    };
    const board = { uid: 7, id: 'b', revision: 1, definition } as SubmitWrite['board'];
    const stored: StoredBatch = {
      ...{ entries: new Map(), remembered: new Map(), hours: new Map(), scopes: new Map() },
      standing: new Map(),
      attempts: new AttemptCounts([]),
      feedPositions: new Map(),
      sanctions: new Map(),
    };
    const fold = new BatchFold(stored);
    const submit = (score: number, atMs: number, position: number): unknown => {
      const write = { kind: 'submit', board, playerId: 'ada', submissionId: `s${position}`, score, columns: [] };
      const more = { idFromClient: false, achievedAtMs: null, windowId: null, metadata: null, refusal: null };
      const placed = {
        write: { ...write, ...more, bodySha256: Buffer.alloc(0) },
        atMs,
        nowMs: 9 * HOUR_MS,
        windows: [window],
      };
      return fold.apply(placed as PlacedWrite<SubmitWrite>, position);
    };
    submit(-1.7e308, HOUR_MS, 1);
    submit(1.7e308, 2 * HOUR_MS, 2);
    expect(submit(1.7e308, 2 * HOUR_MS, 3)).toMatchObject({ error: { code: 'SCORE_OUT_OF_BOUNDS' } });
    expect([...fold.hours.changed.values()].map(({ state }) => state.score)).toEqual([-1.7e308, 1.7e308]);
    expect([...fold.changedEntries.values()].map(({ state }) => state.score)).toEqual([0]);
    expect(fold.newSubmissions).toHaveLength(2);
  });
});
