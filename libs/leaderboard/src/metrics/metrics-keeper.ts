import { SANCTION_KINDS } from '@laddercast/domain';
import { GAME_MESSAGES, SUBMISSION_MESSAGES } from '@laddercast/commands';
import {
  DeadLetterStore,
  KafkaEventLog,
  kafkaOptions,
  KeptKafkaToken,
  PostgresEventLog,
  PostgresLogGroups,
  RELAY_GROUP,
  TOPICS,
  writeLogLine,
  type IntakeTopic,
  type LaneLag,
  type LogGroup,
  type Topic,
} from '@laddercast/event-log';
import {
  BoardCatalog,
  HeldLease,
  Lanes,
  outboxBacklog,
  PostgresDatabase,
  PostgresLeases,
  Sanctions,
  RevisionLag,
  Flags,
  RuleExaminations,
  SettlementFailures,
  WindowCatalog,
  WindowCloseLag,
} from '@laddercast/ledger';
import { Environment, metrics } from '@laddercast/platform';
import { RedisConnection, ShardCensus, WindowLists } from '@laddercast/projections';
import { sagas, sourcesOf } from '@laddercast/sagas';
import type { INestApplicationContext } from '@nestjs/common';
import { partsOf } from '../parts.js';
import type { MetricsSource } from './metrics-collection.js';

const LEASE = { name: 'metrics', ttlMs: 6000, askEveryMs: 2000 };
/** Kafka is asked over a connection that is made for it. */
const KAFKA_EVERY_MS = 5000;
const SHARDS_EVERY_MS = 10_000;
/** Up to how many runs that wait for rules of teams are counted. */
const EXAMINATIONS_COUNTED_MAX = 100_000;
/** The most shards that are shown: boards and windows are labels here, and here only. */
const SHARDS_SHOWN_MAX = 20;

type MaybePromise<Value> = Value | Promise<Value>;
type Clearable = { reset(): void; remove(...labels: string[]): void };

/**
 * What is about the whole installation: said by one process at a time, the one that holds a lease. So it is there for as
 * long as one api or projector is, and a sum over all processes counts nothing twice.
 */
export class MetricsKeeper {
  readonly sources: MetricsSource[];
  private readonly lease: HeldLease;

  constructor(app: INestApplicationContext) {
    const part = partsOf(app);
    const database = part(PostgresDatabase);
    const environment = part(Environment);
    this.lease = new HeldLease(new PostgresLeases(database), LEASE);
    const boards = part(BoardCatalog);
    const census = new ShardCensus(boards, new WindowLists(database), part(RedisConnection));
    this.sources = [
      ...logSources(database, part(Lanes), environment, part(KeptKafkaToken)),
      outboxSource(database, part(Lanes), environment),
      deadLetterSource(new DeadLetterStore(database)),
      flagSource(part(Flags)),
      examinationSource(part(RuleExaminations)),
      settlementSource(part(SettlementFailures)),
      sanctionSource(part(Sanctions)),
      closingSource(part(WindowCloseLag)),
      revisionSource(part(RevisionLag)),
      nodeSource(part(RedisConnection)),
      generationSource(boards),
      shardSource(census, part(WindowCatalog)),
    ].map((source) => ({ ...source, isOurs: () => this.lease.term !== null }));
  }

  start(): void {
    this.lease.start();
  }

  /** Lets another process say it. */
  stop(): Promise<void> {
    return this.lease.stop();
  }
}

