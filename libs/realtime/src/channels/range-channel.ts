import { LadderError, type RankStyle } from '@laddercast/domain';
import { faultOfStyle, type EntryDetails, type ResolvedList } from '@laddercast/queries';
import { completedReadings, shownOf } from './completed-rows.js';
import { worthOf } from '../protocol/frame-worth.js';
import type { RowsReader, RowsReading } from './watched-rows.js';

/** The places from `offset` + 1 to `offset` + `limit`. */
export interface RangeWatch {
  offset: number;
  limit: number;
  style: RankStyle;
}

/** Reads watched stretches of a list. */
export class RangeRows implements RowsReader<RangeWatch> {
  readonly atOnce = 32;

  constructor(private readonly details: EntryDetails) {}

  keyOf({ offset, limit, style }: RangeWatch): string {
    return `${style}:${offset}+${limit}`;
  }

  async read(resolved: ResolvedList, watches: readonly RangeWatch[]): Promise<(RowsReading | LadderError)[]> {
    const pages = await Promise.all(
      watches.map(
        ({ offset, limit, style }) =>
          faultOfStyle(resolved, style) ?? resolved.ranks.page(resolved.list, offset, limit, style),
      ),
    );
    const completed = await completedReadings(
      this.details,
      resolved,
      pages.map((page) => (page instanceof LadderError ? [] : page.entries)),
    );
    return pages.map((page, index) =>
      page instanceof LadderError ? page : { ...shownOf(completed[index]!, page.total, null), ...worthOf(page) },
    );
  }
}
