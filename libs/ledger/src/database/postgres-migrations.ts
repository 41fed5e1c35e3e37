import { CreateLedger1763700000000 } from './migrations/1763700000000-create-ledger.js';
import { TimeAndCircles1763720000000 } from './migrations/1763720000000-time-and-circles.js';
import { LayoutsAndLimits1763740000000 } from './migrations/1763740000000-layouts-and-limits.js';
import { IndexBuckets1763760000000 } from './migrations/1763760000000-index-buckets.js';
import { KeysAndAudit1763761000000 } from './migrations/1763761000000-keys-and-audit.js';
import { Recovery1763762000000 } from './migrations/1763762000000-recovery.js';
import { MetadataBoards1763763000000 } from './migrations/1763763000000-metadata-boards.js';
import { SettlementFailures1763765000000 } from './migrations/1763765000000-settlement-failures.js';
import { FailedEditions1763766000000 } from './migrations/1763766000000-failed-editions.js';
import { EntryEnds1763773000000 } from './migrations/1763773000000-entry-ends.js';
import { ChangePartitions1763776000000 } from './migrations/1763776000000-change-partitions.js';
import { Restatements1763781500000 } from './migrations/1763781500000-restatements.js';
import { LaneWriters1763788000000 } from './migrations/1763788000000-lane-writers.js';
import { LaneHeads1763789000000 } from './migrations/1763789000000-lane-heads.js';
import { LaneMaps1763790000000 } from './migrations/1763790000000-lane-maps.js';
import { FormerIds1763791000000 } from './migrations/1763791000000-former-ids.js';
import { RescopesAsked1763792000000 } from './migrations/1763792000000-rescopes-asked.js';
import { LimitsOfRuns1763795000000 } from './migrations/1763795000000-limits-of-runs.js';
import { Runs1763775000000 } from './migrations/integrity/1763775000000-runs.js';
import { VerifiedRows1763775500000 } from './migrations/integrity/1763775500000-verified-rows.js';
import { Sanctions1763777000000 } from './migrations/integrity/1763777000000-sanctions.js';
import { EditionRevisions1763778000000 } from './migrations/integrity/1763778000000-edition-revisions.js';
import { Flags1763779000000 } from './migrations/integrity/1763779000000-flags.js';
import { WhatAlsoStood1763794000000 } from './migrations/integrity/1763794000000-what-also-stood.js';
import { VerifiedByFlags1763799000000 } from './migrations/integrity/1763799000000-verified-by-flags.js';
import { FailuresOfRules1763797000000 } from './migrations/integrity/1763797000000-failures-of-rules.js';
import { RunEntries1763782000000 } from './migrations/integrity/1763782000000-run-entries.js';
import { Patches1763782500000 } from './migrations/patches/1763782500000-patches.js';
import { PatchRuns1763783000000 } from './migrations/patches/1763783000000-patch-runs.js';
import { RunsOfPatches1763785000000 } from './migrations/patches/1763785000000-runs-of-patches.js';
import { TaxOfEditions1763787500000 } from './migrations/patches/1763787500000-tax-of-editions.js';
import { RatingPools1763767000000 } from './migrations/ratings/1763767000000-rating-pools.js';
import { PoolEvents1763768000000 } from './migrations/ratings/1763768000000-pool-events.js';
import { Voids1763769000000 } from './migrations/ratings/1763769000000-voids.js';
import { BoardFeeds1763770000000 } from './migrations/ratings/1763770000000-board-feeds.js';
import { RatingPeriods1763771000000 } from './migrations/ratings/1763771000000-rating-periods.js';
import { Refunds1763772000000 } from './migrations/ratings/1763772000000-refunds.js';
import { RatingBases1763774000000 } from './migrations/ratings/1763774000000-rating-bases.js';
import { FillsAskedAgain1763793000000 } from './migrations/ratings/1763793000000-fills-asked-again.js';
import { LastFeeds1763796000000 } from './migrations/ratings/1763796000000-last-feeds.js';
import { UntoldRatings1763798000000 } from './migrations/ratings/1763798000000-untold-ratings.js';
import { ExactSums1763764000000 } from './migrations/sums/1763764000000-exact-sums.js';
import { NearestBelowNormal1763787000000 } from './migrations/sums/1763787000000-nearest-below-normal.js';
import { BoardTemplates1763784500000 } from './migrations/templates/1763784500000-board-templates.js';
import { monotonicMs, sleep } from '@laddercast/platform';
import { Logger } from '@nestjs/common';
import { MigrationExecutor, type DataSource } from 'typeorm';
import { ADVISORY_LOCKS } from './advisory-locks.js';
import type { SqlRunner } from './postgres-database.js';
import { discardConnection, sqlRunnerOf } from './postgres-runners.js';

