import { setTimeout as sleep } from 'node:timers/promises';
import { count } from '../command-line/arguments.js';
import { runLoad } from '../load/load.js';

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
};

const playerOf = (number) => `player-${number % players}`;

export const options = {
  submissions: { type: 'string', help: 'how many submissions a round has (20000)', default: '20000', parse: count },
};

export async function run({ service, options: { submissions }, rounds, step, database, keep }) {
  await prepare(service);
  const costs = { alltime: [], everything: [] };
  for (let round = 1; round <= rounds; round += 1) {
    for (const board of Object.keys(boards)) {
      const cost = await measure(service, { board, submissions, database, round });
      costs[board].push(cost);
      step(`round ${round}, ${board.padEnd(10)} ${describe(cost)}`);
    }
  }
  keep({ costs });
  const ratio = (of) => median(costs.everything.map(of)) / median(costs.alltime.map(of));
  const line = (name, of, unit) =>
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

async function prepare({ url, key }) {
  const calls = [
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

async function measure({ url, key, cpuSeconds }, { board, submissions, database, round }) {
  await drained(database);
  let sent = 0;
  const next = () => {
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
  const perSubmission = (seconds) => (seconds * 1e6) / submissions;
  return {
    answeredUs: perSubmission(load.seconds),
    projectedUs: perSubmission(projectedSeconds),
    cpuUs: perSubmission(cpuSeconds() - cpuBefore),
    p50Ms: load.msOf(0.5),
    p99Ms: load.msOf(0.99),
  };
}

/** Until the ranks have caught up, and nothing that follows from the submissions (totals of guilds) is written any more. */
async function drained(database) {
  const until = performance.now() + drainedWithinMs;
  let before = null;
  for (let quiet = 0; quiet < quietLooks;) {
    if (performance.now() > until) throw new Error('The projection did not catch up within a minute.');
    const { drawn, behind } = await database.progress();
    quiet = behind === 0 && drawn === before ? quiet + 1 : 0;
    before = drawn;
    await sleep(lookEveryMs);
  }
  return quietLooks * lookEveryMs;
}

const describe = ({ answeredUs, projectedUs, cpuUs, p50Ms, p99Ms }) =>
  `${(1e6 / answeredUs).toFixed(0).padStart(6)}/s answered, ${(1e6 / projectedUs).toFixed(0).padStart(6)}/s projected, ` +
  `${cpuUs.toFixed(0).padStart(5)} µs CPU each, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;

function listOf(calls) {
  let at = 0;
  return () => (at < calls.length ? calls[at++] : null);
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
