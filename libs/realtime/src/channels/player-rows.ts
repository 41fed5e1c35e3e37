import { LadderError } from '@laddercast/domain';
import { faultOfStyle, type EntryDetails, type ResolvedList } from '@laddercast/queries';
import { completedReadings, shownOf } from './completed-rows.js';
import { worthOf } from '../protocol/frame-worth.js';
import type { RowsReading, StyledWatch } from './watched-channel.js';
import { viewOf, type RowsReader } from './watched-rows.js';

/** A player and so many places on each side. */
export interface PlayerWatch extends StyledWatch {
  playerId: string;
  around: number;
  /** Whether the reader sees the player also when it is not listed. */
  isOwn: boolean;
}

/** Who asks for the same is served by the same channel. */
export const keyOfPlayerWatch = ({ playerId, around, isOwn, ...view }: PlayerWatch): string =>
  `${isOwn ? 'own' : 'any'}:${viewOf(view)}:${around}:${playerId}`;

/** Reads watched players with the rows around them. */
export class PlayerRows implements RowsReader<PlayerWatch> {
  readonly atOnce = 128;

  constructor(private readonly details: EntryDetails) {}

  keyOf(watch: PlayerWatch): string {
    return keyOfPlayerWatch(watch);
  }

  async read(resolved: ResolvedList, watches: readonly PlayerWatch[]): Promise<(RowsReading | LadderError)[]> {
    const { ranks, list } = resolved;
    const readings = await Promise.all(
      watches.map(
        ({ playerId, around, style }) =>
          faultOfStyle(resolved, style) ?? ranks.player(list, playerId, around, around, style),
      ),
    );
    const neighbours = readings.map((reading) => (reading instanceof LadderError ? [] : reading.neighbours));
    const completed = await completedReadings(this.details, resolved, neighbours);
    return watches.map(({ playerId, isOwn }, index) => {
      const [rows, reading] = [completed[index]!, readings[index]!];
      if (reading instanceof LadderError) return reading;
      const { total } = reading;
      const worth = worthOf(reading);
      const isHidden = rows.some(({ row, isListed }) => row.playerId === playerId && !isListed);
      // As one who has no entry: that there is one is not for others either.
      if (isHidden && !isOwn) return { total, ...worth, entries: [], hidden: new Set([playerId]) };
      return { ...shownOf(rows, total, isOwn ? playerId : null), ...worth };
    });
  }
}
