import { ERRORS, LadderError } from '@laddercast/domain';
import {
  isRetriable,
  reasonOf,
  type DeadLetter,
  type IntakeMessage,
  type IntakeTopic,
  type LogLine,
  type ParkAll,
} from '@laddercast/event-log';
import type { Identity } from '@laddercast/identity';
import { backoffMs, monotonicMs, retryWhile, sleep, type Backoff } from '@laddercast/platform';
import type { CommandBus } from '@nestjs/cqrs';
import { itemOf, textOf, type IntakeKind } from './intake-kinds.js';

/** How much of a refused message, and of its key, is kept, in bytes. */
const PARKED_BYTES_MAX = 1024 * 1024;
const PARKED_KEY_BYTES_MAX = 1024;
/**
 * A message that fails this often by itself, on our side or in a check of a team, is parked: the partition must not stand
 * still for ever. Tries while something is away or full do not count.
 */
export const OWN_TRIES_MAX = 30;
const BACKOFF: Backoff = { firstMs: 100, maxMs: 5000 };
const LINE_EVERY_MS = 10_000;

export interface MessageIntakeParts<Item> {
  kind: IntakeKind<Item>;
  commands: Pick<CommandBus, 'execute'>;
  park: ParkAll;
  log: LogLine;
  /** How long to wait between tries; 100 ms growing to 5 s when not given. */
  backoff?: Backoff;
}

interface Read<Item> {
  message: IntakeMessage;
  item: Item;
  /** How often it failed by itself. */
  failures: number;
}
interface Refused {
  message: IntakeMessage;
  problem: LadderError;
}

/**
 * Takes what other systems write as messages, each one JSON object as in a batch over REST. Every message ends durable in
 * the ledger, or parked with its problem; what can succeed later is tried again for ever. A check that fails may ask what is
 * away: its messages are parked only where it takes others of their board meanwhile, or there are none.
 */
export class MessageIntake<Item> {
  private parkedUnsaid = 0;
  private readonly saidAtMs = { parked: -Infinity, waits: -Infinity };

  constructor(private readonly parts: MessageIntakeParts<Item>) {}

  /**
   * Resolves when every message is durable or parked. They are submitted in their order; of those that have to be tried
   * again, a submission may count after later ones, a game is recorded before the later ones of its pool.
   * @throws when the signal aborts before
   */
  async settle(identity: Identity, messages: readonly IntakeMessage[], signal: AbortSignal): Promise<void> {
    const { kind, backoff = BACKOFF } = this.parts;
    const refused: Refused[] = [];
    let waiting: Read<Item>[] = [];
    for (const message of messages) {
      const item = itemOf(kind, message.value);
      if (item instanceof LadderError) refused.push({ message, problem: item });
      else waiting.push({ message, item, failures: 0 });
    }
    await this.parkAll(refused, signal);
    const counted: Read<Item>[] = [];
    for (let tries = 1; waiting.length > 0; tries += 1) {
      signal.throwIfAborted();
      const failed = await this.submit(identity, waiting);
      counted.push(...without(waiting, failed));
      const failedInChecks = await this.failedInChecks(identity, failed, counted);
      const own = failed.filter((one) => isOfTheMessage(one) || failedInChecks.includes(one));
      await this.parkAll(own, signal);
      const again = without(failed, own);
      waiting = again.map(({ message, item, failures }) => ({ message, item, failures }));
      if (waiting.length === 0) return;
      this.sayWaiting(again);
      await sleep(backoffMs(tries - 1, backoff.firstMs, backoff.maxMs), signal);
    }
  }

  /** @returns the messages that do not count, in their order */
  private async submit(identity: Identity, batch: readonly Read<Item>[]): Promise<(Read<Item> & Refused)[]> {
    const { kind, commands } = this.parts;
    const items = batch.map(({ item }) => item);
    const results = await kind.submit(commands, identity, items).catch((error: unknown) => {
      const problem = new LadderError('LEDGER_UNAVAILABLE', 'The batch was not taken.', {}, { cause: error });
      return batch.map(() => problem);
    });
    return batch.flatMap((one, index) => {
      const result = results[index];
      if (!(result instanceof LadderError)) return [];
      return [{ ...one, problem: result, failures: one.failures + (failsByItself(result) ? 1 : 0) }];
    });
  }

