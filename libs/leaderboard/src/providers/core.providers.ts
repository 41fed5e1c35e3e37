import { Authenticator, PlayerTokens, SigningKeys } from '@laddercast/identity';
import { readFileSync } from 'node:fs';
import { EventLog } from '@laddercast/event-log';
import {
  AllLanes,
  ApiKeyStore,
  AuditLog,
  believesAnyServer,
  BoardCatalog,
  BoardRegistry,
  EditionCatalog,
  EntryHistory,
  BoardsWithMetadata,
  fixLanes,
  installationId,
  isDatabaseUnavailable,
  isServersAnswer,
  Lanes,
  LedgerClock,
  PostgresDatabase,
  ScopeCatalog,
  unsafeDatabaseSettings,
  WindowCatalog,
} from '@laddercast/ledger';
import { Environment, sleep, untrustedCertificate } from '@laddercast/platform';
import {
  Announcements,
  Checkpoints,
  CommittedPositions,
  LedgerCommittedPositions,
  RestoredLedgerCheck,
  ProjectionWatch,
  RankProjection,
  redisFault,
  RedisAnnouncements,
  RedisCheckpoints,
  RedisConnection,
  RedisLaneMarks,
  RedisRankProjection,
  RedisSketchStore,
  RedisSnapshotStore,
  RedisTraceNotes,
  SketchBuilder,
  SketchCache,
  SketchStore,
  SnapshotStore,
  StandingsRanks,
  TraceNotes,
} from '@laddercast/projections';
import { EntryDetails, ListResolver, RankEstimates } from '@laddercast/queries';
import { Logger, type Provider } from '@nestjs/common';
import { circleReadingProviders } from './circle.providers.js';
import { ExtensionRegistry } from '../extension-registry.js';
import { KeptKafkaToken } from '../kept-kafka-token.js';
import { layoutProviders } from './layout.providers.js';
import { peopleProviders } from './people.providers.js';
import { Readiness } from '../health/readiness.js';
import { recoveryProviders } from './recovery.providers.js';
import { windowProviders } from './window.providers.js';

/** One that the lane's writer keeps, and one for what is written in the lane beside runs. */
const CONNECTIONS_PER_LANE = 2;
/** How long a start waits for what Redis says, twice. */
const REDIS_WORD_WITHIN_MS = 2000;
/** Connections beside those of the lanes. */
const POOL_SPARE = 10;

async function openDatabase(environment: Environment): Promise<PostgresDatabase> {
  const { DATABASE_URL, DATABASE_CA_FILE, LEDGER_LANES } = environment;
  const database = new PostgresDatabase({
    url: DATABASE_URL,
    ...(DATABASE_CA_FILE !== undefined && { caFile: DATABASE_CA_FILE }),
    poolMax: CONNECTIONS_PER_LANE * LEDGER_LANES + POOL_SPARE,
  });
  await database.open({ migrate: true }).catch((cause: unknown) => {
    const distrust = untrustedCertificate(cause, 'PostgreSQL', 'DATABASE_CA_FILE');
    if (distrust !== null) throw new Error(`PostgreSQL cannot be used: ${distrust}`);
    if (isServersAnswer(cause) || !isDatabaseUnavailable(cause)) throw cause;
    throw new Error('PostgreSQL cannot be reached: start it, or correct DATABASE_URL', { cause });
  });
  await fixLanes(database, LEDGER_LANES);
  await assertKeepsCommits(database, environment);
  const log = new Logger('postgres');
  if (believesAnyServer(DATABASE_URL, DATABASE_CA_FILE)) {
    const why = 'with this sslmode of DATABASE_URL any server is believed';
    log.warn(`PostgreSQL is not checked: ${why}. DATABASE_CA_FILE names who may vouch for it.`);
  }
  database.reach.start((text) => log.warn(text));
  return database;
}

/** @throws where commits that were answered could be lost, and nobody said that this may be */
async function assertKeepsCommits(database: PostgresDatabase, environment: Environment): Promise<void> {
  const unsafe = await unsafeDatabaseSettings(database);
  if (unsafe.length === 0) return;
  const what = `PostgreSQL runs with ${unsafe.join(', ')}: a crash can take back scores that were answered.`;
  const log = new Logger('postgres');
  if (environment.DATABASE_MAY_FORGET === 'true') return log.log(what);
  if (environment.NODE_ENV !== 'production') return log.warn(what);
  await database.close();
  throw new Error(`${what} Set them on, or DATABASE_MAY_FORGET=true where that is meant.`);
}

async function connectRedis(
  { REDIS_URL, REDIS_CA_FILE }: Environment,
  database: PostgresDatabase,
): Promise<RedisConnection> {
  const log = new Logger('redis');
  let said = '';
  let isStarting = true;
  const redis = new RedisConnection({
    url: REDIS_URL,
    ...(REDIS_CA_FILE !== undefined && { ca: readFileSync(REDIS_CA_FILE, 'utf8') }),
    namespace: `${await installationId(database)}:`,
    onError: (error) => {
      // The connection tries again for ever: each new kind of failure is said once, when it is known whether we start.
      if (isStarting || error.message === said) return;
      log.warn(`Redis: ${error.message}`);
      said = error.message;
    },
  });
  const connecting = redis.connect().then(
    () => (said = ''),
    () => undefined,
  );
  const looking = Promise.race([redisFault(redis), sleep(REDIS_WORD_WITHIN_MS).then(() => null)]);
  // A Redis that is away holds nobody up: submissions go on, and it is tried again. One that refuses us never will be there.
  await Promise.race([connecting, sleep(REDIS_WORD_WITHIN_MS)]);
  await redis.masterStates(REDIS_WORD_WITHIN_MS);
  const fault = (await looking) ?? redis.refusal;
  isStarting = false;
  if (fault === null) return redis;
  await redis.close();
  await database.close();
  throw new Error(fault);
}

