/** What a frame says of its ranks and its total: nothing where they are exact. */
export interface FrameWorth {
  accuracy?: 'estimated';
  /** How far off they are at most, with `accuracy`. */
  errorBound?: number;
}

/** What is said of rows that come out of these readings: the worst of them. */
export function worthOf(...readings: readonly FrameWorth[]): FrameWorth {
  const estimates = readings.filter(({ accuracy }) => accuracy === 'estimated');
  if (estimates.length === 0) return {};
  return { accuracy: 'estimated', errorBound: Math.max(...estimates.map(({ errorBound = 0 }) => errorBound)) };
}

/** Whether both say the same, so that nobody needs to hear it again. */
export const isSameWorth = (a: FrameWorth, b: FrameWorth): boolean =>
  a.accuracy === b.accuracy && a.errorBound === b.errorBound;
