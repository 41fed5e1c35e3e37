import { LadderError } from '@laddercast/domain';
import { NO_EXTENSIONS } from '@laddercast/extension';
import type { SqlRunner, StandingsReader } from '@laddercast/ledger';
import { AnsweredVersions, type PlayerReading } from '@laddercast/projections';
import { describe, expect, it } from 'vitest';
import { EMPTY_BOARD, MemoryList } from '../../test/snapshot-ports.js';
import type { ListResolver, ResolvedList } from '../lists/list-resolver.js';
import type { OwnWorlds } from '../lists/own-worlds.js';
import { PlayerCounts } from '../lists/player-counts.js';
import type { RankEstimates } from '../lists/rank-estimates.js';
import type { RetaxProgress } from '../lists/retax-progress.js';
import { GetPlayerQuery } from '../queries.js';
import { EntryDetails } from '../rows/entry-details.js';
import { ListReader } from '../rows/list-reader.js';
import type { SnapshotCache } from '../snapshots/snapshot-cache.js';
import { GetPlayerHandler } from './get-player.handler.js';

const NO_ROWS: SqlRunner = { query: async () => [] };

/** What a player is told who has no entry in a list that was read so. */
async function refusalOf(reading: Partial<PlayerReading>): Promise<LadderError> {
  const ranks = {
    player: async () => ({ total: 0, listVersion: 7, entry: null, neighbours: [], ...reading }),
    page: async () => ({ total: 0, listVersion: 7, entries: [] }),
  } as unknown as ResolvedList['ranks'];
  const resolved = { ...new MemoryList(EMPTY_BOARD).resolved, ranks };
  const resolver = { resolve: async () => resolved, assertShown: () => undefined };
  const reader = new ListReader(
    resolver as unknown as ListResolver,
    new EntryDetails(NO_ROWS, NO_EXTENSIONS),
    {} as SnapshotCache,
    new AnsweredVersions(),
    {} as OwnWorlds,
    new PlayerCounts(NO_ROWS, {} as StandingsReader),
    {} as RetaxProgress,
  );
  const handler = new GetPlayerHandler(reader, {} as RankEstimates);
  const query = new GetPlayerQuery({ boardId: 'blitz' }, 'ada', 1, 1, false, []);
  return handler.execute(query).then(
    () => expect.fail('she has no entry'),
    (error: LadderError) => error,
  );
}

describe('a player without an entry', () => {
  it('is told how many have one', async () => {
    const { code, extensions } = await refusalOf({ total: 130 });
    expect(code).toBe('ENTRY_NOT_FOUND');
    expect(extensions).toEqual({ total: 130, scoreToBeat: null });
  });

  it('is told what that is worth where entries cross between shards', async () => {
    const { extensions } = await refusalOf({ total: 130, accuracy: 'estimated', errorBound: 2 });
    expect(extensions).toEqual({ total: 130, accuracy: 'estimated', errorBound: 2, scoreToBeat: null });
  });
});
