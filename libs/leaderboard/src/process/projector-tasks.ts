import { RuleExaminer } from '@laddercast/commands';
import { DeadLetterStore } from '@laddercast/event-log';
import {
  BoardFiller,
  BoardLayouts,
  BoardRebuilds,
  BoardScopeMigration,
  DayStartRecorder,
  EditionReviser,
  EntryExpirer,
  EntryTrimmer,
  FlagDecisions,
  Flags,
  HistoryPruner,
  limitDuties,
  LimitStartMarker,
  PoolRater,
  PoolRegistry,
  PatchRegistry,
  PostgresDatabase,
  PeriodCloser,
  PositionPartitions,
  Reconciliations,
  EndedRuns,
  EntryEnder,
  LastFeeds,
  RatingAlgorithms,
  RatingHistoryPruner,
  RollingExpirer,
  RunPruner,
  SanctionClock,
  SharedLook,
  StandingsPruner,
  StandingsRecorder,
  SubmissionPruner,
  windowDuties,
  WindowCloser,
  WindowRestater,
  type Duty,
  type LeasedTaskOptions,
  type PoolsOf,
} from '@laddercast/ledger';
import { Environment, nowMs } from '@laddercast/platform';
import {
  LayoutBuilder,
  LayoutGrowth,
  LayoutRemover,
  RangeSweeper,
  ReconcileJobs,
  LostShardWatch,
  SnapshotStore,
  StoreMaintenance,
  type LayoutPace,
} from '@laddercast/projections';
import type { PartOf } from '../parts.js';

/** Of more nobody asks whose lists are filled first. */
const LISTS_IN_USE_MAX = 10_000;

/** Done by one projector at a time, the one that holds the lease `name`. */
export interface ProjectorTask extends Omit<LeasedTaskOptions, 'onFailure'> {
  /** Under which name failures are logged, and what is said of them. */
  log: string;
  failing: string;
}

/** All that projectors do by the clock: what, how often, and under which lease. */
export function projectorTasks(part: PartOf): ProjectorTask[] {
  const look = new SharedLook(part(PostgresDatabase));
  return [...ledgerTasks(part, look), ...integrityTasks(part, look), ...projectionTasks(part, look)];
}

