import { withBoardDefaults, type Board, type LadderEvent, type RunRecorded } from '@laddercast/domain';
import { TOPICS } from '@laddercast/event-log';
import { describe, expect, it } from 'vitest';
import { sagaEventOf, type NamesOfNumbers } from './saga-news.js';

const AT_MS = Date.UTC(2026, 10, 20, 18);
const AT = '2026-11-20T18:00:00.000Z';
const BOARD = {
  ...{ uid: 7, id: 'heights' },
  definition: withBoardDefaults({ order: 'desc', operator: 'best', columns: [{ name: 'falls', order: 'asc' }] }),
} as Board;
const NAMES: NamesOfNumbers = {
  board: (uid) => (uid === 7 ? BOARD : undefined),
  window: (uid) => ({ 1: 'alltime', 2: 'daily:2026-11-20' })[uid],
  pool: (uid) => (uid === 3 ? 'chess' : undefined),
};
const rating = {
  state: { rating: 1500, deviation: 60, volatility: null, memory: { games: 4 } },
  ...{ games: 3, wins: 1, draws: 1, losses: 1, position: 40 },
  peak: { rating: 1520, atMs: AT_MS, gameId: 'g-1' },
  lastPlayedAtMs: null,
};
const run: RunRecorded = {
  type: 'run-recorded',
  kind: 'run',
  ...{ boardUid: 7, playerId: 'ada', position: 9, submissionId: 's-1', held: false, score: 5, columns: [2] },
  ...{ achievedAtMs: AT_MS, acceptedAtMs: AT_MS, windowUids: [1, 2, 99], metadata: '{"map":"x"}', proof: null },
  ...{ verified: true, sourceId: null },
};

/** An event with what a saga gets of it; null: nothing. */
const CASES: [LadderEvent, object | null][] = [
  [
    {
      ...{ type: 'entry-changed', boardUid: 7, playerId: 'ada', version: 9 },
      changes: [
        { windowUid: 1, keepUntilMs: null, entry: { score: 5, columns: [2], achievedAtMs: AT_MS }, scopes: [4] },
        { windowUid: 2, entryId: 's-1', keepUntilMs: AT_MS, entry: null },
        { windowUid: 99, keepUntilMs: null, entry: null },
      ],
    },
    {
      ...{ board: 'heights', playerId: 'ada' },
      entries: [
        { window: 'alltime', entry: { score: 5, columns: { falls: 2 }, achievedAt: AT } },
        { window: 'daily:2026-11-20', entryId: 's-1', entry: null },
      ],
    },
  ],
  [
    {
      ...{ type: 'entry-changed', boardUid: 7, playerId: 'owls', version: 9, isGuild: true },
      changes: [{ windowUid: 1, keepUntilMs: null, entry: null }],
    },
    { board: 'heights', guildId: 'owls', entries: [{ window: 'alltime', entry: null }] },
  ],
  // A barrier, a window that is gone, and a board that is.
  [{ type: 'entry-changed', boardUid: 7, playerId: '', version: 9, changes: [], filledGeneration: 2 }, null],
  [
    {
      ...{ type: 'entry-changed', boardUid: 7, playerId: 'ada', version: 9 },
      changes: [{ windowUid: 99, keepUntilMs: null, entry: null }],
    },
    null,
  ],
  [
    {
      ...{ type: 'entry-changed', boardUid: 8, playerId: 'ada', version: 9 },
      changes: [{ windowUid: 1, keepUntilMs: null, entry: null }],
    },
    null,
  ],
  [{ type: 'player-changed', playerId: 'ada' }, { playerId: 'ada' }],
  [{ type: 'player-changed', playerId: 'owls', isGuild: true }, { guildId: 'owls' }],
  [
    { type: 'sanction-changed', playerId: 'ada', sanction: { kind: 'ban', boards: null, untilMs: AT_MS } },
    { playerId: 'ada', sanction: { kind: 'ban', boards: null, until: AT } },
  ],
  [
    { type: 'sanction-changed', playerId: 'ada', sanction: null },
    { playerId: 'ada', sanction: null },
  ],
  [
    { type: 'board-changed', boardUid: 7, boardId: 'heights', revision: 3 },
    { board: 'heights', gone: false },
  ],
  [
    { type: 'board-changed', boardUid: 6, boardId: null, formerId: 'depths', revision: 3 },
    { board: 'depths', gone: true },
  ],
  [{ type: 'board-changed', boardUid: 6, boardId: null, revision: 3 }, null],
  [
    { type: 'window-closed', boardUid: 7, windowUid: 2, windowId: 'daily:2026-11-20', version: 9 },
    { board: 'heights', window: 'daily:2026-11-20' },
  ],
  [{ type: 'window-closed', boardUid: 8, windowUid: 2, windowId: 'daily:2026-11-20', version: 9 }, null],
  [
    { type: 'standings-revised', boardUid: 7, windowUid: 1, windowId: 'alltime', edition: 2, version: 9 },
    { board: 'heights', window: 'alltime', edition: 2, frozen: false },
  ],
  [{ type: 'game-recorded', poolUid: 3, position: 8 }, { pool: 'chess' }],
  [{ type: 'game-recorded', poolUid: 4, position: 8 }, null],
  [
    { type: 'rating-changed', poolUid: 3, playerId: 'ada', ratedPosition: 8, rating },
    {
      ...{ pool: 'chess', playerId: 'ada', rating: 1500, deviation: 60, volatility: null },
      ...{ games: 3, wins: 1, draws: 1, losses: 1, peak: { rating: 1520, at: AT, gameId: 'g-1' }, lastPlayedAt: null },
    },
  ],
  [{ type: 'rating-changed', poolUid: 4, playerId: 'ada', ratedPosition: 8, rating }, null],
  [
    run,
    {
      ...{ board: 'heights', playerId: 'ada', submissionId: 's-1', held: false, score: 5, columns: { falls: 2 } },
      ...{ windows: ['alltime', 'daily:2026-11-20'], achievedAt: AT, acceptedAt: AT, metadata: { map: 'x' } },
      ...{ proof: null, verified: true, sourceId: null },
    },
  ],
  [
    {
      ...{ type: 'flag-raised', flagId: 'f-1', rule: 'jump', severity: 'low', boardUid: 7, playerId: null },
      summary: 'A leap.',
    },
    { flagId: 'f-1', rule: 'jump', severity: 'low', board: 'heights', playerId: null, summary: 'A leap.' },
  ],
];

const told = (event: LadderEvent) =>
  sagaEventOf({ topic: event.type, lane: 0, position: 41, writtenAtMs: AT_MS, key: 'k', event }, NAMES);

describe('what a saga of a team is told', () => {
  it.each(CASES)('%j', (event, expected) => {
    expect(told(event)).toEqual(expected && { topic: event.type, position: 41, writtenAt: AT, ...expected });
  });

  it('is looked at for every topic', () => {
    expect([...new Set(CASES.map(([{ type }]) => type))].sort()).toEqual([...TOPICS].sort());
  });

  it('has no number of ours in it', () => {
    for (const [event] of CASES) expect(JSON.stringify(told(event))).not.toMatch(/[uU]id"|scopes|memory/);
  });
});
