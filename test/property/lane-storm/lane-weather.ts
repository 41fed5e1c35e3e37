import { ADVISORY_LOCKS } from '@laddercast/ledger';
import { monotonicMs, sleep } from '@laddercast/platform';
import type { Dice, TcpProxy } from '@laddercast/testing';
import { CancelledBeginnings } from '../../integration/nodes/postgres-cancelled-beginnings.js';
import { raiseLanes } from '../../integration/nodes/raises.js';
import type { LaneProcesses } from './lane-processes.js';

const STRIKES = 80;
const GUSTS = 6;
/** To how many lanes, and when of the time. */
const RAISES: readonly [number, number][] = [
  [4, 0.4],
  [8, 0.7],
];
const PAUSE_MS = 100;
const HELD_MS = 20;
const KEPT_MS = 300;
/** How long ways are cut, or hang: those to PostgreSQL shortly, as they may hold a lane then. */
const WAY_MS = { postgres: 150, owner: 900 };

/** The backends that wait for a lane, or commit. */
const IN_COMMITS = `
  SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'
    AND (query = 'COMMIT' OR query LIKE 'BEGIN;%' OR query LIKE '%drawn AS%')`;
const HOLD_LANE = `SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.lanes}, $1)`;

type Strike = () => unknown;
type Struck = LaneWeather['struck'];

/** What happens to processes, to their ways, and to what they agreed on, as dice choose. */
export class LaneWeather {
  readonly counts = new Map<string, number>();
  /** What of it struck something. */
  readonly struck = { 'commits stopped': 0, 'commits unanswered': 0, 'messages unanswered': 0 };
  private readonly beginnings = new CancelledBeginnings();
  private readonly going: Promise<void>[] = [];

  /** One after the other, so that there are commits in one trip as well: while ways are broken, lanes have no owners. */
  private readonly gusts: readonly (readonly [string, Strike][])[];

  constructor(
    private readonly processes: LaneProcesses,
    private readonly dice: Dice,
  ) {
    const { postgres, owner } = processes.ways;
    this.gusts = [
      [
        ['runs', () => this.keepRuns()],
        ['revision', () => processes.define('counted', { title: `t${dice.below(1000)}` })],
      ],
      [
        ['cancel', () => this.stopCommits('pg_cancel_backend')],
        ['kill', () => this.stopCommits('pg_terminate_backend')],
        ['cancel a beginning', () => this.beginnings.next()],
        ['no answer to a commit', () => this.cutAfter(postgres, 'COMMIT', 'commits unanswered')],
      ],
      [
        ['no answer to a message', () => this.cutAfter(owner, 'lane-writes', 'messages unanswered')],
        ['cut', () => this.during('cut', 'mend')],
        ['freeze', () => this.during('freeze', 'thaw')],
      ],
    ];
  }

  /** Goes on until enough has happened, or for so long; then all ways are well. */
  async blow(mostMs: number): Promise<void> {
    const { dice, gusts } = this;
    const startedMs = monotonicMs();
    const raises = [...RAISES];
    let strikes = 0;
    const passed = (): number => Math.max(strikes / STRIKES, (monotonicMs() - startedMs) / mostMs);
    for (let now = 0; now < 1; now = passed()) {
      await sleep(dice.below(PAUSE_MS));
      strikes += 1;
      const [count, from] = raises[0] ?? [0, 1];
      if (now < from) await this.happen(...dice.oneOf(gusts[Math.floor(now * GUSTS) % gusts.length]!));
      else await this.happen('raise', () => raiseLanes(this.processes.plain, count).then(() => raises.shift()));
    }
    await Promise.all(this.going);
  }

  private async happen(what: string, strike: Strike): Promise<void> {
    await strike();
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** Others go on meanwhile. */
  private during(begin: 'cut' | 'freeze', end: 'mend' | 'thaw'): void {
    const { dice, processes } = this;
    const kind = dice.oneOf(['postgres', 'owner', 'owner'] as const);
    const way = dice.oneOf(processes.ways[kind]);
    way[begin]();
    this.going.push(sleep(dice.below(WAY_MS[kind])).then(() => way[end]()));
  }

  /** Once it comes by: it may never do. */
  private cutAfter(ways: readonly TcpProxy[], text: string, what: keyof Struck): void {
    void this.dice
      .oneOf(ways)
      .cutAfter(text)
      .then(() => (this.struck[what] += 1));
  }

  /** Holds a lane until commits wait for it, and stops some of them. */
  private stopCommits(how: 'pg_cancel_backend' | 'pg_terminate_backend'): Promise<void> {
    const { dice } = this;
    const { database, lanes } = this.processes.plain;
    return database.transaction(async (transaction) => {
      await transaction.query(HOLD_LANE, [dice.oneOf(lanes.all)]);
      await sleep(dice.below(HELD_MS));
      const found = await transaction.query<{ pid: number }>(IN_COMMITS);
      const pids = found.map(({ pid }) => pid).filter(() => dice.isUnder(0.7));
      const stopped = await transaction.query<{ was: boolean }>(
        `SELECT ${how}(pid) AS was FROM unnest($1::int[]) AS pid`,
        [pids],
      );
      this.struck['commits stopped'] += stopped.filter(({ was }) => was).length;
    });
  }

  /** For a moment. */
  private async keepRuns(): Promise<void> {
    const { dice, processes } = this;
    await processes.define('plain', { runs: { keepDays: 30 } });
    await sleep(dice.below(KEPT_MS));
    await processes.define('plain');
  }
}