function ledgerTasks(part: PartOf, look: SharedLook): ProjectorTask[] {
  const { DEAD_LETTER_DAYS } = part(Environment);
  const reviser = part(EditionReviser);
  const submissions = part(SubmissionPruner);
  const scopes = part(BoardScopeMigration);
  const sanctions = part(SanctionClock);
  const rebuilds = part(BoardRebuilds);
  const letters = part(DeadLetterStore);
  const rater = part(PoolRater);
  const pools = part(PoolRegistry);
  const patches = part(PatchRegistry);
  const filler = part(BoardFiller);
  const ender = part(EntryEnder);
  const lastFeeds = part(LastFeeds);
  const restater = part(WindowRestater);
  const { everywhere, ofTeams } = part(RatingAlgorithms);
  const periods = part(PeriodCloser);
  const ratingHistory = part(RatingHistoryPruner);
  const partitions = part(PositionPartitions);
  const runs = part(RunPruner);
  const ended = part(EndedRuns);
  const fillingOf = (pools: PoolsOf): Duty =>
    look.duty(filler.due, { everyMs: 500, run: (signal) => filler.run(signal, pools) });
  const restatingOf = (pools: PoolsOf): Duty =>
    look.duty(restater.due, {
      ...{ everyMs: 500, retryMs: 1000, retryMaxMs: 10_000 },
      run: (signal) => restater.run(signal, pools),
    });
  return [
    {
      name: 'windows:schedule',
      ttlMs: 5000,
      askEveryMs: 1000,
      log: 'windows',
      failing: 'What is due by the clock waits',
      duties: windowDuties(
        {
          closer: part(WindowCloser),
          recorder: part(StandingsRecorder),
          days: part(DayStartRecorder),
          expirer: part(RollingExpirer),
          pruner: part(StandingsPruner),
          historyPruner: part(HistoryPruner),
        },
        look,
      ),
    },
    {
      name: 'windows:revise',
      ttlMs: 5000,
      askEveryMs: 1000,
      log: 'windows',
      failing: 'Standings that acts changed wait for their next edition',
      duties: [
        look.duty(reviser.due, {
          everyMs: 500,
          retryMs: 1000,
          retryMaxMs: 10_000,
          run: (signal) => reviser.run(signal),
        }),
      ],
    },
    {
      name: 'boards:limits',
      ttlMs: 5000,
      askEveryMs: 1000,
      log: 'ledger',
      failing: 'What limits remove stays for now',
      duties: limitDuties(
        { marker: part(LimitStartMarker), trimmer: part(EntryTrimmer), expirer: part(EntryExpirer) },
        look,
      ),
    },
    {
      name: 'players:sanctions',
      ttlMs: 5000,
      askEveryMs: 1000,
      log: 'ledger',
      failing: 'Sanctions that are over are not lifted now, and entries do not follow those that are in force',
      duties: [
        look.duty(sanctions.due, { everyMs: 500, run: (signal) => sanctions.liftDue(signal) }),
        look.duty(sanctions.pending, { everyMs: 500, run: (signal) => sanctions.goOn(signal) }),
      ],
    },
    {
      name: 'boards:rescope',
      ttlMs: 10_000,
      askEveryMs: 5000,
      log: 'ledger',
      failing: "A board's entries cannot be given their new scopes now",
      duties: [look.duty(scopes.due, { everyMs: 500, run: (signal) => scopes.run(signal) })],
    },
    {
      name: 'boards:rebuild',
      ttlMs: 10_000,
      askEveryMs: 5000,
      log: 'recovery',
      failing: 'Boards cannot be rebuilt now',
      duties: [look.duty(rebuilds.due, { everyMs: 500, run: () => rebuilds.advance() })],
    },
    {
      name: 'patches:publish',
      ttlMs: 5000,
      askEveryMs: 1000,
      log: 'patches',
      failing: 'Patches whose time has come are not published now, and boards do not hear of those that were',
      duties: [
        look.duty(patches.due, {
          ...{ everyMs: 250, retryMs: 250, retryMaxMs: 10_000 },
          run: (signal) => patches.publishDue(signal),
        }),
      ],
    },
    {
      name: 'pools:rate',
      ttlMs: 5000,
      askEveryMs: 1000,
      log: 'pools',
      failing: 'Games whose event was lost are not rated now, and periods that are over are not closed',
      duties: [
        { everyMs: 5000, run: (signal) => rater.sweep(signal) },
        look.duty(periods.due, { everyMs: 500, run: (signal) => periods.run(signal) }),
        { everyMs: 5000, run: (signal) => pools.purge(signal) },
      ],
    },
    {
      name: 'pools:feed',
      ttlMs: 5000,
      askEveryMs: 1000,
      log: 'pools',
      failing:
        'Boards that rating pools feed are not filled now, entries whose time is over stay on them, and windows stay open',
      duties: [
        fillingOf(everywhere),
        look.duty(ender.due, { everyMs: 500, run: (signal) => ender.run(signal) }),
        look.duty(lastFeeds.due, { everyMs: 250, run: (signal) => lastFeeds.run(signal) }),
      ],
    },
    {
      name: 'pools:restate',
      ttlMs: 5000,
      askEveryMs: 1000,
      log: 'pools',
      failing: 'Windows that are to be restated keep the standings that they have',
      duties: [restatingOf(everywhere)],
    },
    // Another projector may lack the module of a team: what takes its algorithm is done by one that has it.
    ...ofTeams.map((algorithm) => ({
      name: `pools:algorithm:${algorithm}`,
      ttlMs: 5000,
      askEveryMs: 1000,
      log: 'pools',
      failing: `Pools of the algorithm "${algorithm}" are not rated now, or their boards wait`,
      duties: [
        { everyMs: 5000, run: (signal: AbortSignal) => rater.sweep(signal, [algorithm]) },
        fillingOf([algorithm]),
        restatingOf([algorithm]),
      ],
    })),
    {
      name: 'pools:prune',
      ttlMs: 30_000,
      log: 'pools',
      failing: 'Changes of ratings that are older than their pools keep them are not deleted now',
      duties: [{ everyMs: 60_000, run: (signal) => ratingHistory.run(signal) }],
    },
    {
      name: 'ledger:partitions',
      ttlMs: 60_000,
      log: 'ledger',
      failing: 'The next partition of a table cannot be begun now: the last one goes on, up to its end if it has one',
      duties: [{ everyMs: 600_000, retryMs: 60_000, run: (signal) => partitions.run(signal) }],
    },
    {
      name: 'runs:prune',
      ttlMs: 30_000,
      log: 'ledger',
      failing: 'Runs that are older than their boards keep them are not pruned now',
      duties: [
        { everyMs: 60_000, run: (signal) => runs.run(signal) },
        { everyMs: 60_000, run: (signal) => ended.run(signal) },
      ],
    },
    {
      name: 'submissions:prune',
      ttlMs: 60_000,
      log: 'ledger',
      failing: 'Old submission ids are not pruned now',
      duties: [{ everyMs: 600_000, run: (signal) => submissions.prune(signal) }],
    },
    {
      name: 'dead-letters:prune',
      ttlMs: 30_000,
      log: 'recovery',
      failing: 'Old dead letters are not removed now',
      duties: [{ everyMs: 60_000, run: (signal) => letters.prune(DEAD_LETTER_DAYS, signal) }],
    },
  ];
}

