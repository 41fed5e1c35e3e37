/** How accurate a frame's ranks and total are; empty if they are exact. */
export interface FrameWorth {
  accuracy?: 'estimated';
  /** How far off they are at most, with `accuracy`. */
  errorBound?: number;
}

/** The accuracy of rows from several readings: the worst of them. */
export function worthOf(...readings: readonly FrameWorth[]): FrameWorth {
  const estimates = readings.filter(({ accuracy }) => accuracy === 'estimated');
  if (estimates.length === 0) return {};
  return { accuracy: 'estimated', errorBound: Math.max(...estimates.map(({ errorBound = 0 }) => errorBound)) };
}

/** Whether both are equal, so that no frame is needed. */
export const isSameWorth = (a: FrameWorth, b: FrameWorth): boolean =>
  a.accuracy === b.accuracy && a.errorBound === b.errorBound;
