import { Counter, Gauge, Histogram } from 'prom-client';

/**
 * Every metric of the service, by its name in Prometheus; units last, as Prometheus wants them. A process shows those of
 * its own roles. docs/reference/metrics.md is generated from here.
 */
export const metrics = {
  submissionSeconds: new Histogram({
    name: 'laddercast_submission_seconds',
    help: 'How long submissions waited for their commit, in seconds, by outcome (a problem code where there is none).',
    labelNames: ['outcome'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  }),
  groupCommitSubmissions: new Histogram({
    name: 'laddercast_group_commit_submissions',
    help: 'How many submissions one commit wrote.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
  }),
  requestSeconds: new Histogram({
    name: 'laddercast_request_seconds',
    help: 'How long requests took, in seconds, by route and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  }),
  rateLimited: new Counter({
    name: 'laddercast_rate_limited_total',
    help: 'Requests, sockets and messages refused over a limit, by limit.',
    labelNames: ['limit'] as const,
  }),
  deadLettersParked: new Counter({
    name: 'laddercast_dead_letters_parked_total',
    help: 'Events that were parked because they fail by themselves, by consumer group.',
    labelNames: ['group'] as const,
  }),
  drift: new Counter({
    name: 'laddercast_drift_entries_total',
    help: 'Entries in which Redis differed from PostgreSQL when they were reconciled, by kind (missing, stale, stray).',
    labelNames: ['kind'] as const,
  }),
  reconciled: new Counter({
    name: 'laddercast_reconciled_entries_total',
    help: 'Entries that were compared between PostgreSQL and Redis.',
  }),
  sockets: new Gauge({ name: 'laddercast_sockets', help: 'Sockets that are open.' }),
  authenticationFailures: new Counter({
    name: 'laddercast_authentication_failures_total',
    help: 'Keys and tokens that were refused, by reason; unavailable: they could not be checked.',
    labelNames: ['reason'] as const,
  }),
  spansDropped: new Counter({
    name: 'laddercast_spans_dropped_total',
    help: 'Spans of traces that were not kept: the queue was full (queue), or the collector did not take them (export).',
    labelNames: ['reason'] as const,
  }),
};