function playerTokens(environment: Environment): PlayerTokens {
  const { JWT_SECRET, JWT_JWKS_URL, JWT_ISSUER, JWT_AUDIENCE, JWT_CLOCK_TOLERANCE_SECONDS } = environment;
  const log = new Logger('identity');
  if (JWT_JWKS_URL !== undefined && JWT_AUDIENCE === undefined) {
    log.warn('JWT_AUDIENCE is not set: tokens that JWT_JWKS_URL signs for other services are taken, too.');
  }
  const onFailure = (error: unknown): void => {
    const { message, cause } = error as Error;
    log.warn(`The keys of JWT_JWKS_URL cannot be read: ${cause instanceof Error ? cause.message : message}`);
  };
  return new PlayerTokens({
    secret: JWT_SECRET,
    signingKeys: JWT_JWKS_URL === undefined ? null : new SigningKeys({ url: JWT_JWKS_URL, onFailure }),
    issuer: JWT_ISSUER,
    audience: JWT_AUDIENCE,
    clockToleranceSeconds: JWT_CLOCK_TOLERANCE_SECONDS,
  });
}

/** What every process has: the two stores, and what finds boards, lists and identities in them. */
export const coreProviders: Provider[] = [
  ExtensionRegistry,
  KeptKafkaToken,
  { provide: PostgresDatabase, inject: [Environment], useFactory: openDatabase },
  { provide: Lanes, inject: [Environment], useFactory: ({ LEDGER_LANES }: Environment) => new Lanes(LEDGER_LANES) },
  BoardCatalog,
  ScopeCatalog,
  EditionCatalog,
  BoardsWithMetadata,
  ApiKeyStore,
  AuditLog,
  EntryHistory,
  RedisLaneMarks,
  StandingsRanks,
  BoardRegistry,
  WindowCatalog,
  AllLanes,
  { provide: RedisConnection, inject: [Environment, PostgresDatabase], useFactory: connectRedis },
  {
    provide: Readiness,
    inject: [PostgresDatabase, RedisConnection, ProjectionWatch, { token: EventLog, optional: true }],
    useFactory: (
      database: PostgresDatabase,
      redis: RedisConnection,
      watch: ProjectionWatch,
      eventLog: EventLog | undefined,
    ) => new Readiness({ database, redis, watch, eventLog: eventLog ?? null }),
  },
  {
    provide: CommittedPositions,
    inject: [PostgresDatabase, Environment],
    useFactory: (database: PostgresDatabase, { EVENT_LOG }: Environment) =>
      new LedgerCommittedPositions(database, EVENT_LOG === 'postgres'),
  },
  {
    provide: ProjectionWatch,
    inject: [RedisLaneMarks, CommittedPositions, Lanes, RestoredLedgerCheck],
    useFactory: (marks: RedisLaneMarks, committed: CommittedPositions, lanes: Lanes, check: RestoredLedgerCheck) =>
      new ProjectionWatch(marks, committed, lanes.all, () => check.isAhead()),
  },
  {
    provide: RankProjection,
    inject: [RedisConnection, ProjectionWatch],
    useFactory: (redis: RedisConnection, watch: ProjectionWatch) => new RedisRankProjection(redis, watch),
  },
  {
    provide: Checkpoints,
    inject: [RedisConnection, ProjectionWatch],
    useFactory: (redis: RedisConnection, watch: ProjectionWatch) => new RedisCheckpoints(redis, watch),
  },
  {
    provide: SnapshotStore,
    inject: [RedisConnection],
    useFactory: (redis: RedisConnection) => {
      const log = new Logger('redis');
      return new RedisSnapshotStore(redis, (error) => log.warn(`Snapshots: ${error.message}`));
    },
  },
  { provide: TraceNotes, useClass: RedisTraceNotes },
  { provide: SketchStore, useClass: RedisSketchStore },
  {
    provide: SketchBuilder,
    inject: [RankProjection, SketchStore],
    useFactory: (projection: RankProjection, store: SketchStore) => new SketchBuilder(projection, store),
  },
  {
    provide: SketchCache,
    inject: [SketchStore, SketchBuilder],
    useFactory: (store: SketchStore, builder: SketchBuilder) => new SketchCache(store, builder),
  },
  RankEstimates,
  {
    provide: Announcements,
    inject: [RedisConnection],
    useFactory: (redis: RedisConnection) => {
      const log = new Logger('redis');
      return new RedisAnnouncements(redis, (error) => log.warn(`Announcements: ${error.message}`));
    },
  },
  {
    provide: Authenticator,
    inject: [ApiKeyStore, Environment],
    useFactory: (keys: ApiKeyStore, environment: Environment) => new Authenticator(keys, playerTokens(environment)),
  },
  {
    provide: LedgerClock,
    inject: [BoardCatalog],
    useFactory: (boards: BoardCatalog) => boards.clock,
  },
  ListResolver,
  {
    provide: EntryDetails,
    inject: [PostgresDatabase, ExtensionRegistry],
    useFactory: (database: PostgresDatabase, registry: ExtensionRegistry) =>
      new EntryDetails(database, () => registry.enricher),
  },
  ...circleReadingProviders,
  ...peopleProviders,
  ...windowProviders,
  ...layoutProviders,
  ...recoveryProviders,
];
