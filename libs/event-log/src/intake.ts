/** A message that another system wrote, as it stands in the topic. */
export interface IntakeMessage {
  partition: number;
  offset: number;
  key: Buffer | null;
  /** null is Kafka's tombstone. */
  value: Buffer | null;
}

/**
 * Settles at most LOG_BATCH_MAX messages of one partition, in their order. When it resolves, each of them is durable or
 * parked, and their offset may be committed; when it rejects, they come again. It ends soon after the signal aborts.
 */
export type IntakeHandler = (messages: readonly IntakeMessage[], signal: AbortSignal) => Promise<void>;

/** Topics that other systems write; in Kafka each is `<KAFKA_PREFIX>.<topic>`, and so is the group that reads it. */
export const INTAKE_TOPICS = ['in.scores', 'in.games'] as const;

export type IntakeTopic = (typeof INTAKE_TOPICS)[number];
