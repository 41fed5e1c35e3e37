import { isFrozen, LadderError, type StoredWindow } from '@laddercast/domain';
import { monotonicMs } from '@laddercast/platform';
import type { SqlRunner } from './postgres-database.js';

/** The ledger's own time, Unix ms. Under a lane's lock, decisions go by the time at that moment. */
export async function ledgerNowMs(sql: SqlRunner): Promise<number> {
  const [row] = await sql.query<{ now_ms: number }>(
    'SELECT floor(extract(epoch FROM ladder_now()) * 1000)::bigint AS now_ms',
  );
  return row!.now_ms;
}

/** How far two clocks that are not set drift apart at most: far more than those of servers do. */
const DRIFT = 0.0002;

/** The ledger's time at 0 of this process's monotonic clock, as it was known at `atMs` of that. */
interface KnownOffset {
  fromMs: number;
  toMs: number;
  atMs: number;
}

/**
 * The ledger's time as a process knows it without asking: an interval, since PostgreSQL read its clock at some moment
 * between question and answer. The overlap of all answers is kept. An answer outside it shows that PostgreSQL's clock
 * was set, or that another server took over, and replaces it. While PostgreSQL is away the last interval stands, and
 * grows by 0.2 ms a second.
 *
 * What a board shows is decided by this, never by the process's own clock.
 */
export class LedgerClock {
  private known: KnownOffset | null = null;

  /** Takes an answer of PostgreSQL (Unix ms, rounded down), between two readings of the monotonic clock. */
  learn(ledgerMs: number, askedAtMs: number, answeredAtMs: number): void {
    const heard = { fromMs: ledgerMs - answeredAtMs, toMs: ledgerMs + 1 - askedAtMs, atMs: answeredAtMs };
    const before = this.known && widened(this.known, answeredAtMs);
    const fromMs = Math.max(heard.fromMs, before?.fromMs ?? -Infinity);
    const toMs = Math.min(heard.toMs, before?.toMs ?? Infinity);
    this.known = fromMs <= toMs ? { ...heard, fromMs, toMs } : heard;
  }

  get isKnown(): boolean {
    return this.known !== null;
  }

  /** The ledger's time as near as it is known, Unix ms. @throws LEDGER_UNAVAILABLE as all of these before the first answer */
  nowMs(): number {
    return Math.floor((this.earliestMs() + this.latestMs()) / 2);
  }

  /** What comes later than this has not come, Unix ms. */
  latestMs(): number {
    const nowMs = monotonicMs();
    return nowMs + this.offsetAt(nowMs).toMs;
  }

  /** What comes before this is past, Unix ms. */
  earliestMs(): number {
    const nowMs = monotonicMs();
    return nowMs + this.offsetAt(nowMs).fromMs;
  }

  /** Whether everyone but admins sees the window as it stood at its freeze: also where it can only just be frozen, or still be. */
  isFrozen(window: Pick<StoredWindow, 'freezeAtMs' | 'endsAtMs' | 'state'>): boolean {
    return isFrozen(window, this.earliestMs(), this.latestMs());
  }

  private offsetAt(nowMs: number): KnownOffset {
    if (this.known === null) throw new LadderError('LEDGER_UNAVAILABLE', "The ledger's time is not known yet.");
    return widened(this.known, nowMs);
  }
}

function widened({ fromMs, toMs, atMs }: KnownOffset, nowMs: number): KnownOffset {
  const byMs = Math.max(0, nowMs - atMs) * DRIFT;
  return { fromMs: fromMs - byMs, toMs: toMs + byMs, atMs: nowMs };
}
