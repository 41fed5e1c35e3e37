import type { EntryDetails, ResolvedList } from '@laddercast/queries';
import { completedReadings, shownOf } from './completed-rows.js';
import type { RowsReader, RowsReading } from './watched-rows.js';

/** A player and so many places on each side. */
export interface PlayerWatch {
  playerId: string;
  around: number;
  /** Whether the reader sees the player also when it is not listed. */
  isOwn: boolean;
}

/** Reads watched players with the rows around them. */
export class PlayerRows implements RowsReader<PlayerWatch> {
  readonly atOnce = 128;

  constructor(private readonly details: EntryDetails) {}

  keyOf({ playerId, around, isOwn }: PlayerWatch): string {
    return `${isOwn ? 'own' : 'any'}:${around}:${playerId}`;
  }

  async read(resolved: ResolvedList, watches: readonly PlayerWatch[]): Promise<RowsReading[]> {
    const readings = await Promise.all(
      watches.map(({ playerId, around }) => resolved.ranks.player(resolved.list, playerId, around, around, 'ordinal')),
    );
    const neighbours = readings.map((reading) => reading.neighbours);
    const completed = await completedReadings(this.details, resolved, neighbours);
    return watches.map(({ playerId, isOwn }, index) => {
      const [rows, { total }] = [completed[index]!, readings[index]!];
      const isHidden = rows.some(({ row, isListed }) => row.playerId === playerId && !isListed);
      // As one who has no entry: that there is one is not for others either.
      if (isHidden && !isOwn) return { total, entries: [], hidden: new Set([playerId]) };
      return shownOf(rows, total, isOwn ? playerId : null);
    });
  }
}
