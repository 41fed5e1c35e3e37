import { EventPattern } from '@nestjs/microservices';
import { TOPICS, type Topic } from '@laddercast/event-log';

/** Which consumer group a saga is, and what it reads. */
export interface SagaSource {
  /** The saga's own consumer group: a slow saga holds up no other. */
  group: string;
  topics: readonly Topic[];
}

const SEPARATOR = ' reads ';

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
export const ConsumesLog = (source: SagaSource): MethodDecorator =>
  EventPattern(sagaPattern(source)) as MethodDecorator;
