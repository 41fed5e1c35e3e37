// Real: the handler. By hand: a list whose players move between its readings, and what rows show beside their ranks.
import { GLOBAL_SCOPE, withBoardDefaults, type Board, type RankStyle } from '@laddercast/domain';
import { rankListOf, type ProjectedEntry } from '@laddercast/projections';
import { describe, expect, it } from 'vitest';
import { EMPTY_BOARD } from '../../test/snapshot-ports.js';
import type { RankEstimates } from '../lists/rank-estimates.js';
import type { ListReader } from '../rows/list-reader.js';
import { LookupPlayersQuery } from '../queries.js';
import { LookupPlayersHandler } from './lookup-players.handler.js';

const definition = withBoardDefaults({ order: 'desc', operator: 'latest', columns: [{ name: 'moves', order: 'asc' }] });
const board: Board = { ...EMPTY_BOARD, definition };
const entry = (playerId: string, rank: number, score: number, moves = 0): ProjectedEntry => ({
  ...{ playerId, rank, score },
  columns: [moves],
  achievedAtMs: 1000,
});

/** A handler over a list that answers the next of these readings each time. */
function handlerOver(...readings: (ProjectedEntry | null)[][]): LookupPlayersHandler {
  const lookup = async () => ({ total: 9, listVersion: 1, entries: readings.shift()! });
  const resolved = { board, list: rankListOf(board, 7, GLOBAL_SCOPE), ranks: { lookup } };
  const reader = {
    open: async ({ rankStyle }: { rankStyle: RankStyle }) => ({ resolved, style: rankStyle }),
    details: {
      ahead: () => undefined,
      complete: async (_: unknown, entries: unknown[]) => entries,
      withChange: async (_list: unknown, _style: unknown, rows: unknown[]) => rows,
    },
    envelope: () => ({}),
  };
  return new LookupPlayersHandler(reader as unknown as ListReader, {} as RankEstimates);
}

const ask = async (handler: LookupPlayersHandler, rankStyle: RankStyle): Promise<string[]> => {
  const query = new LookupPlayersQuery({ boardId: 'blitz', rankStyle }, ['ada', 'bob', 'cy'], true, []);
  const { entries } = await handler.execute(query);
  return entries.map((row) => `${row!.rank} ${row!.playerId} ${row!.score}`);
};

describe('players who are ranked among themselves', () => {
  it.each(['competition', 'dense'] as const)('stand in the order of the scores that are shown: %s', async (style) => {
    const shown = [entry('ada', 3, 10), entry('bob', 1, 30), entry('cy', 2, 20)];
    // All have scored since, and one was removed.
    const since = [entry('ada', 1, 90), null, entry('cy', 2, 80)];
    expect(await ask(handlerOver(shown, since), style)).toEqual(['1 bob 30', '2 cy 20', '3 ada 10']);
  });

  it('stand in the order of the board also where their ranks were counted a moment apart', async () => {
    const shown = [entry('ada', 2, 10), entry('bob', 2, 20, 5), entry('cy', 2, 20, 4)];
    expect(await ask(handlerOver(shown), 'ordinal')).toEqual(['2 cy 20', '2 bob 20', '2 ada 10']);
  });
});
