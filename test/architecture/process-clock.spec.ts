// Real: every source file of the repository.
import { describe, expect, it } from 'vitest';
import { isTest, isTypeScript, repositoryFiles } from './source-tree.js';

/**
 * What the process's own clock is for, and who may look at it. What a board shows is decided by the ledger's time
 * (`LedgerClock`, or SQL by `ladder_now()`): another clock would show a run of after the freeze.
 */
const ALLOWED: Record<string, string[]> = {
  'how long what this process keeps, or marks in Redis, is good': [
    'libs/identity/src/authenticator.ts',
    'libs/identity/src/key-lookups.ts',
    'libs/leaderboard/src/health/readiness.ts',
    'libs/ledger/src/database/postgres-reach.ts',
    'libs/projections/src/layouts/layout-remover.ts',
    'libs/projections/src/checkpoints/redis-checkpoint-calls.ts',
    'libs/projections/src/checkpoints/redis-checkpoints.ts',
    'libs/projections/src/range-shards/range-apply.ts',
    'libs/projections/src/checkpoints/range-checkpoints.ts',
    'libs/projections/src/live/redis-trace-notes.ts',
    'libs/projections/src/sketches/sketch-cache.ts',
    'libs/queries/src/rows/entry-details.ts',
    'libs/queries/src/snapshots/snapshot-cache.ts',
    'libs/realtime/src/feeds/live-feeds.ts',
    'libs/realtime/src/publishing/rank-delta.publisher.ts',
    'libs/realtime/src/publishing/sketch.publisher.ts',
  ],
  'what is said as `asOf`, and what a reader may ask for as such': [
    'apps/api/src/http/list-selection.ts',
    'libs/commands/src/scores/submission-ranks.ts',
    'libs/projections/src/replica/replica-watch.ts',
    'libs/projections/src/sketches/sketch-builder.ts',
    'libs/queries/src/history/get-standings.handler.ts',
    'libs/queries/src/pages/get-entries.handler.ts',
    'libs/queries/src/rows/list-reader.ts',
    'libs/realtime/src/publishing/snapshot-tick.ts',
    'libs/realtime/src/channels/watched-rows.ts',
    'libs/realtime/src/feeds/list-feed.ts',
    'libs/realtime/src/gateway/subscription-lifecycle.ts',
  ],
  'names and counters that only have to grow': [
    'libs/projections/src/layouts/layout-builder.ts',
    'libs/projections/src/range-shards/range-writer.ts',
    'libs/projections/src/redis/redis-lost-shards.ts',
    'libs/projections/src/projection/redis-rank-inspection.ts',
    'libs/projections/src/hash-shards/redis-shard-calls.ts',
  ],
  'which lists are in use, whose next lists are filled first': ['libs/leaderboard/src/process/projector-tasks.ts'],
  'measuring, and the clocks of others': [
    'libs/event-log/src/kafka/kafka-lag.ts',
    'libs/event-log/src/kafka/kafka-relay-target.ts',
    'libs/projections/src/redis/store-clock.ts',
    'libs/realtime/src/publishing/tick-traces.ts',
  ],
};

const IMPORTS_PLATFORM = /import\s*(?:type\s*)?\{([^}]*)\}\s*from '@laddercast\/platform'/g;

const looksAtClock = (text: string): boolean =>
  [...text.matchAll(IMPORTS_PLATFORM)].some(([, names]) => /\bnowMs\b/.test(names!));

describe("the process's own clock", () => {
  it('is looked at only where it decides nothing of what a board shows', () => {
    const readers = repositoryFiles()
      .filter((file) => isTypeScript(file) && /^(libs|apps|examples)\//.test(file.path) && !isTest(file.path))
      .filter(({ text }) => looksAtClock(text))
      .map(({ path }) => path);
    expect(readers.sort()).toEqual(Object.values(ALLOWED).flat().sort());
  });

  it.each([
    [`import { nowMs } from '@laddercast/platform';`, true],
    [`import {\n  monotonicMs,\n  nowMs as now,\n} from '@laddercast/platform';`, true],
    [`import { monotonicMs } from '@laddercast/platform';\nconst nowMs = clock.nowMs();`, false],
  ])('is found where it is looked at: %j', (text, expected) => expect(looksAtClock(text)).toBe(expected));
});