/** How far each consumer group is behind; what needs Kafka apart from what does not. */
function logSources(
  database: PostgresDatabase,
  lanes: Lanes,
  environment: Environment,
  token: KeptKafkaToken,
): MetricsSource[] {
  const { EVENT_LOG } = environment;
  const intakes = [SUBMISSION_MESSAGES, GAME_MESSAGES].filter(
    ({ keySetting }) => environment[keySetting] !== undefined,
  );
  const outbox = new PostgresEventLog(database, { lanes, log: writeLogLine });
  const registered = new PostgresLogGroups(database, writeLogLine);
  const usesKafka = EVENT_LOG === 'kafka';
  const kafka =
    usesKafka || intakes.length > 0 ? new KafkaEventLog(database, kafkaOptions(environment, token, lanes)) : null;
  const sources = [
    lagSource<Topic>('lag', usesKafka ? kafka! : outbox, () => groupsOf(registered)),
    ...(usesKafka ? [lagSource<Topic>('relay', kafka!, () => [{ group: RELAY_GROUP, topics: TOPICS }])] : []),
    ...(intakes.length > 0
      ? [
          lagSource<IntakeTopic>('intake', kafka!, () =>
            intakes.map(({ topic }) => ({ group: topic, topics: [topic] })),
          ),
        ]
      : []),
  ];
  const readsOutbox = sources[usesKafka ? 1 : 0]!;
  const clearAge = clearOf(metrics.outboxAgeSeconds);
  const age: MetricsSource = {
    ...readsOutbox,
    read: async () => metrics.outboxAgeSeconds.set(await readsOutbox.read()),
    clear: () => {
      readsOutbox.clear();
      clearAge();
    },
  };
  return sources.map((source) => (source === readsOutbox ? age : source));
}

/** The service's own sagas, which have to run somewhere, and what any process has registered beside them: teams' own. */
async function groupsOf(registered: PostgresLogGroups): Promise<LogGroup[]> {
  const groups = new Map<string, LogGroup>();
  for (const one of [...(await registered.all()), ...sourcesOf(sagas)]) groups.set(one.group, one);
  return [...groups.values()];
}

interface LagSource {
  name: string;
  /** @returns the age of the oldest event that one of the groups has not handled, in seconds */
  read(): Promise<number>;
  clear(): void;
  everyMs?: number;
}

function lagSource<Name extends Topic | IntakeTopic>(
  name: string,
  log: { lag(group: string, topics: readonly Name[]): Promise<LaneLag[]> },
  groupsNow: () => MaybePromise<readonly { group: string; topics: readonly Name[] }[]>,
): LagSource {
  const shown = new Map<string, { group: string; lane: number }>();
  const hide = (some: typeof shown): void => {
    for (const [name, labels] of some) {
      for (const one of [metrics.lagEvents, metrics.lagSeconds]) one.remove(labels);
      shown.delete(name);
    }
  };
  return {
    name,
    ...(log instanceof KafkaEventLog && { everyMs: KAFKA_EVERY_MS }),
    read: async () => {
      let oldest = 0;
      const gone = new Map(shown);
      for (const { group, topics } of await groupsNow()) {
        for (const { lane, events, seconds } of await log.lag(group, topics)) {
          shown.set(`${group} ${lane}`, { group, lane });
          gone.delete(`${group} ${lane}`);
          metrics.lagEvents.set({ group, lane }, events);
          metrics.lagSeconds.set({ group, lane }, seconds);
          oldest = Math.max(oldest, seconds);
        }
      }
      hide(gone);
      return oldest;
    },
    clear: () => hide(shown),
  };
}

const outboxSource = (database: PostgresDatabase, lanes: Lanes, { OUTBOX_EVENTS_MAX }: Environment): MetricsSource => ({
  name: 'outbox',
  read: async () => {
    metrics.outboxEvents.set(await outboxBacklog(database, lanes));
    metrics.outboxEventsMax.set(OUTBOX_EVENTS_MAX);
  },
  clear: clearOf(metrics.outboxEvents, metrics.outboxEventsMax),
});

const deadLetterSource = (store: DeadLetterStore): MetricsSource => ({
  name: 'dead letters',
  read: async () => {
    const counts = await store.waitingByGroup();
    metrics.deadLetters.reset();
    for (const { group, letters } of counts) metrics.deadLetters.set({ group }, letters);
  },
  clear: () => metrics.deadLetters.reset(),
});

