import type { Environment } from '../environment.js';

/** Signals that end a process in order. */
export const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Upper bound of a shutdown: what was answered is durable long before. */
export const STOP_WITHIN_MS = 20_000;
/**
 * The default of `STOP_DRAIN_MS` in production: by then a load balancer that probes every second or two has noticed.
 */
const PRODUCTION_DRAIN_MS = 5000;

/** How long a process that was told to stop still takes requests, ms. */
export const drainMsOf = ({ STOP_DRAIN_MS, NODE_ENV }: Pick<Environment, 'STOP_DRAIN_MS' | 'NODE_ENV'>): number =>
  STOP_DRAIN_MS ?? (NODE_ENV === 'production' ? PRODUCTION_DRAIN_MS : 0);
