import { cellOf, numberOf, spread, tableOf } from '../figures/figures.js';
import { redisFloorName } from '../floors/redis-floor.js';
import { generatorName } from '../load/generator.js';

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
export function writeTables(boards, { entries, players, connections, seconds }, what) {
  const names = Object.keys(boards);
  const all = Object.values(boards).flat();
  const improved = spread(all.flatMap(({ full, paced }) => [full.improved, paced.improved])).median;
  const first = `Minimum / median / maximum of ${boards[names[0]].length} rounds of ${seconds} s; ${numberOf(entries)} entries, ${numberOf(players)} players, ${connections} connections of ${generatorName}; ${improved.toFixed(0)} % of the submissions improve the player's entry.`;
  const of = (name, pick) => boards[name].map(pick);
  const loads = tableOf(
    ['board', `${what}, /s`, 'p50, ms', 'p99, ms', 'at 70 %, /s', 'p50, ms', 'p99, ms'],
    names.map((name) => [
      name,
      cellOf(of(name, ({ full }) => full.perSecond)),
      ...quantiles(of(name, ({ full }) => full)),
      cellOf(of(name, ({ paced }) => paced.perSecond)),
      ...quantiles(of(name, ({ paced }) => paced)),
    ]),
  );
  const behind = tableOf(
    ['board', 'events behind, at most', 'at 70 %', 'caught up after, ms', 'submissions a commit'],
    names.map((name) => [
      name,
      cellOf(of(name, ({ full }) => full.behindMost)),
      cellOf(of(name, ({ paced }) => paced.behindMost)),
      cellOf(of(name, ({ full }) => full.caughtUpMs)),
      cellOf(
        of(name, ({ full }) => full.commit),
        1,
      ),
    ]),
  );
  const redis = `ZADD and ZREVRANK: ${redisFloorName}.`;
  return [first, loads, behind, cpuTable(boards), floorTable(boards, Object.keys(all[0].floors)), redis].join('\n\n');
}

const quantiles = (loads) => [
  cellOf(
    loads.map(({ p50 }) => p50),
    1,
  ),
  cellOf(
    loads.map(({ p99 }) => p99),
    1,
  ),
];

/** Microseconds of CPU by process, what the api asked of others for each request (commits apart), and whether the machine was busy with something else. */
export function cpuTable(loads) {
  const processes = Object.keys(Object.values(loads)[0][0].full.cpu);
  return tableOf(
    ['CPU, µs each', ...processes, 'calls of Redis, each', 'queries, each', 'others took, % of the machine'],
    Object.entries(loads).map(([name, rounds]) => [
      name,
      ...processes.map((one) => numberOf(spread(rounds.map(({ full }) => full.cpu[one])).median)),
      ...['redis', 'postgres'].map((store) => numberOf(spread(rounds.map(({ full }) => full.asked[store])).median, 2)),
      cellOf(rounds.map(({ full }) => 100 * full.others)),
    ]),
  );
}

/** What each stands on, and how much of that it is: medians. */
export function floorTable(loads, floors, names = floorNames) {
  return tableOf(
    ['floor, /s', ...floors.flatMap((floor) => [names[floor], 'ratio'])],
    Object.entries(loads).map(([name, rounds]) => {
      const median = spread(rounds.map(({ full }) => full.perSecond)).median;
      return [
        name,
        ...floors.flatMap((floor) => {
          const values = rounds.map((round) => round.floors[floor]);
          return [cellOf(values), (median / spread(values).median).toFixed(2)];
        }),
      ];
    }),
  );
}
