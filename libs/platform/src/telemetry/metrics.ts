import { Counter, Gauge, Histogram } from 'prom-client';

const counter = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]): Counter<Label> =>
  new Counter({ name, help, labelNames });

const gauge = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]): Gauge<Label> =>
  new Gauge({ name, help, labelNames });

const histogram = <Label extends string = never>(
  name: string,
  help: string,
  buckets: number[],
  ...labelNames: Label[]
): Histogram<Label> => new Histogram({ name, help, buckets, labelNames });

/** Buckets in seconds, from what takes a moment to what has timed out. */
const MOMENTS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const COMMITS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5];
const REDIS_CALLS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const DELAYS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

/**
 * Every metric of the service, by its name in Prometheus; units last, as Prometheus wants them. A process shows those of
 * its own roles; *From* at the end of a help text says which processes those are. What is about the whole installation
 * comes from the `keeper`: the one process, api or projector, that holds the lease `metrics`; so sums over all processes
 * are right. docs/reference/metrics.md is generated from here.
 */
export const metrics = {
  submissionSeconds: new Histogram({
    name: 'laddercast_submission_seconds',
    help: 'How long submissions waited for their commit, in seconds, by outcome (committed, repeated for a retry that gets its first answer, or a problem code where there is none). From: api.',
    labelNames: ['outcome'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  }),
  groupCommitSubmissions: new Histogram({
    name: 'laddercast_group_commit_submissions',
    help: 'How many submissions one commit wrote. From: api.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
  }),
  laneCommits: new Counter({
    name: 'laddercast_lane_commits_total',
    help: 'Commits of lanes, by the trips to PostgreSQL that they took; in vain: one in which PostgreSQL refused what was assumed, so that two followed. From: api.',
    labelNames: ['trips'] as const,
  }),
  laneEntries: new Counter({
    name: 'laddercast_lane_entries_total',
    help: 'Entries that commits of lanes looked at, by where they had them from: the memory of the process, or the ledger (PostgreSQL). From: api.',
    labelNames: ['from'] as const,
  }),
  requestSeconds: new Histogram({
    name: 'laddercast_request_seconds',
    help: 'How long requests took, in seconds, by route (its pattern; none where there is no such route) and status. From: every process.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  }),
  rateLimited: new Counter({
    name: 'laddercast_rate_limited_total',
    help: 'Requests, sockets and messages refused over a limit, by limit. From: api and gateway.',
    labelNames: ['limit'] as const,
  }),
  deadLettersParked: new Counter({
    name: 'laddercast_dead_letters_parked_total',
    help: 'Events that were parked because they fail by themselves, by consumer group. From: projector; in.scores and in.games from api.',
    labelNames: ['group'] as const,
  }),
  drift: new Counter({
    name: 'laddercast_drift_entries_total',
    help: 'Entries in which Redis differed from PostgreSQL when they were reconciled, by kind (missing, stale, stray, value, counter). From: the process that reconciles.',
    labelNames: ['kind'] as const,
  }),
  reconciled: new Counter({
    name: 'laddercast_reconciled_entries_total',
    help: 'Entries that were compared between PostgreSQL and Redis. From: the process that reconciles.',
  }),
  sockets: new Gauge({ name: 'laddercast_sockets', help: 'Sockets that are open. From: gateway.' }),

  process: gauge(
    'laddercast_process',
    '1 for each role that the process has (api, projector, gateway). From: every process.',
    'role',
  ),
  storeUp: gauge(
    'laddercast_store_up',
    'Whether the process gets an answer from postgresql and from redis (every master) within a second: 1 or 0. From: every process.',
    'store',
  ),
  databaseAway: gauge(
    'laddercast_database_away',
    'Whether PostgreSQL has not answered the process for 2 s, so that writes are refused at once: 1 or 0. From: every process.',
  ),
  collectionAgeSeconds: gauge(
    'laddercast_collection_age_seconds',
    'How long ago a source of gauges was read for the last time. Its values are left out once they are older than a minute. From: every process.',
    'source',
  ),

  submissionsRefused: counter(
    'laddercast_submissions_refused_total',
    'Submissions refused before the ledger (rights, rules of the board, checks), by problem code; those of a batch one by one. From: api.',
    'code',
  ),
  patchRunsDropped: counter(
    'laddercast_patch_runs_dropped_total',
    'Runs on boards with decay that left because their player has runs of more patches than are kept: those of the oldest. From: api.',
  ),
  commitSeconds: histogram(
    'laddercast_commit_seconds',
    'How long one group commit took in PostgreSQL, from BEGIN to COMMIT. From: api.',
    COMMITS,
  ),
  writesHandedOver: counter(
    'laddercast_lane_writes_handed_over_total',
    'Writes that the process handed to the owner of their lane, by whether its answer came in time; the others were made here. From: api, projector.',
    'answer',
  ),
  laneWaiting: gauge(
    'laddercast_lane_waiting_submissions',
    'Submissions that wait in the process for a commit of their lane; at LANE_QUEUE_MAX they are refused. From: api.',
    'lane',
  ),
  gamesRecorded: counter(
    'laddercast_games_recorded_total',
    'Games that were recorded in rating pools, replays left out. From: api.',
  ),
  gamesRated: counter(
    'laddercast_games_rated_total',
    'Games of rating pools that were looked at, by outcome: rated, or why they move nobody (TOO_FEW_SIDES, NUMERIC). From: projector.',
    'outcome',
  ),
  poolTurnsLeft: counter(
    'laddercast_pool_turns_left_total',
    'Turns of rating pools in which games had to wait, as this process does not have the algorithm. From: projector.',
    'algorithm',
  ),
  outboxEvents: gauge(
    'laddercast_outbox_events',
    'Events that the outbox holds, an upper bound: at OUTBOX_EVENTS_MAX submissions are refused. It holds a minute of them at least. From: keeper.',
  ),
  outboxEventsMax: gauge('laddercast_outbox_events_max', 'The setting OUTBOX_EVENTS_MAX. From: keeper.'),
  outboxAgeSeconds: gauge(
    'laddercast_outbox_age_seconds',
    'Age of the oldest event in the outbox that the relay to Kafka (with EVENT_LOG=postgres: some consumer group) has not handled; 0 when none waits. From: keeper.',
  ),
  postgresConnections: gauge(
    'laddercast_postgres_connections',
    'Connections of the pool, by state (busy, idle). From: every process.',
    'state',
  ),
  postgresWaiting: gauge(
    'laddercast_postgres_waiting',
    'Queries that wait for a connection of the pool now. From: every process.',
  ),
  postgresPoolWaitSeconds: histogram(
    'laddercast_postgres_pool_wait_seconds',
    'How long queries waited for a connection of the pool. From: every process.',
    MOMENTS,
  ),
  leasesHeld: gauge(
    'laddercast_leases_held',
    'Leases that the process holds, by name, without the number of a lane or slot. From: every process.',
    'lease',
  ),

  lagEvents: gauge(
    'laddercast_consumer_lag_events',
    'Events that a consumer group has not handled yet, by lane (in Kafka: the partition). From: keeper.',
    'group',
    'lane',
  ),
  lagSeconds: gauge(
    'laddercast_consumer_lag_seconds',
    'Age of the oldest event that a consumer group has not handled, by lane; 0 when none waits. In Kafka rounded down to a power of two. From: keeper.',
    'group',
    'lane',
  ),
  batchSeconds: histogram(
    'laddercast_batch_seconds',
    'How long a consumer group took to handle one batch of events, failures included. From: projector.',
    MOMENTS,
    'group',
  ),
  eventsHandled: counter(
    'laddercast_events_handled_total',
    'Events that a consumer group handled, redeliveries included. From: projector.',
    'group',
  ),
  batchFailures: counter(
    'laddercast_batch_failures_total',
    'Batches whose handler failed; they come again. From: projector.',
    'group',
  ),
  deadLetters: gauge(
    'laddercast_dead_letters',
    'Events that lie in dead_letters, by consumer group, counted up to 100,000. From: keeper.',
    'group',
  ),
  flagsRaised: counter(
    'laddercast_flags_raised_total',
    'Flags that were raised, by rule and severity. From: api (held runs) and projector.',
    'rule',
    'severity',
  ),
  flagsOpen: gauge(
    'laddercast_flags_open',
    'Flags that wait for a moderator, by rule and severity, counted up to 100,000. From: keeper.',
    'rule',
    'severity',
  ),
  examinationsWaiting: gauge(
    'laddercast_examinations_waiting',
    'Runs that wait for a rule of a team, by rule; at 10,000 of a rule further ones are parked. From: keeper.',
    'rule',
  ),
  examinationFailures: counter(
    'laddercast_examination_failures_total',
    'Runs of which a rule of a team threw or took too long, each try counted, by rule. From: projector.',
    'rule',
  ),
  windowCloseLagSeconds: gauge(
    'laddercast_window_close_lag_seconds',
    'How long the window has been due to close (end, grace, and the period of the pool that feeds its board) that waits longest; 0 where none does. From: keeper.',
  ),
  settlementFailures: gauge(
    'laddercast_settlement_failures',
    'Windows whose standings (final, frozen or kept) could not be written at the last try. From: keeper.',
  ),
  revisionLagSeconds: gauge(
    'laddercast_revision_lag_seconds',
    'How long the oldest act has waited that the standings of its window do not show yet; 0 where none does. From: keeper.',
  ),
  editionsMade: counter(
    'laddercast_editions_made_total',
    'Editions that were made because acts changed standings that were written. From: projector.',
  ),

  sanctionedPlayers: gauge(
    'laddercast_sanctioned_players',
    'Players with a sanction in force, by kind (ban, hide, shadow). From: keeper.',
    'kind',
  ),
  sanctionsPending: gauge(
    'laddercast_sanctions_pending',
    'Players whose entries do not follow their last sanction, or its end, yet. From: keeper.',
  ),

  applySeconds: histogram(
    'laddercast_apply_seconds',
    'How long it took to apply the changes of a batch to one shard of a list. From: projector.',
    MOMENTS,
  ),
  changesApplied: counter(
    'laddercast_changes_applied_total',
    'Changes of lists that were newer than what Redis had. From: projector.',
  ),
  eventToRankSeconds: histogram(
    'laddercast_event_to_rank_seconds',
    'From the commit of an event (clock of PostgreSQL) until ranks show it (clock of the process): the oldest of each batch. From: projector.',
    DELAYS,
  ),
  redisSeconds: histogram(
    'laddercast_redis_seconds',
    'How long calls to Redis took, by script (command: a plain one); calls that are sent together count as one. From: every process.',
    REDIS_CALLS,
    'call',
  ),
  redisFailures: counter(
    'laddercast_redis_failures_total',
    'Calls that Redis did not answer, or refused. From: every process.',
  ),
  replicaReads: counter(
    'laddercast_replica_reads_total',
    'What may be read from a replica (page, sketch, key), by where it was read (replica, master); with REDIS_READ_FROM=replica. From: api and gateway.',
    'kind',
    'from',
  ),
  redisMemoryBytes: gauge(
    'laddercast_redis_memory_bytes',
    'Memory that a Redis master uses, by its address. From: keeper.',
    'node',
  ),
  redisMemoryMaxBytes: gauge(
    'laddercast_redis_memory_max_bytes',
    'The maxmemory of a Redis master; 0 when it has none. From: keeper.',
    'node',
  ),
  redisNodeSeconds: gauge(
    'laddercast_redis_node_seconds',
    'How long a Redis master took to answer INFO at the last scrape. From: keeper.',
    'node',
  ),
  laneRecovering: gauge(
    'laddercast_lane_recovering',
    '1 while what Redis lost of a lane is brought back from PostgreSQL. From: the projector that holds the lease recovery of the lane.',
    'lane',
  ),
  recoveredEntries: counter(
    'laddercast_recovered_entries_total',
    'Entries that were read from PostgreSQL to bring back what Redis lost. From: projector.',
  ),
  restoredShards: counter(
    'laddercast_restored_shards_total',
    'Shards that had lost a key in Redis, and were filled anew from PostgreSQL. From: projector.',
  ),
  generations: gauge(
    'laddercast_generations',
    'Boards with a generation of lists that is being filled or proven (opening), or still fed beside the one that serves (retiring). From: keeper.',
    'state',
  ),
  shardEntries: gauge(
    'laddercast_shard_entries',
    'Entries of a shard of a window (scope global): the 20 largest shards only. From: keeper.',
    'board',
    'window',
    'shard',
  ),

  rankAnswers: counter(
    'laddercast_rank_answers_total',
    'Ranks that were answered, by what the answer is of (list: a read; submission; game: each player of one that was waited for) and its accuracy (exact, estimated, none). From: api.',
    'of',
    'accuracy',
  ),
  rankErrorBound: histogram(
    'laddercast_rank_error_bound',
    'How far off estimated ranks can be at most, in places. From: api.',
    [0, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000],
  ),
  staleAnswers: counter(
    'laddercast_stale_answers_total',
    'Lists that were answered from the last snapshot, since Redis could not be asked. From: api.',
  ),
  sketchAgeSeconds: gauge(
    'laddercast_sketch_age_seconds',
    'Age of the oldest sketch, among lists in use, that ranks are estimated by; 0 when there is none. From: api and gateway.',
  ),

  tickSeconds: histogram(
    'laddercast_tick_seconds',
    'How long the tick of a list took, from the look at the list to its publication. From: projector.',
    MOMENTS,
  ),
  tickOverruns: counter(
    'laddercast_tick_overruns_total',
    'Ticks that took longer than the push.intervalMs of their board, or began as much too late. From: projector.',
  ),
  tickFailures: counter(
    'laddercast_tick_failures_total',
    'Ticks that failed; the list is tried again. From: projector.',
  ),
  snapshotsPublished: counter(
    'laddercast_snapshots_published_total',
    'Ticks that found their list changed, and a new snapshot. From: projector.',
  ),
  tickedLists: gauge(
    'laddercast_lists_in_use',
    'Lists with subscribers or recent reads that the process knows of. From: projector.',
  ),
  snapshotAgeSeconds: gauge(
    'laddercast_snapshot_age_seconds',
    'The longest time for which no tick has confirmed or renewed the snapshot of a list in use, among those that the process ticks. From: projector.',
  ),

  subscriptions: gauge('laddercast_subscriptions', 'Subscriptions of open sockets. From: gateway.'),
  shadowSockets: gauge(
    'laddercast_shadow_sockets',
    'Sockets of shadowed players, whose lists are read for them alone. From: gateway.',
  ),
  framesSent: counter('laddercast_frames_sent_total', 'Frames that were sent to sockets. From: gateway.'),
  deltasDropped: counter('laddercast_deltas_dropped_total', 'Deltas that slow readers were not sent. From: gateway.'),
  readersResynchronised: counter(
    'laddercast_readers_resynchronised_total',
    'Fresh snapshots for readers that had been behind. From: gateway.',
  ),
  socketsTerminated: counter(
    'laddercast_sockets_terminated_total',
    'Sockets that were ended because they were dead or too slow. From: gateway.',
  ),

  authenticationFailures: counter(
    'laddercast_authentication_failures_total',
    'Keys and tokens that were refused, by reason; unavailable: they could not be checked. From: api, gateway.',
    'reason',
  ),
  spansDropped: counter(
    'laddercast_spans_dropped_total',
    'Spans of traces that were not kept: the queue was full (queue), or the collector did not take them (export). From: every process.',
    'reason',
  ),
};
