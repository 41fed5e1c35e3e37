import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { metrics, monotonicMs, sleep, startSpan, type OpenSpan } from '@laddercast/platform';
import { WRITE_DEADLINE_MS } from '../lanes/commit-tries.js';
import { refuseOverload } from '../submissions/submission-outcomes.js';
import type { LedgerReceipt, LedgerWrite } from '../entries/ledger-writes.js';
import type { LaneWriter, WriteAttempt } from '../submissions/lane-writer.js';
import { decodeResults, encodeMessage, type HandedResult, type HandedWrite } from './lane-message.js';
import type { LaneLink } from './lane-link.js';
import type { LaneOwner } from './lane-owners.js';

/** How long an owner is waited for; then its writes are made here. */
export const PATIENCE_MS = WRITE_DEADLINE_MS / 10;
/** With so many on their way, what comes during a commit of the owner's joins the next one, and not the one after it. */
export const MESSAGES_AT_ONCE = 8;
/** As many as a commit takes. */
const MESSAGE_WRITES_MAX = 512;
const SETTLED_LOOK_MS = 5;

/** What a route asks of the rest. */
export interface LaneRouteParts {
  lane: number;
  writer: Pick<LaneWriter, 'write'>;
  link: Pick<LaneLink, 'send'>;
  /** The owner, where it is another process that answered lately. */
  owner(): LaneOwner | null;
  /** Told after each message whether its owner answered in time. */
  heard(owner: LaneOwner, isAnswered: boolean): void;
  /** The ledger's time, Unix ms. */
  nowMs(): number;
  queueMax: number;
}

interface WaitingWrite {
  write: HandedWrite;
  sinceMs: number;
  span: OpenSpan | null;
  resolve(receipt: LedgerReceipt): void;
  reject(error: unknown): void;
}

/**
 * The way of one lane's writes from this process: to its owner, what waits in one message; or into
 * this process's own commits. Writes of a player go on in the order in which they came, whichever way is taken.
 *
 * A message without an answer may have been committed, or be on its way: its writes are made here, and find themselves by
 * their ids where it was. Operators' overrides have no id, and are made here always.
 */
export class LaneRoute {
  private readonly queue: WaitingWrite[] = [];
  private looking: Promise<void> | null = null;
  private readonly messages = new Set<Promise<void>>();
  /** Those of whom a message is on its way. */
  private readonly players = new Set<string>();
  /** How many writes of a player are made here and not settled: none of that player is handed over before they are. */
  private readonly making = new Map<string, number>();

  constructor(private readonly parts: LaneRouteParts) {}

  /** @throws as {@link LaneWriter.write} */
  write(write: LedgerWrite): Promise<LedgerReceipt> {
    const { parts } = this;
    if (write.kind === 'override' || (!this.isBusy && parts.owner() === null)) return this.make(write);
    if (this.queue.length >= parts.queueMax) refuseOverload(write);
    const span = startSpan('ledger commit');
    const handed = {
      ...write,
      ...(span && { traceparent: span.traceparents[0]! }),
      ...(write.kind === 'submit' && { handOverId: nextHandOverId() }),
    };
    return new Promise((resolve, reject) => {
      this.queue.push({ write: handed, sinceMs: monotonicMs(), span, resolve, reject });
      this.look();
    });
  }

  /** Writes that wait, and those in messages that are on their way. */
  get waiting(): number {
    return this.queue.length + this.players.size;
  }

  /** Resolves once nothing waits any more. */
  async settled(): Promise<void> {
    while (this.isBusy) await sleep(SETTLED_LOOK_MS);
  }

  private get isBusy(): boolean {
    return this.queue.length > 0 || this.messages.size > 0;
  }

  /** Every write of this turn of the event loop joins the message. */
  private look(): void {
    this.looking ??= setImmediate().then(() => {
      this.looking = null;
      this.goOn();
    });
  }

  private goOn(): void {
    while (this.queue.length > 0) {
      const owner = this.parts.owner();
      if (owner === null) {
        // What is on its way comes first.
        if (this.messages.size === 0) for (const waiting of this.queue.splice(0)) this.makeHere(waiting, false);
        return;
      }
      const batch = this.messages.size < MESSAGES_AT_ONCE ? this.nextMessage() : [];
      if (batch.length === 0) return;
      for (const { write } of batch) this.players.add(write.playerId);
      const message = this.handOver(owner, batch).finally(() => {
        for (const { write } of batch) this.players.delete(write.playerId);
        this.messages.delete(message);
        this.goOn();
      });
      this.messages.add(message);
    }
  }

  /** What waits, up to the first write of a player of whom another one is on its way, and could be lost, or is made here. */
  private nextMessage(): WaitingWrite[] {
    const end = this.queue.findIndex(
      ({ write: { playerId } }) => this.players.has(playerId) || this.making.has(playerId),
    );
    return this.queue.splice(0, Math.min(MESSAGE_WRITES_MAX, end < 0 ? this.queue.length : end));
  }

  private async handOver(owner: LaneOwner, batch: readonly WaitingWrite[]): Promise<void> {
    const results = await this.send(owner, batch);
    const again = results?.some((result) => 'again' in result) ?? true;
    this.parts.heard(owner, !again);
    batch.forEach((waiting, at) => {
      const result = results?.[at] ?? { again: 'not known' };
      if ('again' in result) this.makeHere(waiting, result.again === 'not known');
      else settle(waiting, result);
    });
  }

  private async send(owner: LaneOwner, batch: readonly WaitingWrite[]): Promise<HandedResult[] | null> {
    const { lane, link, nowMs } = this.parts;
    const message = encodeMessage({ lane, sentAtMs: nowMs(), writes: batch.map(({ write }) => write) });
    const answer = await link.send(owner, message, PATIENCE_MS);
    const results = answer === null ? null : decodeResults(answer, batch.length);
    metrics.writesHandedOver.inc({ answer: results === null ? 'none' : 'came' }, batch.length);
    return results;
  }

  /** @param unsettled whether it may be committed already */
  private makeHere(waiting: WaitingWrite, unsettled: boolean): void {
    const { write, sinceMs } = waiting;
    const attempt = { sinceMs, expiresAtMs: sinceMs + WRITE_DEADLINE_MS, unsettled, isHandedOver: false };
    // A refusal at once is one like any other.
    void new Promise<LedgerReceipt>((resolve) => resolve(this.make(write, attempt))).then(
      (receipt) => settle(waiting, { receipt }),
      (error: unknown) => refuse(waiting, error),
    );
  }

  private make(write: LedgerWrite, attempt?: WriteAttempt): Promise<LedgerReceipt> {
    const made = this.parts.writer.write(write, attempt);
    const { making } = this;
    making.set(write.playerId, (making.get(write.playerId) ?? 0) + 1);
    const settled = (): void => {
      const left = making.get(write.playerId)! - 1;
      if (left > 0) return void making.set(write.playerId, left);
      making.delete(write.playerId);
      this.goOn();
    };
    void made.then(settled, settled);
    return made;
  }
}

/** Of this process, among those of all. */
const PROCESS_ID = randomBytes(6).toString('base64url');
let handedOver = 0;
const nextHandOverId = (): string => `${PROCESS_ID}${(handedOver += 1).toString(36)}`;

function settle(waiting: WaitingWrite, result: Exclude<HandedResult, { again: string }>): void {
  if ('error' in result) return refuse(waiting, result.error);
  waiting.span?.end();
  waiting.resolve(result.receipt);
}

function refuse({ span, reject }: WaitingWrite, error: unknown): void {
  span?.end(error);
  reject(error);
}
