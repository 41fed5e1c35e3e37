export * from './event-log.js';
export * from './event-log.module.js';
export * from './topics.js';
export * from './kafka/log-change.js';
export * from './delivery/log-line.js';
export * from './kafka/kafka-options.js';
export * from './kafka/kept-kafka-token.js';
export * from './delivery/retriable.js';
export {
  deliver,
  describeCause,
  toLogBatch,
  type DeliveryOptions,
  type Park,
  type StoredRecord,
} from './delivery/delivery.js';
export * from './postgres/postgres-event-log.js';
export * from './postgres/postgres-log-ends.js';
export * from './postgres/postgres-log-groups.js';
export * from './kafka/kafka-event-log.js';
export * from './kafka/kafka-log-watch.js';
export { KafkaTopicError } from './kafka/kafka-topics.js';
export type { KafkaOptions } from './kafka/kafka-connection.js';
export * from './kafka/outbox-relay.js';
export * from './kafka/kafka-relay-target.js';
export * from './delivery/measured-group.js';
export { kafkaAccess } from './kafka/kafka-access.js';
export * from './intake.js';
export * from './kafka/kafka-intake.js';
export { parkAllInto, type DeadLetter, type ParkAll } from './postgres/postgres-dead-letters.js';
export * from './postgres/postgres-dead-letter-store.js';