  /**
   * Of these the ones that a check has failed on by themselves so often, and does not say that a retry can help. Those of the
   * batch that it took are sent once more, which changes nothing.
   */
  private async failedInChecks(
    identity: Identity,
    failed: readonly (Read<Item> & Refused)[],
    counted: readonly Read<Item>[],
  ): Promise<(Read<Item> & Refused)[]> {
    const boardOf = ({ item }: Read<Item>): string | null => this.parts.kind.boardOf(item);
    const inChecks = failed.filter(({ problem }) => isOfACheck(problem));
    const suspects = inChecks.filter(
      ({ problem, failures }) => failsByItself(problem) && failures % OWN_TRIES_MAX === 0,
    );
    const boards = new Set(suspects.map(boardOf));
    const others = counted.filter((one) => boards.has(boardOf(one)));
    const taken = others.length === 0 ? [] : without(others, await this.submit(identity, others));
    return suspects.filter((one) => {
      const isOfItsBoard = (other: Read<Item>): boolean => boardOf(other) === boardOf(one);
      if (others.some(isOfItsBoard)) return taken.some(isOfItsBoard);
      return inChecks.filter(isOfItsBoard).length === 1;
    });
  }

  /** The partition waits until the message is parked: none is skipped without a trace. */
  private async parkAll(refused: readonly Refused[], signal: AbortSignal): Promise<void> {
    if (refused.length === 0) return;
    const { kind, park, log, backoff = BACKOFF } = this.parts;
    const letters = refused.map((one) => toDeadLetter(kind.topic, one));
    await retryWhile(
      () => park(letters),
      () => true,
      {
        backoff,
        signal,
        onFailure: (error) => log('warn', `Refused messages cannot be parked yet: ${reasonOf(error)}`),
      },
    );
    this.sayParked(refused);
  }

  private sayParked(refused: readonly Refused[]): void {
    this.parkedUnsaid += refused.length;
    if (!this.isDue('parked')) return;
    const { message, problem } = refused.at(-1)!;
    this.parts.log(
      'warn',
      `Messages of ${this.parts.kind.topic} were refused and are parked in dead_letters; the last: ${reasonOf(problem)}`,
      {
        messages: this.parkedUnsaid,
        ...placeOf(message),
        ...(problem.cause === undefined ? {} : { cause: reasonOf(problem.cause) }),
      },
    );
    this.parkedUnsaid = 0;
  }

  private sayWaiting(again: readonly Refused[]): void {
    if (!this.isDue('waits')) return;
    const { message, problem } = again[0]!;
    this.parts.log('warn', `Messages of ${this.parts.kind.topic} wait: ${reasonOf(problem)}`, {
      messages: again.length,
      ...placeOf(message),
      ...(problem.cause === undefined ? {} : { cause: reasonOf(problem.cause) }),
    });
  }

  /** Lines that could come with every batch are written at most once in ten seconds. */
  private isDue(line: keyof typeof this.saidAtMs): boolean {
    const now = monotonicMs();
    if (now - this.saidAtMs[line] < LINE_EVERY_MS) return false;
    this.saidAtMs[line] = now;
    return true;
  }
}

/** Those of the first whose message is not in the second. */
function without<One extends { message: IntakeMessage }>(
  all: readonly One[],
  some: readonly { message: IntakeMessage }[],
): One[] {
  const left = new Set(some.map(({ message }) => message));
  return all.filter(({ message }) => !left.has(message));
}

const placeOf = ({ partition, offset }: IntakeMessage): object => ({ partition, offset });

const isOfACheck = ({ code, extensions }: LadderError): boolean => code === 'OVERLOADED' && 'check' in extensions;

/** Whether a retry can hardly help, though the problem can pass: nothing is away or full. */
const failsByItself = (problem: LadderError): boolean =>
  problem.code === 'INTERNAL' || (isOfACheck(problem) && !isRetriable(problem.cause));

/**
 * Whether the same message would always fail. Missing rights of the key are not the message's fault: without them
 * nothing is read.
 */
function isOfTheMessage({ problem: { code }, failures }: Read<unknown> & Refused): boolean {
  if (code === 'UNAUTHENTICATED' || code === 'FORBIDDEN') return false;
  if (code === 'INTERNAL') return failures >= OWN_TRIES_MAX;
  return !ERRORS[code].retriable;
}

/** The message as it came: as text, or in base64 if PostgreSQL's text cannot hold it; the problem says so then. */
function toDeadLetter(topic: IntakeTopic, { message, problem }: Refused): DeadLetter {
  const { partition, offset, key } = message;
  const value = message.value ?? Buffer.alloc(0);
  const kept = value.subarray(0, PARKED_BYTES_MAX);
  const text = textOf(kept);
  const isText = text !== null && !text.includes('\0');
  const cause = {
    ...problem.toProblem(),
    ...(isText ? {} : { payloadEncoding: 'base64' }),
    ...(kept.length < value.length ? { payloadBytes: value.length, payloadBytesKept: kept.length } : {}),
  };
  return {
    record: {
      lane: partition,
      position: offset,
      topic,
      key: (key ?? Buffer.alloc(0)).subarray(0, PARKED_KEY_BYTES_MAX).toString(),
      payload: isText ? text : kept.toString('base64'),
    },
    cause: JSON.stringify(cause),
  };
}
