import { InSchema, MayBeAbsent } from '@laddercast/commands';
import { LadderError } from '@laddercast/domain';
import { faultOfStyle, type EntryDetails, type ResolvedList } from '@laddercast/queries';
import { IsInt, Max, Min } from 'class-validator';
import { ChannelMessage } from '../protocol/client-messages.js';
import { worthOf } from '../protocol/frame-worth.js';
import type { ChannelKind } from './channel-kind.js';
import { completedReadings, shownOf } from './completed-rows.js';
import type { RowsReading, StyledWatch } from './watched-channel.js';
import { viewOf, type RowsReader } from './watched-rows.js';

const RANGE_MAX = 100;
const RANGE_DEFAULT = 10;
const OFFSET_MAX = 1_000_000_000;

/** The places from `offset` + 1 to `offset` + `limit`. */
interface Asked {
  offset: number;
  limit: number;
}

type RangeWatch = Asked & StyledWatch;

class RangeMessage extends ChannelMessage<Asked> {
  @IsInt()
  @Min(0)
  @Max(OFFSET_MAX)
  @InSchema({ description: 'The first row is that of rank offset + 1' })
  offset!: number;

  @MayBeAbsent()
  @IsInt()
  @Min(1)
  @Max(RANGE_MAX)
  @InSchema({ description: 'Not rounded' })
  limit: number = RANGE_DEFAULT;

  override asked(): Asked {
    return { offset: this.offset, limit: this.limit };
  }
}

/** Reads watched stretches of a list. */
export class RangeRows implements RowsReader<RangeWatch> {
  readonly atOnce = 32;

  constructor(private readonly details: EntryDetails) {}

  keyOf({ offset, limit, ...view }: RangeWatch): string {
    return `${viewOf(view)}:${offset}+${limit}`;
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

export const rangeChannel: ChannelKind<Asked> = {
  message: RangeMessage,
  description: 'Some places further down',
  rows: ({ details, channels }) => [{ reader: new RangeRows(details), budget: channels }],
};
