import { cellOf, numberOf, spread, tableOf } from '../figures/figures.js';
import { redisFloorName } from '../floors/redis-floor.js';
import { generatorName, type Rated } from '../load/generator.js';
import type { Asked } from '../meters/scrape.js';
import type { Spent } from '../meters/watch.js';
import type { WriteRound, WriteValues } from './writes.js';

/** One round of a load, as far as the tables of all loads show it. */
export interface LoadRound {
  full: Rated & Spent & { asked: Asked };
  /** What each floor did a second. */
  floors: Record<string, number>;
}

/** The rounds of each board, or of each question. */
export type Loads = Record<string, LoadRound[]>;

const floorNames = {
  http: 'bare Fastify, POST',
  commit: 'group commit, one connection',
  zadd: 'ZADD',
  kafka: 'Kafka producer',
};

/**
 * The tables of what `measureWrites` found.
 * @param boards the rounds by the name of the board
 */
export function writeTables(
  boards: Record<string, WriteRound[]>,
  { entries, players, connections, seconds }: WriteValues,
  what: string,
): string {
  const [board] = Object.values(boards);
  if (board === undefined) throw new Error('No board was measured.');
  const all = Object.values(boards).flat();
  const improved = spread(all.flatMap(({ full, paced }) => [full.improved, paced.improved])).median;
  const first = `Minimum / median / maximum of ${board.length} rounds of ${seconds} s; ${numberOf(entries)} entries, ${numberOf(players)} players, ${connections} connections of ${generatorName}; ${improved.toFixed(0)} % of the submissions improve the player's entry.`;
  const loads = tableOf(
    ['board', `${what}, /s`, 'p50, ms', 'p99, ms', 'at 70 %, /s', 'p50, ms', 'p99, ms'],
    Object.entries(boards).map(([name, rounds]) => [
      name,
      cellOf(rounds.map(({ full }) => full.perSecond)),
      ...quantiles(rounds.map(({ full }) => full)),
      cellOf(rounds.map(({ paced }) => paced.perSecond)),
      ...quantiles(rounds.map(({ paced }) => paced)),
    ]),
  );
  const behind = tableOf(
    ['board', 'events behind, at most', 'at 70 %', 'caught up after, ms', 'submissions a commit'],
    Object.entries(boards).map(([name, rounds]) => [
      name,
      cellOf(rounds.map(({ full }) => full.behindMost)),
      cellOf(rounds.map(({ paced }) => paced.behindMost)),
      cellOf(rounds.map(({ full }) => full.caughtUpMs)),
      cellOf(
        rounds.flatMap(({ full }) => full.commit ?? []),
        1,
      ),
    ]),
  );
  const redis = `ZADD and ZREVRANK: ${redisFloorName}.`;
  return [first, loads, behind, cpuTable(boards), floorTable(boards, floorNames), redis].join('\n\n');
}

const quantiles = (loads: readonly Rated[]): string[] => [
  cellOf(
    loads.map(({ p50 }) => p50),
    1,
  ),
  cellOf(
    loads.map(({ p99 }) => p99),
    1,
  ),
];

/**
 * Microseconds of CPU by process, what the api asked of others for each request (commits apart), and whether the machine was
 * busy with something else.
 */
export function cpuTable(loads: Loads): string {
  const processes = Object.keys(firstOf(loads).full.cpu);
  const stores = ['redis', 'postgres'] as const;
  return tableOf(
    ['CPU, µs each', ...processes, 'calls of Redis, each', 'queries, each', 'others took, % of the machine'],
    Object.entries(loads).map(([name, rounds]) => [
      name,
      ...processes.map((one) => numberOf(spread(rounds.map(({ full }) => full.cpu[one] ?? NaN)).median)),
      ...stores.map((store) => numberOf(spread(rounds.map(({ full }) => full.asked[store])).median, 2)),
      cellOf(rounds.map(({ full }) => 100 * full.others)),
    ]),
  );
}

/**
 * What each stands on, and how much of that it is: medians.
 * @param names of the floors in the table; those that were not measured are left out
 */
export function floorTable(loads: Loads, names: Record<string, string>): string {
  const measured = firstOf(loads).floors;
  const floors = Object.entries(names).filter(([floor]) => measured[floor] !== undefined);
  return tableOf(
    ['floor, /s', ...floors.flatMap(([, name]) => [name, 'ratio'])],
    Object.entries(loads).map(([name, rounds]) => {
      const median = spread(rounds.map(({ full }) => full.perSecond)).median;
      return [
        name,
        ...floors.flatMap(([floor]) => {
          const values = rounds.map((round) => round.floors[floor] ?? NaN);
          return [cellOf(values), (median / spread(values).median).toFixed(2)];
        }),
      ];
    }),
  );
}

function firstOf(loads: Loads): LoadRound {
  const first = Object.values(loads)[0]?.[0];
  if (first === undefined) throw new Error('Nothing was measured.');
  return first;
}