function integrityTasks(part: PartOf, look: SharedLook): ProjectorTask[] {
  const examiner = part(RuleExaminer);
  const decisions = part(FlagDecisions);
  const flags = part(Flags);
  return [
    // Each rule by itself: one that hangs holds up no other, and another projector may lack its module.
    ...examiner.rules.map((rule) => ({
      name: `integrity:rule:${rule.name}`,
      ttlMs: 5000,
      askEveryMs: 1000,
      log: 'integrity',
      failing: `Runs wait for the rule "${rule.name}"`,
      duties: [{ everyMs: 250, run: (signal: AbortSignal) => examiner.look(rule, signal) }],
      onTerm: () => () => examiner.settled(rule),
    })),
    {
      name: 'integrity:flags',
      ttlMs: 5000,
      askEveryMs: 1000,
      log: 'integrity',
      failing: 'What was decided of flags with many runs waits',
      duties: [
        look.duty(decisions.due, { everyMs: 500, run: (signal) => decisions.carryOn(signal) }),
        { everyMs: 3_600_000, run: (signal) => flags.prune(signal) },
      ],
    },
  ];
}

function projectionTasks(part: PartOf, look: SharedLook): ProjectorTask[] {
  const builder = part(LayoutBuilder);
  const { RETAX_BOARDS_AT_ONCE: boardsAtOnce, RETAX_ROWS_PER_SECOND: rowsPerSecond } = part(Environment);
  const snapshots = part(SnapshotStore);
  const pace = async (): Promise<LayoutPace> => {
    const lists = builder.hasChoice() ? await snapshots.listsInUse(nowMs(), LISTS_IN_USE_MAX).catch(() => []) : [];
    return { boardsAtOnce, rowsPerSecond, inUse: new Set(lists.map(({ boardUid }) => boardUid)) };
  };
  const remover = part(LayoutRemover);
  const growth = part(LayoutGrowth);
  const ranges = part(RangeSweeper);
  const reconciliation = part(ReconcileJobs);
  const restores = part(LostShardWatch);
  const store = part(StoreMaintenance);
  return [
    {
      name: 'boards:layouts',
      ttlMs: 10_000,
      askEveryMs: 2000,
      log: 'layouts',
      failing: "A board's lists wait",
      duties: [
        { everyMs: 250, run: async (signal) => builder.look(signal, await pace()) },
        look.duty(part(BoardLayouts).due, { everyMs: 250, run: (signal) => remover.look(signal) }),
        { everyMs: 250, run: (signal) => growth.look(signal) },
      ],
      onTerm: () => () => Promise.all([builder.settled(), remover.settled()]),
    },
    {
      name: 'ranges:sweep',
      ttlMs: 15_000,
      log: 'ranges',
      failing: 'Moves between shards are not looked after now',
      duties: [{ everyMs: 5000, run: (signal) => ranges.sweep(signal) }],
    },
    {
      name: 'boards:reconcile',
      ttlMs: 10_000,
      askEveryMs: 2000,
      log: 'reconcile',
      failing: 'The ranks cannot be compared now',
      duties: [
        look.duty(part(Reconciliations).due, { everyMs: 500, run: (signal) => reconciliation.reconcile(signal) }),
        { everyMs: reconciliation.sampleEveryMs, run: (signal) => reconciliation.sample(signal) },
      ],
    },
    {
      name: 'projection:lost-shards',
      ttlMs: 6000,
      askEveryMs: 2000,
      log: 'recovery',
      failing: 'A shard cannot be brought back now',
      duties: [{ everyMs: 500, run: (signal) => restores.look(signal) }],
      onTerm: () => () => restores.settled(),
    },
    {
      name: 'projection:store',
      ttlMs: 6000,
      askEveryMs: 2000,
      log: 'recovery',
      failing: 'Redis cannot be looked after now',
      duties: [
        { everyMs: 5000, run: (signal) => store.look(signal) },
        // Beside the looks: it reads every key there is.
        { everyMs: 5000, run: (signal) => store.sweep(signal) },
      ],
      onTerm: () => store.begin(),
    },
  ];
}
