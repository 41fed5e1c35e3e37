import { OUTBOX_CHANNEL, type PostgresDatabase } from '@laddercast/ledger';
import { backoffMs, nap, sleep, type Nap } from '@laddercast/platform';
import { reasonOf, type LogLine } from '../delivery/log-line.js';

type Connection = Awaited<ReturnType<PostgresDatabase['listener']>>;

const RETRY = { firstMs: 100, maxMs: 5000 };
/** A connection that died silently is noticed within this time. */
const PROBE_EVERY_MS = 15_000;

/** Hears NOTIFY when a lane has new rows. A notification may be lost, so consumers also look by themselves. */
export class PostgresOutboxListener {
  private readonly waiting = new Map<number, Set<Nap>>();
  private readonly heard = new Map<number, number>();
  private readonly stopped = new AbortController();
  private running: Promise<void> | null = null;

  constructor(
    private readonly database: Pick<PostgresDatabase, 'listener'>,
    private readonly log: LogLine,
  ) {}

  start(): void {
    this.running ??= this.listen();
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  /** How many notifications of the lane were heard so far. */
  words(lane: number): number {
    return this.heard.get(lane) ?? 0;
  }

  /**
   * Resolves when more than `words` notifications of the lane were heard, after `timeoutMs`, or when the signal aborts;
   * it never rejects.
   */
  async wait(lane: number, words: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.words(lane) !== words) return;
    const waiting = nap(timeoutMs, signal);
    const ofLane = this.waiting.get(lane) ?? new Set();
    this.waiting.set(lane, ofLane.add(waiting));
    await waiting.over;
    ofLane.delete(waiting);
  }

  private async listen(): Promise<void> {
    for (let failures = 0; !this.stopped.signal.aborted; failures += 1) {
      try {
        const connection = await this.database.listener();
        try {
          failures = 0;
          await this.hear(connection);
        } finally {
          await connection.end().catch(() => undefined);
        }
      } catch (error) {
        this.log('warn', `No wakings from PostgreSQL, looking now and then instead: ${reasonOf(error)}`);
        await sleep(backoffMs(failures, RETRY.firstMs, RETRY.maxMs), this.stopped.signal);
      }
    }
  }

  /** Ends when stopped. @throws when the connection breaks */
  private async hear(connection: Connection): Promise<void> {
    const broken = new AbortController();
    let cause: unknown = new Error('the connection was closed');
    connection.on('error', (error) => {
      cause = error;
      broken.abort();
    });
    connection.on('end', () => broken.abort());
    connection.on('notification', ({ payload }) => this.wake(Number(payload)));
    await connection.query(`LISTEN ${OUTBOX_CHANNEL}`);
    const ending = AbortSignal.any([broken.signal, this.stopped.signal]);
    while (!ending.aborted) {
      await sleep(PROBE_EVERY_MS, ending);
      if (!ending.aborted) await probe(connection, ending);
    }
    if (!this.stopped.signal.aborted) throw cause;
  }

  private wake(lane: number): void {
    this.heard.set(lane, this.words(lane) + 1);
    for (const waiting of this.waiting.get(lane) ?? []) waiting.wake();
  }
}

/** Resolves once the connection has answered, or the signal aborts. @throws when it does not answer */
async function probe(connection: Connection, ending: AbortSignal): Promise<void> {
  const waiting = nap(PROBE_EVERY_MS, ending);
  try {
    await Promise.race([connection.query('SELECT 1'), waiting.over]);
  } finally {
    waiting.wake();
  }
}
