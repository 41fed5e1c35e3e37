import { encodeSortKey, LadderError, type RankAccuracy } from '@laddercast/domain';
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
import { GetPlayerQuery, type PlayerRank } from '../queries.js';
import { EntryDetails } from '../rows/entry-details.js';
import { ListReader } from '../rows/list-reader.js';
import type { SnapshotCache } from '../snapshots/snapshot-cache.js';
import { GetPlayerHandler } from './get-player.handler.js';

const NO_ROWS: SqlRunner = { query: async () => [] };

/** The handler over a list, with what the ledger says of players. */
function handlerOf(
  resolved: ResolvedList,
  estimates = {} as RankEstimates,
  database = NO_ROWS,
  worlds = {} as OwnWorlds,
): GetPlayerHandler {
  const resolver = { resolve: async () => resolved, assertShown: () => undefined };
  const reader = new ListReader(
    resolver as unknown as ListResolver,
    new EntryDetails(database, NO_EXTENSIONS),
    {} as SnapshotCache,
    new AnsweredVersions(),
    worlds,
    new PlayerCounts(NO_ROWS, {} as StandingsReader),
    {} as RetaxProgress,
  );
  return new GetPlayerHandler(reader, estimates);
}

/** What a player is told who has no entry in a list that was read so. */
async function refusalOf(reading: Partial<PlayerReading>): Promise<LadderError> {
  const ranks = {
    player: async () => ({ total: 0, listVersion: 7, entry: null, neighbours: [], ...reading }),
    page: async () => ({ total: 0, listVersion: 7, entries: [] }),
  } as unknown as ResolvedList['ranks'];
  const handler = handlerOf({ ...new MemoryList(EMPTY_BOARD).resolved, ranks });
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

describe('a sanctioned player with an entry', () => {
  const score = 5;
  /** What is read of ada, banned or hidden, who is second of three. */
  const read = (kind: string, accuracy: RankAccuracy, moderates: boolean): Promise<PlayerRank> => {
    const sanction = { kind, boards: null, publicReason: 'Cheating.', untilMs: null };
    const database = {
      query: async (sql: string) => {
        if (sql.includes('"hasProfiles"')) return [{ hasProfiles: true }];
        return sql.includes('FROM sanctions') ? [{ id: 'ada', displayName: null, listed: true, sanction }] : [];
      },
    } as unknown as SqlRunner;
    const list = new MemoryList(EMPTY_BOARD).resolved;
    const entry = { rank: 2, playerId: 'ada', score, columns: [], achievedAtMs: 0 };
    const ranks = { player: async () => ({ total: 3, listVersion: 7, entry, neighbours: [entry] }) };
    const key = encodeSortKey(list.list.ordering, { score, columns: [], achievedAtMs: 0 }, 'ada');
    const sketched = { sketch: { total: 3 }, listVersion: 7, asOfMs: 0 };
    const players = [{ rank: 2, errorBound: 1, key }];
    const estimates = { ofPlayers: async () => ({ sketched, total: 3, players, readVersion: 7 }) };
    const worlds = { of: async (resolved: ResolvedList) => resolved };
    const handler = handlerOf(
      { ...list, ranks: ranks as unknown as ResolvedList['ranks'] },
      estimates as unknown as RankEstimates,
      database,
      worlds as unknown as OwnWorlds,
    );
    const selection = { boardId: 'blitz', moderates };
    return handler.execute(new GetPlayerQuery(selection, 'ada', 0, 0, false, 'all', accuracy));
  };

  it.each<[string, RankAccuracy]>([
    ['ban', 'exact'],
    ['ban', 'estimated'],
    ['hide', 'estimated'],
  ])('is shown with its sanction to moderators (%s, %s)', async (kind, accuracy) => {
    const told = { kind, until: null, publicReason: 'Cheating.' };
    expect(await read(kind, accuracy, true)).toMatchObject({ entry: { rank: 2 }, accuracy, sanction: told });
    expect(await read(kind, accuracy, false)).not.toHaveProperty('sanction');
  });
});