export const MIGRATIONS_TABLE = 'ladder_migrations';
export const MIGRATIONS = [
  CreateLedger1763700000000,
  TimeAndCircles1763720000000,
  LayoutsAndLimits1763740000000,
  IndexBuckets1763760000000,
  KeysAndAudit1763761000000,
  Recovery1763762000000,
  MetadataBoards1763763000000,
  ExactSums1763764000000,
  SettlementFailures1763765000000,
  FailedEditions1763766000000,
  RatingPools1763767000000,
  PoolEvents1763768000000,
  Voids1763769000000,
  BoardFeeds1763770000000,
  RatingPeriods1763771000000,
  Refunds1763772000000,
  EntryEnds1763773000000,
  RatingBases1763774000000,
  Runs1763775000000,
  VerifiedRows1763775500000,
  ChangePartitions1763776000000,
  Sanctions1763777000000,
  EditionRevisions1763778000000,
  Flags1763779000000,
  Restatements1763781500000,
  RunEntries1763782000000,
  Patches1763782500000,
  PatchRuns1763783000000,
  BoardTemplates1763784500000,
  RunsOfPatches1763785000000,
  NearestBelowNormal1763787000000,
  TaxOfEditions1763787500000,
  LaneWriters1763788000000,
  LaneHeads1763789000000,
  LaneMaps1763790000000,
  FormerIds1763791000000,
  RescopesAsked1763792000000,
  FillsAskedAgain1763793000000,
  WhatAlsoStood1763794000000,
  LimitsOfRuns1763795000000,
  LastFeeds1763796000000,
  FailuresOfRules1763797000000,
  UntoldRatings1763798000000,
  VerifiedByFlags1763799000000,
];

/** An index of the largest table takes hours; that a server hangs shows on the connection. */
const STATEMENT_TIMEOUT_MS = 86_400_000;
/** While it waits for a table, all others wait for that behind it, those of an older release, too. */
const LOCK_TIMEOUT_MS = 4000;
const KEEP_ALIVE_EVERY_MS = 60_000;

/** What migrations run under. */
export const MIGRATION_LIMITS = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: LOCK_TIMEOUT_MS,
  // A migration may compute between its statements. The number 0 would not be sent.
  idle_in_transaction_session_timeout: '0',
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEP_ALIVE_EVERY_MS,
};
/** One for the migrations, and one that looks how far they are. */
export const MIGRATION_CONNECTIONS = 2;

const ASK_EVERY_MS = 200;
const TELL_EVERY_MS = 5000;
const log = new Logger('migrations');

/**
 * Runs the migrations that are due, each in a transaction of its own unless it says otherwise; of processes that start together
 * one does, and the others wait for it. What takes long is told in the log.
 * @param dataSource with {@link MIGRATION_CONNECTIONS}
 * @param before what comes first, under the same lock
 */
export async function runMigrations(
  dataSource: DataSource,
  before?: (session: SqlRunner) => Promise<unknown>,
): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    const session = sqlRunnerOf(runner);
    // Of the session that migrates: of a process that dies it goes when PostgreSQL has ended the statement.
    await takeMigrationLock(session);
    await before?.(session);
    const executor = new MigrationExecutor(dataSource, runner);
    executor.transaction = 'each';
    if ((await executor.getPendingMigrations()).length > 0) {
      const [{ pid }] = (await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')) as [{ pid: number }];
      const stopTelling = tellProgress(dataSource, pid);
      await executor.executePendingMigrations().finally(stopTelling);
    }
    await session.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCKS.migrations]);
    await runner.release();
  } catch (error) {
    // The lock goes with the connection.
    await discardConnection(runner, error);
    throw error;
  }
}

async function takeMigrationLock(session: SqlRunner): Promise<void> {
  const fromMs = monotonicMs();
  for (let toldMs = fromMs; ; await sleep(ASK_EVERY_MS)) {
    const [row] = await session.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
      ADVISORY_LOCKS.migrations,
    ]);
    if (row!.taken) return;
    if (monotonicMs() - toldMs < TELL_EVERY_MS) continue;
    toldMs = monotonicMs();
    log.log(`Another process migrates the database: waiting for it for ${secondsSince(fromMs)} s`);
  }
}

const PROGRESS = `
  SELECT phase, coalesce(100 * tuples_done / nullif(tuples_total, 0), 100 * blocks_done / nullif(blocks_total, 0)) AS percent
  FROM pg_stat_progress_create_index WHERE pid = $1`;

/** Says every few seconds which migration runs, and how far its index is. @returns what ends that */
function tellProgress(dataSource: DataSource, pid: number): () => void {
  const fromMs = monotonicMs();
  const tell = async (): Promise<void> => {
    const [migration] = await new MigrationExecutor(dataSource).getPendingMigrations();
    const [index] = (await dataSource.query(PROGRESS, [pid])) as { phase: string; percent: number | null }[];
    if (migration === undefined) return;
    const of = index ? `, ${index.phase}${index.percent === null ? '' : ` (${index.percent} %)`}` : '';
    log.log(`Migrating the database for ${secondsSince(fromMs)} s: ${migration.name}${of}`);
  };
  // The migrations are what counts: whether they go well they say themselves.
  const timer = setInterval(() => void tell().catch(() => undefined), TELL_EVERY_MS);
  return () => clearInterval(timer);
}

const secondsSince = (fromMs: number): number => Math.round((monotonicMs() - fromMs) / 1000);
