import { identityOfIntake, type IntakeKind, type MessageIntake } from '@laddercast/commands';
import { type Authenticator, type Identity } from '@laddercast/identity';
import { LadderError } from '@laddercast/domain';
import type { IntakeHandler } from '@laddercast/event-log';
import { sleep } from '@laddercast/platform';
import { Logger } from '@nestjs/common';

/** A key that is revoked stops the reading within this time, and one that is good again begins it. */
const LOOK_EVERY_MS = 30_000;
const LOOK_AGAIN_MS = 1000;

/** A topic that is read from `start` to `stop`. */
export interface IntakeReader {
  start(): void;
  stop(): Promise<void>;
}

/** A topic, and the key with whose rights it is read. */
export interface IntakeSource extends Pick<IntakeKind<unknown>, 'topic' | 'keySetting'> {
  readonly key: string;
}

interface Reading {
  identity: Identity;
  reader: IntakeReader;
}

/**
 * Reads a topic that other systems write, while the configured key may submit what they write. When it may not, the reading
 * stops; what is written meanwhile waits in Kafka.
 */
export class IntakeLifecycle {
  private readonly log: Logger;
  private readonly stopped = new AbortController();
  private reading: Reading | null = null;
  private running: Promise<void> | null = null;
  private said = '';

  constructor(
    private readonly authenticator: Authenticator,
    private readonly source: IntakeSource,
    private readonly intake: Pick<MessageIntake<unknown>, 'settle'>,
    private readonly open: (handler: IntakeHandler) => IntakeReader,
    private readonly lookEveryMs = LOOK_EVERY_MS,
  ) {
    this.log = new Logger(source.topic);
  }

  /** Why the topic is not read, null while it is. */
  get stands(): string | null {
    if (this.reading) return null;
    return `${this.source.topic} is not read: ${this.said || `the key of ${this.source.keySetting} has not been looked up yet`}`;
  }

  /** From here on the commands have their handlers. */
  start(): void {
    this.running ??= this.watchKey();
  }

  /** Before the ledger closes. */
  async stop(): Promise<void> {
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
      const identity = await identityOfIntake(this.authenticator, this.source.key);
      if (this.reading) this.reading.identity = identity;
      else if (!this.stopped.signal.aborted) this.startReading(identity);
      this.said = '';
      return true;
    } catch (error) {
      const { topic, keySetting } = this.source;
      const isRefused = error instanceof LadderError && !error.retriable;
      const why = error instanceof LadderError ? error.detail : String(error);
      if (isRefused) await this.stopReading();
      if (why !== this.said) {
        if (isRefused) this.log.error(`${topic} is not read, and its offsets stay: ${keySetting}: ${why}`);
        else this.log.warn(`${keySetting} cannot be looked up now: ${why}`);
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
