import { setTimeout as sleep } from 'node:timers/promises';
import type { Definition } from '../boards/entries.js';
import { quantile } from '../figures/figures.js';
import { count } from '../command-line/arguments.js';
import type { Options, ValuesOf } from '../command-line/options.js';
import type { BenchContext, Service } from '../installation/context.js';
import type { LedgerDatabase } from '../installation/ledger.js';
import { runLoad, type NextCall } from '../load/load.js';
import type { Call, Target } from '../load/requests.js';

/**
 * What more windows and scopes cost: the same submissions to a board that ranks everybody over all time, and to one with
 * four windows, regions and guilds. Each submission changes the player's entry in every window.
 */
export const description =
  'a submission to a board with four windows, regions and guilds, against one with alltime alone';

const connections = 64;
const players = 2_000;
const guilds = 50;
const regions = ['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA'];
const drainedWithinMs = 60_000;
const lookEveryMs = 20;
const quietLooks = 10;
const boards = {
  alltime: { windows: ['alltime'] },
  everything: { windows: ['alltime', 'daily', 'weekly', 'monthly'], scopes: ['global', 'region', 'guild'] },
} satisfies Record<string, Definition>;
type BoardName = keyof typeof boards;
const boardNames = Object.keys(boards) as BoardName[];

/** What a submission cost. */
interface Cost {
  answeredUs: number;
  projectedUs: number;
  cpuUs: number;
  p50Ms: number;
  p99Ms: number;
}

const playerOf = (number: number): string => `player-${number % players}`;

export const options = {
  submissions: { type: 'string', help: 'how many submissions a round has (20000)', default: '20000', parse: count },
} satisfies Options;

export async function run({
  service,
  options: { submissions },
  rounds,
  step,
  database,
  keep,
}: BenchContext<ValuesOf<typeof options>>): Promise<string> {
  await prepare(service);
  const costs: Record<BoardName, Cost[]> = { alltime: [], everything: [] };
  for (let round = 1; round <= rounds; round += 1) {
    for (const board of boardNames) {
      const cost = await measure(service, { board, submissions, database, round });
      costs[board].push(cost);
      step(`round ${round}, ${board.padEnd(10)} ${describe(cost)}`);
    }
  }
  keep({ costs });
  const ratio = (of: (cost: Cost) => number): number =>
    median(costs.everything.map(of)) / median(costs.alltime.map(of));
  const line = (name: string, of: (cost: Cost) => number, unit: string): string =>
    `${name.padEnd(34)} ${median(costs.alltime.map(of)).toFixed(1).padStart(10)} ${median(costs.everything.map(of)).toFixed(1).padStart(12)} ${unit.padEnd(3)} ${ratio(of).toFixed(2).padStart(6)} ×`;
  return [
    `${''.padEnd(34)} ${'alltime'.padStart(10)} ${'everything'.padStart(12)}`,
    line('until answered, per submission', (cost) => cost.answeredUs, 'µs'),
    line('until projected, per submission', (cost) => cost.projectedUs, 'µs'),
    line('CPU of all processes, per submission', (cost) => cost.cpuUs, 'µs'),
    line('latency p50', (cost) => cost.p50Ms * 1000, 'µs'),
    line('latency p99', (cost) => cost.p99Ms * 1000, 'µs'),
  ].join('\n');
}

async function prepare({ url, key }: Target): Promise<void> {
  const calls: Call[] = [
    ...Object.entries(boards).map(([id, definition]) => ({
      method: 'PUT',
      path: `/v1/boards/${id}`,
      body: { order: 'desc', operator: 'sum', ...definition },
    })),
    ...Array.from({ length: guilds }, (_, guild) => ({ method: 'PUT', path: `/v1/guilds/guild-${guild}`, body: {} })),
  ];
  for (const call of calls) await runLoad({ url, key, connections: 1, next: listOf([call]) });
  const profiles = Array.from({ length: players }, (_, number) => [
    { method: 'PUT', path: `/v1/players/${playerOf(number)}`, body: { region: regions[number % regions.length] } },
    { method: 'PUT', path: `/v1/guilds/guild-${number % guilds}/members/${playerOf(number)}` },
  ]).flat();
  await runLoad({ url, key, connections: 16, next: listOf(profiles) });
}

interface Submitting {
  board: BoardName;
  submissions: number;
  database: LedgerDatabase;
  round: number;
}

async function measure({ url, key, cpuSeconds }: Service, how: Submitting): Promise<Cost> {
  const { board, submissions, database, round } = how;
  await drained(database);
  let sent = 0;
  const next: NextCall = () => {
    if (sent === submissions) return null;
    sent += 1;
    const playerId = playerOf((sent * 7919 + round) % players);
    return { method: 'POST', path: `/v1/boards/${board}/scores`, body: { playerId, score: 1 + (sent % 100) } };
  };
  const cpuBefore = cpuSeconds();
  const startedAt = performance.now();
  const load = await runLoad({ url, key, connections, next });
  const waitedMs = await drained(database);
  const projectedSeconds = (performance.now() - startedAt - waitedMs) / 1000;
  const perSubmission = (seconds: number): number => (seconds * 1e6) / submissions;
  return {
    answeredUs: perSubmission(load.seconds),
    projectedUs: perSubmission(projectedSeconds),
    cpuUs: perSubmission(cpuSeconds() - cpuBefore),
    p50Ms: load.msOf(0.5),
    p99Ms: load.msOf(0.99),
  };
}

/** Until the ranks have caught up, and nothing that follows from the submissions (totals of guilds) is written any more. */
async function drained(database: LedgerDatabase): Promise<number> {
  const until = performance.now() + drainedWithinMs;
  let before: number | null = null;
  for (let quiet = 0; quiet < quietLooks;) {
    if (performance.now() > until) throw new Error('The projection did not catch up within a minute.');
    const { drawn, behind } = await database.progress();
    quiet = behind === 0 && drawn === before ? quiet + 1 : 0;
    before = drawn;
    await sleep(lookEveryMs);
  }
  return quietLooks * lookEveryMs;
}

const describe = ({ answeredUs, projectedUs, cpuUs, p50Ms, p99Ms }: Cost): string =>
  `${(1e6 / answeredUs).toFixed(0).padStart(6)}/s answered, ${(1e6 / projectedUs).toFixed(0).padStart(6)}/s projected, ` +
  `${cpuUs.toFixed(0).padStart(5)} µs CPU each, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;

function listOf(calls: readonly Call[]): NextCall {
  let at = 0;
  return () => calls[at++] ?? null;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return quantile(sorted, 0.5);
}
