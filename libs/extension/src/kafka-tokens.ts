export interface KafkaToken {
  /** As the brokers are sent it. It must not be logged. */
  value: string;
  /** For how many seconds from now it counts, as `expires_in` of OAuth 2 says. */
  lifetimeSeconds: number;
}

/**
 * Gives the tokens that this process names itself with to Kafka's brokers; used with `KAFKA_SASL_MECHANISM=oauthbearer`,
 * which has no default. `KAFKA_TLS=true` keeps tokens from being read on their way.
 *
 * It is asked before the first connection, and again when less than a fifth of a token's lifetime is left; those that
 * connect meanwhile share its answer. It may do I/O: after eight seconds the call counts as failed. A failure leaves the
 * token before in use for as long as it counts; without one, Kafka is away until a later call succeeds.
 */
export abstract class KafkaTokens {
  abstract token(): Promise<KafkaToken>;
}
