/** A function of a profile; lines and columns are counted from 0. */
export interface Frame {
  functionName: string;
  url: string;
  lineNumber: number;
  columnNumber?: number;
}

export interface ProfileNode {
  id: number;
  callFrame: Frame;
  children?: number[];
}

/** A .cpuprofile (Chrome DevTools Protocol, `Profiler.Profile`), as far as it is read here; times in µs. */
export interface Profile {
  nodes: ProfileNode[];
  /** Ids of nodes. */
  samples: number[];
  timeDeltas: number[];
  startTime: number;
}
