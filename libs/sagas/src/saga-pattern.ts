import { EventPattern } from '@nestjs/microservices';
import { INTAKE_TOPICS, RELAY_GROUP, TOPICS, type LogGroup, type Topic } from '@laddercast/event-log';

const SEPARATOR = ' reads ';
/** A name that Kafka, Prometheus and the query of dead letters take as it is. */
const GROUP = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const NOT_FOR_SAGAS: readonly string[] = [RELAY_GROUP, ...INTAKE_TOPICS];
const SOURCES = Symbol('consumer groups');

/** The pattern that a batch handler is registered under. */
export const sagaPattern = ({ group, topics }: LogGroup): string => `${group}${SEPARATOR}${topics.join(' ')}`;

/** @throws when the pattern is not one of {@link sagaPattern} */
export function parseSagaPattern(pattern: string): LogGroup {
  const [group, topicNames] = pattern.split(SEPARATOR);
  const topics = (topicNames ?? '').split(' ');
  const unknown = topics.find((topic) => !TOPICS.includes(topic as Topic));
  if (!group || unknown !== undefined) {
    throw new Error(
      `"${pattern}" is no saga's pattern: use @ConsumesLog({ group, topics }) with topics of ${TOPICS.join(', ')}.`,
    );
  }
  assertGroupName(group);
  return { group, topics: topics as Topic[] };
}

/** @throws when a saga cannot be this consumer group */
export function assertGroupName(group: string): void {
  if (GROUP.test(group) && !NOT_FOR_SAGAS.includes(group)) return;
  throw new Error(
    `"${group}" cannot be a saga's consumer group: use 1-64 of a-z, 0-9, "." "_" "-", and none of ${NOT_FOR_SAGAS.join(', ')}.`,
  );
}

/** @throws when a team's saga cannot be run as what it says of itself */
export function assertSource({ group, topics }: LogGroup): void {
  assertGroupName(group);
  const unknown = topics.find((topic) => !TOPICS.includes(topic));
  if (topics.length > 0 && unknown === undefined) return;
  const found = unknown === undefined ? 'reads no topic' : `reads "${unknown}", which is no topic`;
  throw new Error(`The saga "${group}" ${found}: use some of ${TOPICS.join(', ')}.`);
}

/**
 * Makes a method the batch handler of a consumer group of its own, so that a slow one holds up no other: it gets every
 * {@link LogBatch} of the topics, lane by lane.
 */
export const ConsumesLog =
  (source: LogGroup): MethodDecorator =>
  (saga, name, method) => {
    const sources = (Reflect.getOwnMetadata(SOURCES, saga.constructor) ?? []) as LogGroup[];
    Reflect.defineMetadata(SOURCES, [...sources, source], saga.constructor);
    (EventPattern(sagaPattern(source)) as MethodDecorator)(saga, name, method);
  };

/** The consumer groups of these sagas, with the topics that they read. */
export const sourcesOf = (sagas: readonly object[]): LogGroup[] =>
  sagas.flatMap((saga) => (Reflect.getOwnMetadata(SOURCES, saga) ?? []) as LogGroup[]);
