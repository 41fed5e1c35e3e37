import type { EntryDetails, ResolvedList } from '@laddercast/queries';
import { completedReadings, shownOf } from './completed-rows.js';
import type { RowsReader, RowsReading } from './watched-rows.js';

/** The places from `offset` + 1 to `offset` + `limit`. */
export interface RangeWatch {
  offset: number;
  limit: number;
}

/** Reads watched stretches of a list. */
export class RangeRows implements RowsReader<RangeWatch> {
  readonly atOnce = 32;

  constructor(private readonly details: EntryDetails) {}

  keyOf({ offset, limit }: RangeWatch): string {
    return `${offset}+${limit}`;
  }

  async read(resolved: ResolvedList, watches: readonly RangeWatch[]): Promise<RowsReading[]> {
    const pages = await Promise.all(
      watches.map(({ offset, limit }) => resolved.ranks.page(resolved.list, offset, limit, 'ordinal')),
    );
    const completed = await completedReadings(
      this.details,
      resolved,
      pages.map(({ entries }) => entries),
    );
    return pages.map(({ total }, index) => shownOf(completed[index]!, total, null));
  }
}