const flagSource = (flags: Flags): MetricsSource => ({
  name: 'flags',
  read: async () => {
    const counts = await flags.openByRule();
    metrics.flagsOpen.reset();
    for (const { rule, severity, flags: open } of counts) metrics.flagsOpen.set({ rule, severity }, open);
  },
  clear: () => metrics.flagsOpen.reset(),
});

const examinationSource = (examinations: RuleExaminations): MetricsSource => ({
  name: 'examinations',
  read: async () => {
    const counts = await examinations.waiting(EXAMINATIONS_COUNTED_MAX);
    metrics.examinationsWaiting.reset();
    for (const { rule, runs } of counts) metrics.examinationsWaiting.set({ rule }, runs);
  },
  clear: () => metrics.examinationsWaiting.reset(),
});

const settlementSource = (failures: SettlementFailures): MetricsSource => ({
  name: 'settlements',
  read: async () => metrics.settlementFailures.set(await failures.count()),
  clear: clearOf(metrics.settlementFailures),
});

const sanctionSource = (sanctions: Sanctions): MetricsSource => ({
  name: 'sanctions',
  read: async () => {
    const { byKind, pending } = await sanctions.count();
    for (const kind of SANCTION_KINDS) metrics.sanctionedPlayers.set({ kind }, byKind[kind]);
    metrics.sanctionsPending.set(pending);
  },
  clear: () => {
    metrics.sanctionedPlayers.reset();
    clearOf(metrics.sanctionsPending)();
  },
});

const closingSource = (lag: WindowCloseLag): MetricsSource => ({
  name: 'windows',
  read: async () => metrics.windowCloseLagSeconds.set(await lag.seconds()),
  clear: clearOf(metrics.windowCloseLagSeconds),
});

const revisionSource = (lag: RevisionLag): MetricsSource => ({
  name: 'revisions',
  read: async () => metrics.revisionLagSeconds.set(await lag.seconds()),
  clear: clearOf(metrics.revisionLagSeconds),
});

const nodeSource = (redis: RedisConnection): MetricsSource => ({
  name: 'redis nodes',
  read: async () => {
    const states = await redis.nodeStates();
    clearNodes();
    for (const { node, memoryBytes, memoryMaxBytes, seconds } of states) {
      metrics.redisMemoryBytes.set({ node }, memoryBytes);
      metrics.redisMemoryMaxBytes.set({ node }, memoryMaxBytes);
      metrics.redisNodeSeconds.set({ node }, seconds);
    }
  },
  clear: () => clearNodes(),
});

const clearNodes = (): void => {
  for (const one of [metrics.redisMemoryBytes, metrics.redisMemoryMaxBytes, metrics.redisNodeSeconds]) one.reset();
};

const generationSource = (boards: BoardCatalog): MetricsSource => ({
  name: 'generations',
  read: () => {
    const layouts = boards.all().map((board) => board.layouts);
    metrics.generations.set({ state: 'opening' }, layouts.filter(({ opening }) => opening !== null).length);
    metrics.generations.set({ state: 'retiring' }, layouts.filter(({ retiring }) => retiring !== null).length);
  },
  clear: () => metrics.generations.reset(),
});

const shardSource = (census: ShardCensus, windows: WindowCatalog): MetricsSource => ({
  name: 'shards',
  everyMs: SHARDS_EVERY_MS,
  read: async () => {
    await census.turn();
    const largest = await Promise.all(
      census
        .largest(SHARDS_SHOWN_MAX)
        .map(async (count) => ({ ...count, window: await windows.byUid(count.windowUid) })),
    );
    metrics.shardEntries.reset();
    for (const { boardId: board, window, shard, entries } of largest) {
      if (window) metrics.shardEntries.set({ board, window: window.id, shard }, entries);
    }
  },
  clear: () => metrics.shardEntries.reset(),
});

/** A gauge without labels is 0 from the start: this takes the value itself away. */
const clearOf =
  (...gauges: readonly Clearable[]): (() => void) =>
  () =>
    gauges.forEach((one) => one.remove());
