/** What a client process of the benchmark `sockets` is asked, one after the other. */
export type ChildRequest =
  | { open: { port: number; count: number; from: string; board: string; limit: number } }
  | { begin: true }
  /** Scores, each with when its POST was due. */
  | { end: [score: number, dueAtMs: number][] };

/** What the clients of one process got in a round. */
export interface RoundOfChild {
  deltas: number;
  bytes: number;
  /** How many deltas came so many whole milliseconds after their POST. */
  histogram: number[];
  maxMs: number;
}

/** Its answers to `open` and `begin` say nothing more than that it is done. */
export type ChildAnswer = { error: string } | { done: true } | { round: RoundOfChild };
