import { LadderError } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { ListWriter, plainDetails, TestBoards, TestFriends } from '../../test/boards.js';
import { MemoryRankProjection } from '../../test/memory-ports.js';
import { FriendsRows } from './friends-channel.js';
import { PlayerRows } from './player-rows.js';
import { RangeRows } from './range-channel.js';
import { WatchBudget } from './watch-budget.js';
import type { RowsReader } from './watched-rows.js';

describe('rows in a style that is not kept any more', () => {
  const [dense, ordinal] = [
    { style: 'dense' as const, withPlayers: false },
    { style: 'ordinal' as const, withPlayers: false },
  ];
  const playerId = 'ada';

  async function readBoth<Watch extends object>(reader: RowsReader<Watch>, watches: Watch[]) {
    const projection = new MemoryRankProjection();
    const boards = new TestBoards(projection);
    boards.create('plain', { order: 'desc', operator: 'best' });
    const resolved = await boards.resolver.resolve({ boardId: 'plain' });
    await ListWriter.of(projection, resolved).write({ ada: 1 });
    for (const watch of watches) await reader.open?.(watch, null);
    const [refused, read] = await reader.read(resolved, watches);
    expect(refused).toBeInstanceOf(LadderError);
    expect(refused).toMatchObject({ code: 'RANK_STYLE_NOT_KEPT' });
    expect(read).toMatchObject({ total: 1, entries: [{ playerId, rank: 1 }] });
  }

  it('of players are refused, and hold up no others', () =>
    readBoth(
      new PlayerRows(plainDetails()),
      [dense, ordinal].map((style) => ({ ...style, playerId, around: 1, isOwn: true })),
    ));

  it('of ranges are refused, and hold up no others', () =>
    readBoth(
      new RangeRows(plainDetails()),
      [dense, ordinal].map((style) => ({ ...style, offset: 0, limit: 1 })),
    ));

  it('of friends are refused, and hold up no others', () =>
    readBoth(
      new FriendsRows(new TestFriends().members(), plainDetails(), new WatchBudget(10, 'members')),
      [dense, ordinal].map((style) => ({ ...style, playerId })),
    ));
});
