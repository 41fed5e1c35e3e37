import { inTimeOr } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { LRUCache } from 'lru-cache';
import { isDatabaseUnavailable } from '../database/postgres-errors.js';

/**
 * `final`: after the end; `frozen`: from the freeze to the end; `kept`: as the board stood at some moment; `day`: the
 * places of everybody at the start of a day.
 */
export type EditionKind = 'final' | 'frozen' | 'kept' | 'day';

/** A window's standings at one moment, as they are from some act on. */
export interface Edition {
  uid: number;
  windowUid: number;
  kind: EditionKind;
  asOfMs: number;
  /** A log position. */
  version: number;
  /** 1 for the first of its window, kind and moment; acts that change it make the next. */
  number: number;
  /** The number of the order of patches that taxes its scores; absent, or null: they are not taxed. */
  taxOrder?: number | null;
}

/** What is said of an edition beside its rows. */
export interface ListedEdition {
  number: number;
  /** When it was written, Unix ms. */
  atMs: number;
  /** Why its acts were done; null: it has none, or they say nothing. */
  reason: string | null;
  /** The first of its acts, by their records in the audit log. */
  acts: number[];
}

/** The standings of a window that acts may change: final ones, or those of its freeze. */
export interface PresentStandings {
  /** undefined: they are not written, or not kept any more. */
  edition: Edition | undefined;
  /** Whether acts are noted that they do not show yet, or a restatement is under way. */
  isRevising: boolean;
}

const WINDOWS_CACHED_MAX = 10_000;
/** How late a process sees another edition of which it was not told. */
const PRESENT_FOR_MS = 1000;
/** So long is PostgreSQL waited for where something is known: reads go on while it hangs. */
const WAITED_FOR_MS = 500;

const COLUMNS = `edition_uid AS uid, window_uid AS "windowUid", kind, version, number,
  (extract(epoch FROM as_of) * 1000)::bigint AS "asOfMs", (rules ->> 'taxOrder')::int AS "taxOrder"`;

const IS_REVISING = `
  SELECT EXISTS (SELECT FROM revisions_due WHERE window_uid = $1)
    OR EXISTS (SELECT FROM restatements WHERE window_uid = $1 AND done_at IS NULL) AS "isRevising"`;

type RevisableKind = 'final' | 'frozen';

/** Finds the standings that were written of a window. */
@Injectable()
export class EditionCatalog {
  private readonly known = new LRUCache<string, PresentStandings>({
    max: WINDOWS_CACHED_MAX,
    ttl: PRESENT_FOR_MS,
    noDeleteOnStaleGet: true,
  });
  private readonly asked = new Map<string, Promise<PresentStandings>>();

  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** The standings after the end; undefined while they are not written. */
  async final(windowUid: number): Promise<Edition | undefined> {
    const { edition } = await this.present(windowUid, 'final');
    // That they are not written is asked anew: they may be by now.
    return edition ?? (await this.ask(windowUid, 'final')).edition;
  }

  /** The standings at the freeze; undefined while they are not written. */
  async frozen(windowUid: number): Promise<Edition | undefined> {
    const { edition } = await this.present(windowUid, 'frozen');
    return edition ?? (await this.ask(windowUid, 'frozen')).edition;
  }

  /**
   * The newest standings, at most a second old; while PostgreSQL is away or takes long, the last that were known.
   * @throws while PostgreSQL is away, where none are known
   */
  async present(windowUid: number, kind: RevisableKind): Promise<PresentStandings> {
    const key = keyOf(windowUid, kind);
    const fresh = this.known.get(key);
    if (fresh) return fresh;
    const asked = this.ask(windowUid, kind);
    const last = this.known.get(key, { allowStale: true });
    if (!last) return asked;
    return inTimeOr(asked, WAITED_FOR_MS, () => last).catch((error: unknown) => {
      if (isDatabaseUnavailable(error)) return last;
      throw error;
    });
  }

  /** Another edition was written: what is remembered of the window is old; null: of any may be. */
  forget(windowUid: number | null): void {
    if (windowUid === null) {
      this.known.clear();
      return this.asked.clear();
    }
    for (const kind of ['final', 'frozen'] as const) {
      this.known.delete(keyOf(windowUid, kind));
      this.asked.delete(keyOf(windowUid, kind));
    }
  }

  /** The newest standings kept at `atMs` or before. */
  keptAt(windowUid: number, atMs: number): Promise<Edition | undefined> {
    return this.newest(windowUid, 'kept', atMs);
  }

  /** The final standings of that number. */
  async numbered(windowUid: number, number: number): Promise<Edition | undefined> {
    const [edition] = await this.database.query<Edition>(
      `SELECT ${COLUMNS} FROM editions WHERE window_uid = $1 AND kind = 'final' AND number = $2
       ORDER BY as_of DESC LIMIT 1`,
      [windowUid, number],
    );
    return edition;
  }

  /** The final standings of a window, the newest first: those before a number, null for all. */
  list(windowUid: number, before: number | null, limit: number): Promise<ListedEdition[]> {
    return this.database.query<ListedEdition>(
      `SELECT number, (extract(epoch FROM created_at) * 1000)::bigint AS "atMs", reason, acts::float8[] AS acts
       FROM editions WHERE window_uid = $1 AND kind = 'final' AND ($2::bigint IS NULL OR number < $2)
       ORDER BY number DESC LIMIT $3`,
      [windowUid, before, limit],
    );
  }

  async byUid(uid: number): Promise<Edition | undefined> {
    const [edition] = await this.database.query<Edition>(`SELECT ${COLUMNS} FROM editions WHERE edition_uid = $1`, [
      uid,
    ]);
    return edition;
  }

  /** Calls for one window share a look. */
  private ask(windowUid: number, kind: RevisableKind): Promise<PresentStandings> {
    const key = keyOf(windowUid, kind);
    const asked = this.asked.get(key);
    if (asked) return asked;
    const looking = this.look(windowUid, kind).then((found) => {
      // What was asked for before it was forgotten is not remembered.
      if (this.asked.get(key) === looking) this.known.set(key, found);
      return found;
    });
    this.asked.set(key, looking);
    const end = (): void => {
      if (this.asked.get(key) === looking) this.asked.delete(key);
    };
    looking.then(end, end);
    return looking;
  }

  private async look(windowUid: number, kind: RevisableKind): Promise<PresentStandings> {
    // First what is due: an edition that is made in between shows what was due, and not the other way about.
    const [due] = await this.database.query<{ isRevising: boolean }>(IS_REVISING, [windowUid]);
    const edition = await this.newest(windowUid, kind, Infinity);
    return { edition, isRevising: due!.isRevising };
  }

  private async newest(windowUid: number, kind: EditionKind, atMs: number): Promise<Edition | undefined> {
    const [edition] = await this.database.query<Edition>(
      `SELECT ${COLUMNS} FROM editions
       WHERE window_uid = $1 AND kind = $2 AND as_of <= to_timestamp($3::float8 / 1000)
       ORDER BY as_of DESC, number DESC LIMIT 1`,
      [windowUid, kind, atMs],
    );
    return edition;
  }
}

const keyOf = (windowUid: number, kind: RevisableKind): string => `${kind}/${windowUid}`;
