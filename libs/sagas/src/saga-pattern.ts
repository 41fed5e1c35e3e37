import { EventPattern } from '@nestjs/microservices';
import { TOPICS, type Topic } from '@laddercast/event-log';

/** Which consumer group a saga is, and what it reads. */
export interface SagaSource {
  /** The saga's own consumer group: a slow saga holds up no other. */
  group: string;
  topics: readonly Topic[];
}

const SEPARATOR = ' reads ';
const SOURCES = Symbol('consumer groups');

/** The pattern that a batch handler is registered under. */
export const sagaPattern = ({ group, topics }: SagaSource): string => `${group}${SEPARATOR}${topics.join(' ')}`;

/** @throws when the pattern is not one of {@link sagaPattern} */
export function parseSagaPattern(pattern: string): SagaSource {
  const [group, topicNames] = pattern.split(SEPARATOR);
  const topics = (topicNames ?? '').split(' ');
  const unknown = topics.find((topic) => !TOPICS.includes(topic as Topic));
  if (!group || unknown !== undefined) {
    throw new Error(
      `"${pattern}" is no saga's pattern: use @ConsumesLog({ group, topics }) with topics of ${TOPICS.join(', ')}.`,
    );
  }
  return { group, topics: topics as Topic[] };
}

/** Makes a method the batch handler of a consumer group: it gets every {@link LogBatch} of the topics, lane by lane. */
export const ConsumesLog =
  (source: SagaSource): MethodDecorator =>
  (saga, name, method) => {
    const sources = (Reflect.getOwnMetadata(SOURCES, saga.constructor) ?? []) as SagaSource[];
    Reflect.defineMetadata(SOURCES, [...sources, source], saga.constructor);
    (EventPattern(sagaPattern(source)) as MethodDecorator)(saga, name, method);
  };

/** The consumer groups that these sagas are, with what they read. */
export const sourcesOf = (sagas: readonly object[]): SagaSource[] =>
  sagas.flatMap((saga) => (Reflect.getOwnMetadata(SOURCES, saga) ?? []) as SagaSource[]);
