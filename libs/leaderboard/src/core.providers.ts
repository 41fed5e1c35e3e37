import { Authenticator } from '@laddercast/commands';
import {
  ApiKeyStore,
  BoardCatalog,
  BoardRegistry,
  fixLanes,
  installationId,
  Lanes,
  PostgresDatabase,
  WindowCatalog,
} from '@laddercast/ledger';
import { Environment } from '@laddercast/platform';
import {
  CommittedPositions,
  LedgerCommittedPositions,
  ProjectionWatch,
  RankProjection,
  RedisConnection,
  RedisLaneMarks,
  RedisRankProjection,
  RedisSnapshotStore,
  SnapshotStore,
} from '@laddercast/projections';
import { EntryDetails, ListResolver } from '@laddercast/queries';
import { Logger, type Provider } from '@nestjs/common';
import { ExtensionRegistry } from './extension-registry.js';

/** Connections beside those that the lanes keep. */
const POOL_SPARE = 10;

async function openDatabase({ DATABASE_URL, LEDGER_LANES }: Environment): Promise<PostgresDatabase> {
  const database = new PostgresDatabase({ url: DATABASE_URL, poolMax: LEDGER_LANES + POOL_SPARE });
  await database.open({ migrate: true });
  await fixLanes(database, LEDGER_LANES);
  return database;
}

async function connectRedis({ REDIS_URL }: Environment, database: PostgresDatabase): Promise<RedisConnection> {
  const log = new Logger('redis');
  let said = '';
  const redis = new RedisConnection({
    url: REDIS_URL,
    namespace: `${await installationId(database)}:`,
    onError: (error) => {
      // The connection tries again for ever: each new kind of failure is said once.
      if (error.message !== said) log.warn(`Redis: ${error.message}`);
      said = error.message;
    },
  });
  // A Redis that is away holds nobody up: submissions go on, and it is tried again.
  void redis.connect().then(
    () => (said = ''),
    () => undefined,
  );
  return redis;
}

/** What every process has: the two stores, and what finds boards, lists and identities in them. */
export const coreProviders: Provider[] = [
  ExtensionRegistry,
  { provide: PostgresDatabase, inject: [Environment], useFactory: openDatabase },
  { provide: Lanes, inject: [Environment], useFactory: ({ LEDGER_LANES }: Environment) => new Lanes(LEDGER_LANES) },
  ...[BoardCatalog, WindowCatalog, ApiKeyStore].map((Part) => ({
    provide: Part,
    inject: [PostgresDatabase],
    useFactory: (database: PostgresDatabase) => new Part(database),
  })),
  {
    provide: BoardRegistry,
    inject: [PostgresDatabase, Lanes],
    useFactory: (database: PostgresDatabase, lanes: Lanes) => new BoardRegistry(database, lanes),
  },
  { provide: RedisConnection, inject: [Environment, PostgresDatabase], useFactory: connectRedis },
  {
    provide: CommittedPositions,
    inject: [PostgresDatabase],
    useFactory: (database: PostgresDatabase) => new LedgerCommittedPositions(database),
  },
  {
    provide: ProjectionWatch,
    inject: [RedisConnection, CommittedPositions, Lanes],
    useFactory: (redis: RedisConnection, committed: CommittedPositions, lanes: Lanes) =>
      new ProjectionWatch(new RedisLaneMarks(redis), committed, lanes.all),
  },
  {
    provide: RankProjection,
    inject: [RedisConnection, ProjectionWatch],
    useFactory: (redis: RedisConnection, watch: ProjectionWatch) =>
      new RedisRankProjection(redis, () => watch.assertWhole()),
  },
  {
    provide: SnapshotStore,
    inject: [RedisConnection],
    useFactory: (redis: RedisConnection) => {
      const log = new Logger('redis');
      return new RedisSnapshotStore(redis, (error) => log.warn(`Snapshots: ${error.message}`));
    },
  },
  {
    provide: Authenticator,
    inject: [ApiKeyStore, Environment],
    useFactory: (keys: ApiKeyStore, { JWT_SECRET }: Environment) => new Authenticator(keys, JWT_SECRET),
  },
  {
    provide: ListResolver,
    inject: [BoardCatalog, WindowCatalog],
    useFactory: (boards: BoardCatalog, windows: WindowCatalog) => new ListResolver(boards, windows),
  },
  {
    provide: EntryDetails,
    inject: [PostgresDatabase, ExtensionRegistry],
    useFactory: (database: PostgresDatabase, registry: ExtensionRegistry) =>
      new EntryDetails(database, () => registry.enricher),
  },
];
