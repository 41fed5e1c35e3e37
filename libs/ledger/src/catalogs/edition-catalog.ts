import { Inject, Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { growingCache } from '@laddercast/platform';

/**
 * `final`: after the end; `frozen`: from the freeze to the end; `kept`: as the board stood at some moment; `day`: the
 * places of everybody at the start of a day.
 */
export type EditionKind = 'final' | 'frozen' | 'kept' | 'day';

/** A window's standings at one moment, written whole. */
export interface Edition {
  uid: number;
  windowUid: number;
  kind: EditionKind;
  asOfMs: number;
  /** A log position. */
  version: number;
}

const EDITIONS_CACHED_MAX = 10_000;

const COLUMNS = `edition_uid AS uid, window_uid AS "windowUid", kind, version,
  (extract(epoch FROM as_of) * 1000)::bigint AS "asOfMs"`;

/** Finds the standings that were written of a window. */
@Injectable()
export class EditionCatalog {
  private readonly finals = growingCache<number, Edition>(EDITIONS_CACHED_MAX);

  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /** The standings after the end; undefined while they are not written. */
  async final(windowUid: number): Promise<Edition | undefined> {
    const known = this.finals.get(windowUid);
    if (known) return known;
    const edition = await this.newest(windowUid, 'final', Infinity);
    if (edition) this.finals.set(windowUid, edition);
    return edition;
  }

  /** The standings at the freeze; undefined while they are not written. */
  frozen(windowUid: number): Promise<Edition | undefined> {
    return this.newest(windowUid, 'frozen', Infinity);
  }

  /** The newest standings kept at `atMs` or before. */
  keptAt(windowUid: number, atMs: number): Promise<Edition | undefined> {
    return this.newest(windowUid, 'kept', atMs);
  }

  private async newest(windowUid: number, kind: EditionKind, atMs: number): Promise<Edition | undefined> {
    const [edition] = await this.database.query<Edition>(
      `SELECT ${COLUMNS} FROM editions
       WHERE window_uid = $1 AND kind = $2 AND as_of <= to_timestamp($3::float8 / 1000)
       ORDER BY as_of DESC LIMIT 1`,
      [windowUid, kind, atMs],
    );
    return edition;
  }
}
