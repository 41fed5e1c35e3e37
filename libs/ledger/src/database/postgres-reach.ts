import type { Writable } from 'node:stream';
import { LadderError } from '@laddercast/domain';
import { monotonicMs, nap, nowMs, sleep, toTimestamp, type Nap } from '@laddercast/platform';
import type pg from 'pg';
import { isServersAnswer, sqlStateOf } from './postgres-errors.js';

/** After so long without a connection nobody waits for one any more. A restart mostly takes less. */
const AWAY_AFTER_MS = 2000;
const LOOK_EVERY_MS = 1000;
/** While it may come back in time for those who wait. */
const LOOK_SOON_MS = 200;
/** A server that says nothing for so long hangs; one that is only busy says something to somebody. */
const ANSWER_WITHIN_MS = 3000;
/** A timer that fires later than this shows that the machine is busy, and tells nothing about PostgreSQL. */
const TIMER_LATE_MS = 250;
const RETRY_AFTER_SECONDS = 2;

/** PostgreSQL's answers while it takes no connections: it stops, or has not started yet. */
const NOT_NOW = /^57P0[123]$/;

/**
 * Looks once a second whether PostgreSQL answers, on a connection of its own, so that nobody else has to find out by waiting.
 * A server that answers anything is there: why it refuses a statement is for who sent that.
 */
export class PostgresReach {
  private client: pg.Client | null = null;
  private connecting: Promise<pg.Client> | null = null;
  private lostAtMs: number | null = null;
  private seenAtMs = -Infinity;
  /** What was last logged: since when it was away. */
  private told: string | null = null;
  private pause: Nap | null = null;
  private looking: Promise<void> | null = null;
  private isStopped = false;

  /** @param newClient makes a client that is not connected yet, and gives up connecting by itself */
  constructor(private readonly newClient: () => pg.Client) {}

  /** Since when it has not answered, RFC 3339; null while it answers, or has not been away for two seconds yet. */
  get awaySince(): string | null {
    return this.isAway ? toTimestamp(nowMs() - (monotonicMs() - this.lostAtMs!)) : null;
  }

  /** @throws LEDGER_UNAVAILABLE while it is away */
  assertThere(): void {
    if (!this.isAway) return;
    const detail = 'The database has not answered for two seconds; nothing was stored. Send it again later.';
    throw new LadderError('LEDGER_UNAVAILABLE', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  /** To be called when it has answered somebody. */
  seen(): void {
    this.lostAtMs = null;
    this.seenAtMs = monotonicMs();
  }

  /** @param log told when it is away, and when it is back */
  start(log: (text: string) => void): void {
    this.looking ??= this.look(log);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.pause?.wake();
    await this.looking;
    this.drop();
  }

  private get isAway(): boolean {
    return this.lostAtMs !== null && monotonicMs() - this.lostAtMs >= AWAY_AFTER_MS;
  }

  private async look(log: (text: string) => void): Promise<void> {
    while (!this.isStopped) {
      const beganAtMs = monotonicMs();
      const isThere = await this.answers();
      if (isThere) this.seen();
      // PostgreSQL may have answered somebody else since the look began.
      else if (isThere === false) this.lostAtMs ??= Math.max(beganAtMs, this.seenAtMs);
      this.tell(log);
      this.pause = nap(this.lostAtMs !== null && !this.isAway ? LOOK_SOON_MS : LOOK_EVERY_MS);
      await this.pause.over;
    }
  }

  private tell(log: (text: string) => void): void {
    if (this.isAway && this.told === null) {
      this.told = this.awaySince;
      log('PostgreSQL has not answered for 2 s: what needs it is refused at once, until it does.');
    } else if (!this.isAway && this.told !== null) {
      log(`PostgreSQL answers again; it had not since ${this.told}.`);
      this.told = null;
    }
  }

  /** null: this process had no time to find out. */
  private async answers(): Promise<boolean | null> {
    const asking = this.ask().then(
      () => true,
      (error: unknown) => isServersAnswer(error) && !NOT_NOW.test(sqlStateOf(error) ?? ''),
    );
    const isThere = await Promise.race([asking, silence()]);
    if (isThere === false) this.drop();
    return isThere;
  }

  private async ask(): Promise<void> {
    this.connecting ??= this.connect();
    const client = await this.connecting;
    await client.query('SELECT 1');
  }

  /** One that takes long goes on while others look. */
  private async connect(): Promise<pg.Client> {
    const client = this.newClient();
    client.once('end', () => this.lose(client));
    try {
      await client.connect();
    } catch (error) {
      this.connecting = null;
      throw error;
    }
    this.client = client;
    if (this.isStopped) this.drop();
    return client;
  }

  private lose(client: pg.Client): void {
    if (this.client !== client) return;
    this.drop();
    this.lostAtMs ??= monotonicMs();
    this.pause?.wake();
  }

  private drop(): void {
    const { client } = this;
    if (!client) return;
    this.client = null;
    this.connecting = null;
    // A proper end would wait for a server that hangs.
    (client as unknown as { connection: { stream: Writable } }).connection.stream.destroy();
  }
}

/** false when there was time for an answer and none came; null when this process was too busy to tell. */
async function silence(): Promise<false | null> {
  const beganAtMs = monotonicMs();
  await sleep(ANSWER_WITHIN_MS);
  return monotonicMs() - beganAtMs > ANSWER_WITHIN_MS + TIMER_LATE_MS ? null : false;
}
