import { EventLog, measuredGroup, PostgresLogGroups, type LogBatch, type LogSubscription } from '@laddercast/event-log';
import { isTracing, traced } from '@laddercast/platform';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { Server, type CustomTransportStrategy, type MessageHandler } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import { assertSource, parseSagaPattern } from './saga-pattern.js';
import { TeamSagas, type TeamSaga } from './team-sagas.js';

/**
 * Runs sagas as a Nest microservice: each `@ConsumesLog(…)` handler is a consumer group of the log and
 * gets whole batches; the batch's offset is committed only after the handler resolved. A handler that fails gets its
 * batch again, by the rules of the log. The `LogSaga`s of teams run beside them, in the same way.
 */
@Injectable()
export class SagaServer extends Server implements CustomTransportStrategy {
  private subscriptions: LogSubscription[] = [];

  /**
   * @param groups where the groups are registered; null: nowhere
   * @param teams absent: none
   */
  constructor(
    private readonly eventLog: EventLog,
    @Inject(PostgresLogGroups) private readonly groups: PostgresLogGroups | null,
    @Optional() @Inject(TeamSagas) private readonly teams: TeamSagas | null = null,
  ) {
    super();
  }

  listen(listening: (error?: unknown) => void): void {
    this.subscribe().then(() => listening(), listening);
  }

  /** Finishes the batches in hand and commits them. */
  async close(): Promise<void> {
    const subscriptions = this.subscriptions;
    this.subscriptions = [];
    await Promise.all([this.groups?.stop(), ...subscriptions.map((subscription) => subscription.stop())]);
  }

  override on(): never {
    throw new Error('The saga server has no events of its own.');
  }

  override unwrap<T>(): T {
    return this.eventLog as T;
  }

  private async subscribe(): Promise<void> {
    const consumers = this.consumers();
    for (const { group, topics, handle } of consumers.values()) {
      const measured = measuredGroup(group);
      const measure = (batch: LogBatch): Promise<void> =>
        measured(batch.records.length, () => run(group, batch, () => handle(batch)));
      this.subscriptions.push(await this.eventLog.consume(group, topics, measure));
    }
    this.groups?.start([...consumers.values()].map(({ group, topics }) => ({ group, topics })));
  }

  /** By group. @throws when one cannot be run */
  private consumers(): Map<string, TeamSaga> {
    const consumers = new Map<string, TeamSaga>();
    const add = (one: TeamSaga, isShared = false): void => {
      const { group } = one;
      if (consumers.has(group) || isShared) {
        throw new Error(
          `Two sagas are consumer group "${group}": each would get only a part of its events. Rename one.`,
        );
      }
      consumers.set(group, one);
    };
    for (const [pattern, handler] of this.messageHandlers) {
      const handle = (batch: LogBatch): Promise<void> => handled(handler, batch);
      add({ ...parseSagaPattern(pattern), handle }, handler.next !== undefined);
    }
    for (const saga of this.teams?.all() ?? []) {
      assertSource(saga);
      add(saga);
    }
    return consumers;
  }
}

/** Each of the batch's sampled events has the saga's work in its trace. */
function run(group: string, batch: LogBatch, work: () => Promise<void>): Promise<void> {
  if (!isTracing()) return work();
  const parents = batch.records.flatMap(({ traceparent }) => traceparent ?? []);
  const attributes = { 'laddercast.lane': batch.lane, 'messaging.batch.message_count': batch.records.length };
  return traced(`saga ${group}`, { parents, kind: 'consumer', attributes }, work);
}

/** A handler that fails resolves to an observable that errors, so only the observable's end tells that it succeeded. */
async function handled(handler: MessageHandler, batch: LogBatch): Promise<void> {
  const result: unknown = await handler(batch);
  if (isObservable(result)) await lastValueFrom(result, { defaultValue: undefined });
}
