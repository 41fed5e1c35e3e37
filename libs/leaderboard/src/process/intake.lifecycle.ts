import { identityOfIntake, type ScoreIntake } from '@laddercast/commands';
import { type Authenticator, type Identity } from '@laddercast/identity';
import { LadderError } from '@laddercast/domain';
import type { IntakeHandler } from '@laddercast/event-log';
import { sleep } from '@laddercast/platform';
import { Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';

/** A key that is revoked stops the reading within this time, and one that is good again begins it. */
const LOOK_EVERY_MS = 30_000;
const LOOK_AGAIN_MS = 1000;

/** A topic that is read from `start` to `stop`. */
export interface IntakeReader {
  start(): void;
  stop(): Promise<void>;
}

interface Reading {
  identity: Identity;
  reader: IntakeReader;
}

/**
 * Reads `in.scores` while the configured key may submit scores. When it may not, the reading stops; what is written
 * meanwhile waits in Kafka.
 */
export class ScoreIntakeLifecycle implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = new Logger('in.scores');
  private readonly stopped = new AbortController();
  private reading: Reading | null = null;
  private running: Promise<void> | null = null;
  private said = '';

  constructor(
    private readonly authenticator: Authenticator,
    private readonly intake: ScoreIntake,
    private readonly key: string,
    private readonly open: (handler: IntakeHandler) => IntakeReader,
    private readonly lookEveryMs = LOOK_EVERY_MS,
  ) {}

  /** Why the topic is not read, null while it is. */
  get stands(): string | null {
    return this.reading ? null : this.said || 'the key of KAFKA_IN_SCORES_KEY has not been looked up yet';
  }

  /** From here on the commands have their handlers. */
  onApplicationBootstrap(): void {
    this.running ??= this.watchKey();
  }

  /** Before the ledger closes. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopped.abort();
    await this.running;
    await this.stopReading();
  }

  private async watchKey(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      const isCertain = await this.look();
      await sleep(isCertain ? this.lookEveryMs : Math.min(LOOK_AGAIN_MS, this.lookEveryMs), this.stopped.signal);
    }
  }

  /** Whether it is known now what the key may do; while it is not, all stays as it is. */
  private async look(): Promise<boolean> {
    try {
      const identity = await identityOfIntake(this.authenticator, this.key);
      if (this.reading) this.reading.identity = identity;
      else if (!this.stopped.signal.aborted) this.startReading(identity);
      this.said = '';
      return true;
    } catch (error) {
      const isRefused = error instanceof LadderError && !error.retriable;
      const why = error instanceof LadderError ? error.detail : String(error);
      if (isRefused) await this.stopReading();
      if (why !== this.said) {
        if (isRefused) this.log.error(`in.scores is not read, and its offsets stay: KAFKA_IN_SCORES_KEY: ${why}`);
        else this.log.warn(`KAFKA_IN_SCORES_KEY cannot be looked up now: ${why}`);
      }
      this.said = why;
      return isRefused;
    }
  }

  private startReading(identity: Identity): void {
    const reader = this.open((messages, signal) => this.intake.settle(reading.identity, messages, signal));
    const reading: Reading = { identity, reader };
    this.reading = reading;
    reader.start();
  }

  private async stopReading(): Promise<void> {
    const { reading } = this;
    this.reading = null;
    await reading?.reader.stop();
  }
}
