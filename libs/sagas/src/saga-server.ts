import {
  EventLog,
  measuredGroup,
  PostgresLogGroups,
  type LogBatch,
  type LogGroup,
  type LogSubscription,
} from '@laddercast/event-log';
import { isTracing, traced } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { Server, type CustomTransportStrategy, type MessageHandler } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import { parseSagaPattern } from './saga-pattern.js';

/**
 * Runs sagas as a Nest microservice: each `@ConsumesLog(…)` handler is a consumer group of the log and
 * gets whole batches; the batch's offset is committed only after the handler resolved. A handler that fails gets its
 * batch again, by the rules of the log.
 */
@Injectable()
export class SagaServer extends Server implements CustomTransportStrategy {
  private subscriptions: LogSubscription[] = [];

  /** @param groups where the groups are registered; null: nowhere */
  constructor(
    private readonly eventLog: EventLog,
    @Inject(PostgresLogGroups) private readonly groups: PostgresLogGroups | null,
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
    const sources = new Map<string, LogGroup>();
    for (const [pattern, handler] of this.messageHandlers) {
      const source = parseSagaPattern(pattern);
      const { group } = source;
      if (sources.has(group) || handler.next) {
        throw new Error(
          `Two sagas are consumer group "${group}": each would get only a part of its events. Rename one.`,
        );
      }
      sources.set(group, source);
    }
    for (const [pattern, handler] of this.messageHandlers) {
      const { group, topics } = parseSagaPattern(pattern);
      const measured = measuredGroup(group);
      const handle = (batch: LogBatch): Promise<void> =>
        measured(batch.records.length, () => run(handler, group, batch));
      this.subscriptions.push(await this.eventLog.consume(group, topics, handle));
    }
    this.groups?.start([...sources.values()]);
  }
}

/** Each of the batch's sampled events has the saga's work in its trace. */
function run(handler: MessageHandler, group: string, batch: LogBatch): Promise<void> {
  if (!isTracing()) return handle(handler, batch);
  const parents = batch.records.flatMap(({ traceparent }) => traceparent ?? []);
  const attributes = { 'laddercast.lane': batch.lane, 'messaging.batch.message_count': batch.records.length };
  return traced(`saga ${group}`, { parents, kind: 'consumer', attributes }, () => handle(handler, batch));
}

/** A handler that fails resolves to an observable that errors, so only the observable's end tells that it succeeded. */
async function handle(handler: MessageHandler, batch: LogBatch): Promise<void> {
  const result: unknown = await handler(batch);
  if (isObservable(result)) await lastValueFrom(result, { defaultValue: undefined });
}
