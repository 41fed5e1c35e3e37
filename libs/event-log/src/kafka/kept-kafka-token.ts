import { Extensions } from '@laddercast/extension';
import { inTime, monotonicMs } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';

const ANSWERS_WITHIN_MS = 8000;
/** The share of its lifetime after which a token is replaced. */
const USED_FOR = 0.8;

/** The token of a team's `KafkaTokens`, kept while it is valid. */
@Injectable()
export class KeptKafkaToken {
  private kept: { value: string; renewAtMs: number; endsAtMs: number } | null = null;
  private asking: Promise<void> | null = null;

  /** @param extensions looked at when a token is needed: modules may bring theirs after Kafka is first tried */
  constructor(private readonly extensions: Extensions) {}

  /** @throws when there is no valid one */
  async value(): Promise<string> {
    if (this.kept === null || monotonicMs() >= this.kept.renewAtMs) {
      this.asking ??= this.renew().finally(() => (this.asking = null));
      await this.asking.catch((error: unknown) => {
        if (this.kept === null || monotonicMs() >= this.kept.endsAtMs) throw error;
      });
    }
    return this.kept!.value;
  }

  private async renew(): Promise<void> {
    const tokens = this.extensions.kafkaTokens;
    if (tokens === null)
      throw new Error('KAFKA_SASL_MECHANISM=oauthbearer needs a KafkaTokens among the extensions of a module');
    const askedAtMs = monotonicMs();
    const { value, lifetimeSeconds } = await inTime(
      tokens.token(),
      ANSWERS_WITHIN_MS,
      `${tokens.constructor.name} gave no token within ${ANSWERS_WITHIN_MS / 1000} s`,
    );
    if (typeof value !== 'string' || value === '' || !(lifetimeSeconds > 0))
      throw new Error(`${tokens.constructor.name} gave no token with a value and a lifetime`);
    const lifetimeMs = lifetimeSeconds * 1000;
    this.kept = { value, renewAtMs: askedAtMs + lifetimeMs * USED_FOR, endsAtMs: askedAtMs + lifetimeMs };
  }
}
