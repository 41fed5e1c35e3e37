import type { Environment } from '../environment.js';

/** Signals that end a process in order. */
export const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Upper bound of a shutdown: what was answered is durable long before. */
export const STOP_WITHIN_MS = 20_000;
/** As production's default of `STOP_DRAIN_MS`: a load balancer that asks every second or two has noticed by then. */
const PRODUCTION_DRAIN_MS = 5000;

/** How long a process that was told to stop still takes requests, ms. */
export const drainMsOf = ({ STOP_DRAIN_MS, NODE_ENV }: Pick<Environment, 'STOP_DRAIN_MS' | 'NODE_ENV'>): number =>
  STOP_DRAIN_MS ?? (NODE_ENV === 'production' ? PRODUCTION_DRAIN_MS : 0);
