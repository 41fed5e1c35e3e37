import { EventLog, KafkaEventLog } from '@laddercast/event-log';
import { PostgresDatabase, schemaVersion } from '@laddercast/ledger';
import { monotonicMs, nowMs, sleep, toTimestamp } from '@laddercast/platform';
import { ProjectionWatch, RedisConnection } from '@laddercast/projections';
import { Inject, Injectable, Optional } from '@nestjs/common';

/** How one thing that the process works with stands. */
export interface ComponentState {
  /**
   * refused: it is there, and does nothing for us; recovering: entries are being brought back from PostgreSQL; older, newer:
   * the schema is not this release's.
   */
  state: 'ok' | 'missing' | 'refused' | 'recovering' | 'older' | 'newer';
  /** When this process first saw it so. */
  since: string;
  [detail: string]: unknown;
}

export interface ReadinessReport {
  status: 'ok' | 'missing';
  /** What requests cannot be answered without. */
  missing: string[];
  components: Record<string, ComponentState>;
}

/** What does not answer in time counts as missing: a hung server holds its connections open. */
const ANSWER_WITHIN_MS = 2000;
/** A look at Kafka opens a connection: probes of this time share one. */
const KAFKA_LOOK_EVERY_MS = 10_000;

/** Looks at each component of a process, and remembers since when it stands as it does. */
@Injectable()
export class Readiness {
  private readonly seen = new Map<string, { state: string; since: string }>();
  private looking: Promise<ReadinessReport> | null = null;
  private kafka: { isThere: boolean; atMs: number } | null = null;

  /** @param eventLog where this process reads the log; null where it does not */
  constructor(
    private readonly database: PostgresDatabase,
    private readonly redis: RedisConnection,
    private readonly watch: ProjectionWatch,
    @Optional() @Inject(EventLog) private readonly eventLog: EventLog | null = null,
  ) {}

  /** Calls that come while a look is under way share it. It never rejects, and ends within some two seconds. */
  look(): Promise<ReadinessReport> {
    this.looking ??= this.lookAtAll().finally(() => (this.looking = null));
    return this.looking;
  }

  private async lookAtAll(): Promise<ReadinessReport> {
    const { database, redis, eventLog } = this;
    const [schema, masters, kafka] = await Promise.all([
      within(schemaVersion(database), null),
      redis.masterStates(ANSWER_WITHIN_MS),
      eventLog instanceof KafkaEventLog ? this.lookAtKafka(eventLog) : null,
    ]);
    const { awaySince } = database.reach;
    const isRedisThere = masters.length > 0 && masters.every(({ answers }) => answers);
    const components: Record<string, ComponentState> = {
      postgresql: this.component('postgresql', schema ? 'ok' : 'missing', awaySince === null ? {} : { awaySince }),
      redis: this.component('redis', isRedisThere ? 'ok' : redis.refusal === null ? 'missing' : 'refused', {
        ...(!isRedisThere && redis.refusal !== null && { reason: redis.refusal }),
        shards: masters.map(({ slots, answers }) =>
          this.component(`redis ${slots}`, answers ? 'ok' : 'missing', { slots }),
        ),
      }),
      ranks: this.ranks(),
      ...(schema && { schema: this.component('schema', schemaState(schema), { version: schema.applied }) }),
      ...(kafka !== null && { kafka: this.component('kafka', kafka ? 'ok' : 'missing') }),
    };
    // Without Kafka requests are answered all the same.
    const missing = ['postgresql', 'redis'].filter((name) => components[name]!.state !== 'ok');
    return { status: missing.length > 0 ? 'missing' : 'ok', missing, components };
  }

  private ranks(): ComponentState {
    const lanes = this.watch.lanesBehind;
    return this.component('ranks', lanes.length > 0 ? 'recovering' : 'ok', lanes.length > 0 ? { lanes } : {});
  }

  private component(name: string, state: ComponentState['state'], details: object = {}): ComponentState {
    const known = this.seen.get(name);
    const since = known?.state === state ? known.since : toTimestamp(nowMs());
    this.seen.set(name, { state, since });
    return { state, since, ...details };
  }

  private async lookAtKafka(log: KafkaEventLog): Promise<boolean> {
    const last = this.kafka;
    if (last !== null && monotonicMs() - last.atMs < KAFKA_LOOK_EVERY_MS) return last.isThere;
    const isThere = await within(
      log.identity().then(() => true),
      false,
    );
    this.kafka = { isThere, atMs: monotonicMs() };
    return isThere;
  }
}

function schemaState({ applied, known }: { applied: string; known: string }): ComponentState['state'] {
  if (applied === known) return 'ok';
  return timeOf(applied) > timeOf(known) ? 'newer' : 'older';
}

/** Migrations end in the time that they were made at, which orders them. */
const timeOf = (migration: string): number => Number(/\d+$/.exec(migration)?.[0] ?? 0);

function within<T>(check: Promise<T>, otherwise: T): Promise<T> {
  const answered = check.catch(() => otherwise);
  return Promise.race([answered, sleep(ANSWER_WITHIN_MS).then(() => otherwise)]);
}
