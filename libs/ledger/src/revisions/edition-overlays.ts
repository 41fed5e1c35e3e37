import type { BoardOrdering } from '@laddercast/domain';
import { LRUCache } from 'lru-cache';
import type { SqlRunner } from '../database/postgres-database.js';
import type { RowsOfEdition } from '../standings/standings-rows.js';
import { changesOfList, laidBy, type ListChangeRow } from './edition-changes.js';
import { ListOverlay, type LaidRow, type StruckRow } from './list-overlay.js';

/** The most editions of which it is remembered what they rest on, and the most bytes of changes, about. */
const EDITIONS_MAX = 20_000;
const BYTES_MAX = 32 * 1024 * 1024;
/** What a row takes beside its texts. */
const ROW_BYTES = 300;

/** One list of an edition, and how it is ordered. */
export interface StandingsList extends RowsOfEdition {
  ordering: BoardOrdering;
}

/** An edition that is laid over another. */
interface Layer {
  base: number;
  number: number;
  version: number;
}

/** A list of an edition that is laid over another: the base, what is laid over it, and what an answer says of it. */
export interface LaidList {
  /** The same list of the base. */
  base: StandingsList;
  number: number;
  version: number;
  overlay: ListOverlay;
}

const LAYER = `
  SELECT base_uid AS base, number, version FROM editions WHERE edition_uid = $1`;

/**
 * What is laid over the lists of editions, read once and remembered: an edition never changes. The changes of one list are
 * few (see `REVISION_LIMITS`), so they are read whole.
 */
export class EditionOverlays {
  private readonly layers = new LRUCache<number, { layer: Layer | null }>({ max: EDITIONS_MAX });
  private readonly lists = new LRUCache<string, LaidList>({ maxSize: BYTES_MAX });

  constructor(private readonly database: SqlRunner) {}

  /** null: the edition has rows of its own, or is gone. */
  async of(list: StandingsList): Promise<LaidList | null> {
    const layer = await this.layerOf(list.edition);
    if (layer === null) return null;
    const key = `${list.edition}/${list.scope}`;
    const known = this.lists.get(key);
    if (known) return known;
    const { base, number, version } = layer;
    const rows = await changesOfList(this.database, base, list.scope, number);
    const overlay = new ListOverlay(list.ordering, listChangesOf(rows));
    const laid: LaidList = { base: { ...list, edition: base }, number, version, overlay };
    const texts = rows.reduce((sum, { player_id, metadata }) => sum + player_id.length + (metadata?.length ?? 0), 0);
    this.lists.set(key, laid, { size: ROW_BYTES * (rows.length + 1) + texts });
    return laid;
  }

  private async layerOf(edition: number): Promise<Layer | null> {
    const known = this.layers.get(edition);
    if (known) return known.layer;
    const [row] = await this.database.query<{ base: number | null; number: number; version: number }>(LAYER, [edition]);
    if (row === undefined) return null;
    const layer = row.base === null ? null : { ...row, base: row.base };
    this.layers.set(edition, { layer });
    return layer;
  }
}

/** Of each change what it strikes, and what it lays. */
export function listChangesOf(rows: readonly ListChangeRow[]): { struck: StruckRow[]; laid: LaidRow[] } {
  const struck: StruckRow[] = [];
  const laid: LaidRow[] = [];
  for (const row of rows) {
    if (row.struck !== null) {
      struck.push({ ordinal: row.struck, competition: row.struck_competition!, last: row.struck_last! });
    }
    const values = laidBy(row);
    if (values === null) continue;
    laid.push({
      ...values,
      before: row.rows_before!,
      better: row.rows_better!,
      notWorse: row.rows_not_worse!,
      betterValues: row.values_better!,
    });
  }
  return { struck, laid };
}
