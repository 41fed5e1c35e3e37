import { LadderError } from '@laddercast/domain';
import { NO_EXTENSIONS } from '@laddercast/extension';
import type { SqlRunner, StandingsReader } from '@laddercast/ledger';
import {
  AnsweredVersions,
  ReplicaReads,
  type PageReading,
  type RankSnapshot,
  type ReplicaStores,
} from '@laddercast/projections';
import { beforeEach, describe, expect, it } from 'vitest';
import { EMPTY_BOARD, MemoryList } from '../../test/snapshot-ports.js';
import type { ListResolver, ResolvedList } from '../lists/list-resolver.js';
import type { OwnWorlds } from '../lists/own-worlds.js';
import { PlayerCounts } from '../lists/player-counts.js';
import type { RetaxProgress } from '../lists/retax-progress.js';
import { GetEntriesQuery, type EntriesPage } from '../queries.js';
import { EntryDetails } from '../rows/entry-details.js';
import { ListReader } from '../rows/list-reader.js';
import type { SnapshotCache } from '../snapshots/snapshot-cache.js';
import { GetEntriesHandler } from './get-entries.handler.js';

const NO_ROWS: SqlRunner = { query: async () => [] };
const REPLICA_AS_OF_MS = Date.UTC(2026, 10, 26);

/** A server that shows the list in one version. */
class Server {
  version = 1;
  isAway = false;
  asked = 0;

  readonly page = async (): Promise<PageReading> => {
    this.asked += 1;
    if (this.isAway) throw new LadderError('PROJECTION_UNAVAILABLE', 'It does not answer.');
    return { total: 0, listVersion: this.version, entries: [] };
  };

  readonly lookup = async () => ({ total: 0, listVersion: this.version, entries: [null] });
}

let master: Server;
let replica: Server;
let isReplicaWhole: boolean;
/** The top that the process has in memory. */
let last: RankSnapshot | undefined;
let handler: GetEntriesHandler;

class Replica extends ReplicaReads {
  override async read<T>(
    _kind: unknown,
    _list: unknown,
    near: (stores: ReplicaStores, asOfMs: number) => Promise<T | null>,
    far: () => Promise<T>,
  ): Promise<T> {
    const stores = { ranks: { page: replica.page, lookup: replica.lookup } } as unknown as ReplicaStores;
    return (isReplicaWhole ? await near(stores, REPLICA_AS_OF_MS) : null) ?? far();
  }

  override ofMaster<T>(_kind: unknown, _list: unknown, far: () => Promise<T>): Promise<T> {
    return far();
  }
}

beforeEach(() => {
  master = new Server();
  replica = new Server();
  isReplicaWhole = true;
  last = undefined;
  const shown = new MemoryList(EMPTY_BOARD).resolved;
  const ranks = { page: master.page, total: master.page } as unknown as ResolvedList['ranks'];
  const resolver = { resolve: async () => ({ ...shown, ranks }), assertShown: () => undefined };
  const snapshots = { latest: () => undefined, lastKnown: () => last };
  const own = { playerId: 'ada', score: 3, columns: [], achievedAtMs: 0, version: 1 };
  const worlds = {
    of: async (resolved: ResolvedList, ownWorldOf: string): Promise<ResolvedList> => ({
      ...{ ...resolved, ownWorldOf, ownEntries: [own], everybodys: resolved.ranks },
    }),
  } as unknown as OwnWorlds;
  const reader = new ListReader(
    resolver as unknown as ListResolver,
    new EntryDetails(NO_ROWS, NO_EXTENSIONS),
    snapshots as unknown as SnapshotCache,
    new AnsweredVersions(),
    worlds,
    new PlayerCounts(NO_ROWS, {} as StandingsReader),
    {} as RetaxProgress,
  );
  reader.isShadowed = async (playerId) => playerId === 'ada';
  handler = new GetEntriesHandler(reader, new Replica());
});

const read = (minVersion?: number, fromReplica = true): Promise<EntriesPage> =>
  handler.execute(new GetEntriesQuery({ boardId: 'blitz', fromReplica, minVersion }, 0, 10));

/** What is told of a page. */
const shown = ({ accuracy, boardVersion }: EntriesPage): [accuracy: string, boardVersion: number] => [
  accuracy,
  boardVersion,
];

const snapshotOf = (listVersion: number): RankSnapshot => ({
  ...{ seq: 1, asOfMs: 0, listVersion, total: 0, depth: 0, entries: [], shared: null },
});

describe('a page that may come from a replica', () => {
  it('says there of which version it is, and as of when', async () => {
    master.version = 9;
    replica.version = 7;
    const page = await read();
    expect(page).toMatchObject({ accuracy: 'estimated', errorBound: 0, boardVersion: 7 });
    expect(Date.parse(page.asOf)).toBe(REPLICA_AS_OF_MS);
    expect(master.asked).toBe(0);
  });

  it('says there of which version it is to a shadowed player, too, with its entry', async () => {
    master.version = 9;
    replica.version = 7;
    const selection = { boardId: 'blitz', fromReplica: true, readerId: 'ada' };
    const page = await handler.execute(new GetEntriesQuery(selection, 0, 10));
    expect(page).toMatchObject({ accuracy: 'estimated', boardVersion: 7, total: 1 });
    expect(page.entries).toMatchObject([{ rank: 1, playerId: 'ada', score: 3 }]);
    expect(master.asked).toBe(0);
  });

  it('is not read there by who did not ask for it', async () => {
    master.version = 9;
    expect(shown(await read(undefined, false))).toEqual(['exact', 9]);
    expect(replica.asked).toBe(0);
  });

  it('is of the master where the replica has less than such a page that was answered before', async () => {
    master.version = 9;
    replica.version = 7;
    await read();
    replica.version = 6;
    expect(shown(await read())).toEqual(['exact', 9]);
    replica.version = 7;
    expect(shown(await read())).toEqual(['estimated', 7]);
    // What is exact is of another kind.
    await read(undefined, false);
    expect(shown(await read())).toEqual(['estimated', 7]);
  });

  it('is of the master where the replica has less than the version that is asked for', async () => {
    master.version = 9;
    replica.version = 7;
    expect(shown(await read(8))).toEqual(['exact', 9]);
    expect(shown(await read(7))).toEqual(['estimated', 7]);
  });

  it('is none of memory that is older than such a page that was answered before', async () => {
    replica.version = 7;
    expect(shown(await read())).toEqual(['estimated', 7]);
    master.version = 9;
    await read(undefined, false);
    master.isAway = true;
    isReplicaWhole = false;
    last = snapshotOf(6);
    await expect(read()).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
    last = snapshotOf(8);
    expect(shown(await read())).toEqual(['estimated', 8]);
    // And is what must not be fallen below, from here on.
    isReplicaWhole = true;
    await expect(read()).resolves.toMatchObject({ boardVersion: 8 });
  });
});
