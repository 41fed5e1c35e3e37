// Real: the memory alone.
import { describe, expect, it } from 'vitest';
import { boardOf, runOf } from '../../test/made-writes.js';
import type { EntryRow } from '../entries/entry-rows.js';
import { isRemembered, LaneMemory, memoryRoom } from './lane-memory.js';
import { entryKeyOf } from './stored-batch.js';

const rowOf = (playerId: string, score = 1): EntryRow => ({
  boardUid: 7,
  windowUid: 3,
  playerId,
  state: { score, columns: [], achievedAtMs: 1, metadata: null, version: 1 },
  removed: false,
  unranked: false,
  scopes: [],
  leftScopes: [],
});
const keyOf = (playerId: string): string => entryKeyOf(3, playerId);
describe('the memory of a lane', () => {
  it('tells an entry that is there from one that is not, and from one that is not known', () => {
    const memory = new LaneMemory(memoryRoom(10));
    memory.leave({ head: '1 0', nowMs: 5, entries: [rowOf('ada', 4)], absent: [keyOf('bob')] });
    expect(memory.entry(keyOf('ada'))?.state.score).toBe(4);
    expect(memory.entry(keyOf('bob'))).toBeNull();
    expect(memory.entry(keyOf('cy'))).toBeUndefined();
    memory.leave({ head: '2 0', nowMs: 6, entries: [rowOf('bob', 5)], absent: [] });
    expect(memory.entry(keyOf('bob'))?.state.score).toBe(5);
    expect(memory).toMatchObject({ head: '2 0', lastMs: 6 });
  });

  it('has no head and no entries once it was told to forget, but the time', () => {
    const memory = new LaneMemory(memoryRoom(10));
    memory.leave({ head: '1 0', nowMs: 5, entries: [rowOf('ada')], absent: [] });
    memory.forget();
    expect(memory.entry(keyOf('ada'))).toBeUndefined();
    expect(memory).toMatchObject({ head: null, lastMs: 5 });
  });

  it('takes as much room as it is told, and drops what was used longest ago', () => {
    const memory = new LaneMemory(memoryRoom(3));
    const players = ['a', 'b', 'c'];
    memory.leave({ head: '1 0', nowMs: 5, entries: players.map((player) => rowOf(player)), absent: [] });
    memory.entry(keyOf('a'));
    memory.leave({ head: '1 0', nowMs: 5, entries: [rowOf('d')], absent: [] });
    const known = ['a', 'b', 'c', 'd'].filter((player) => memory.entry(keyOf(player)) !== undefined);
    expect(known).toEqual(['a', 'c', 'd']);
  });

  it('shares its room with other lanes, of which it neither knows nor forgets anything', () => {
    const room = memoryRoom(3);
    const [one, two] = [new LaneMemory(room), new LaneMemory(room)];
    const known = (memory: LaneMemory): string[] =>
      ['a', 'b', 'c', 'd', 'e'].filter((player) => memory.entry(keyOf(player)) !== undefined);
    const leave = (memory: LaneMemory, ...players: string[]): void =>
      memory.leave({ head: '1 0', nowMs: 5, entries: players.map((player) => rowOf(player)), absent: [] });
    leave(one, 'a', 'b', 'c');
    leave(two, 'd');
    expect([known(one), known(two)]).toEqual([['b', 'c'], ['d']]);
    one.forget();
    leave(one, 'e');
    expect([known(one), known(two)]).toEqual([['e'], ['d']]);
  });

  it('sends retries, and players that were sanctioned, to look themselves up', () => {
    const memory = new LaneMemory(memoryRoom(3));
    const drawn = { submissionId: 'drawn here', idFromClient: false };
    memory.seeIds([runOf(boardOf(), { submissionId: 's1' }), runOf(boardOf(), drawn)]);
    memory.seeSanctioned(['eve']);
    const seen = (playerId: string, submissionId: string): boolean =>
      memory.hasSeen(runOf(boardOf(), { playerId, submissionId }));
    expect([
      seen('ada', 's1'),
      seen('bob', 's1'),
      seen('ada', 's2'),
      seen('ada', 'drawn here'),
      seen('eve', 's9'),
    ]).toEqual([true, true, false, false, true]);
  });

  it('is not for boards that keep runs, rank each of them, or tax them', () => {
    expect(isRemembered(boardOf())).toBe(true);
    expect(isRemembered({ ...boardOf(), runsFrom: 9 })).toBe(false);
    expect(isRemembered(boardOf({ entriesPer: 'run' }))).toBe(false);
    expect(isRemembered(boardOf({ decay: {} as never }))).toBe(false);
  });
});
