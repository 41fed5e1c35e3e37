import { join } from 'node:path';
import { count, someOf } from '../command-line/arguments.js';
import { cellOf, numberOf, tableOf } from '../figures/figures.js';
import { httpFloor } from '../floors/http-floor.js';
import { redisFloor, redisFloorName } from '../floors/redis-floor.js';
import { generatorName, loadFully, loadPaced } from '../load/generator.js';
import { makeLargeBoard, onEachBoard } from '../boards/large-board.js';
import { writeRequests } from '../load/requests.js';
import { questions, SampledReads } from '../boards/sampled-reads.js';
import { askedBetween, scrape } from '../meters/scrape.js';
import { beside, cpuMeter } from '../meters/watch.js';
import { cpuTable, floorTable } from '../writes/tables.js';

/** Ranks, neighbours and the top of a large board that nobody submits to. */
export const description = 'ranks, neighbours and the top of a large board';

const pacedPart = 0.7;
const lookEveryMs = 100;
const floorSeconds = 2;
const requestsMax = 100_000;
const boards = {
  'one-shard': {},
  'four-shards': { sharding: { by: 'hash', count: 4 } },
};
/** Names of the questions on the command line. */
const short = Object.fromEntries(Object.keys(questions).map((name) => [name.split(' ')[0], name]));

export const options = {
  entries: { type: 'string', help: 'how many entries the board has (1000000)', default: '1000000', parse: count },
  players: { type: 'string', help: 'how many of them are asked for (20000)', default: '20000', parse: count },
  seconds: { type: 'string', help: 'how long each round loads the service (10)', default: '10', parse: count },
  warmup: { type: 'string', help: 'how long it is loaded before the first round (8)', default: '8', parse: count },
  connections: { type: 'string', help: 'how many connections load it (64)', default: '64', parse: count },
  boards: { type: 'string', help: `only some of ${Object.keys(boards).join(',')}`, parse: someOf(Object.keys(boards)) },
  questions: {
    type: 'string',
    help: `only some of ${Object.keys(short).join(',')}`,
    parse: someOf(Object.keys(short)),
  },
};

export async function run(context) {
  const wanted = context.options.boards ?? Object.keys(boards);
  const found = Object.assign({}, ...Object.values(await onEachBoard(context, wanted, measureBoard)));
  context.keep({ options: context.options, reads: found });
  return tables(found, context);
}

/** The rounds of each question by `<board>: <question>`. */
async function measureBoard(context, name) {
  const { options, rounds, step, installation } = context;
  const board = await makeLargeBoard(context, { entries: options.entries, definition: boards[name] });
  const asked = (options.questions ?? Object.keys(short)).map((one) => short[one]);
  const found = Object.fromEntries(asked.map((question) => [`${name}: ${question}`, []]));
  for (const question of asked) await loadReads(context, board, question, { seconds: options.warmup });
  for (let round = 1; round <= rounds; round += 1) {
    const { zrevrank } = await redisFloor({ redisUrl: installation.redisUrl, seconds: floorSeconds });
    for (const question of asked) {
      const full = await loadReads(context, board, question, { seconds: options.seconds });
      const rate = pacedPart * full.perSecond;
      const paced = await loadReads(context, board, question, { seconds: options.seconds, rate });
      const { file, answer } = full;
      const http = await httpFloor({ file, answer, connections: options.connections, seconds: floorSeconds });
      found[`${name}: ${question}`].push({ full, paced, floors: { http, zrevrank } });
      step(
        `round ${round}, ${question.padEnd(15)} ${full.perSecond.toFixed(0)}/s, p99 ${full.p99.toFixed(1)} ms; ` +
          `at ${paced.perSecond.toFixed(0)}/s p99 ${paced.p99.toFixed(1)} ms, others ${(100 * full.others).toFixed(0)} % of the CPU`,
      );
    }
  }
  return found;
}

/** Reads of one kind, all of which are answered, and some of which are checked. */
export async function loadReads({ service, installation, options }, board, question, { seconds, rate = null }) {
  const { connections, entries, players } = options;
  const file = join(installation.dataDir, 'requests');
  const apart = Math.max(1, Math.floor(entries / players));
  const anyone = () => apart * Math.floor(Math.random() * players);
  const paths = Array.from({ length: requestsMax }, () => questions[question].path(anyone()));
  writeRequests(
    file,
    paths.map((path) => ({ method: 'GET', path: `/v1/boards/${board.id}${path}` })),
    service,
  );
  const sampled = new SampledReads(service, board, question);
  await sampled.look();
  const before = await scrape(service.metricsUrlsOf('api'));
  const cpuOf = cpuMeter(service);
  const start = rate === null ? loadFully : loadPaced;
  const found = await beside(
    () => start({ url: service.url, file, connections, seconds, rate }),
    lookEveryMs,
    () => sampled.look(),
  );
  const spent = cpuOf(found.count);
  const asked = askedBetween(before, await scrape(service.metricsUrlsOf('api')), found.count);
  return { ...found, ...spent, asked, file, answer: sampled.last };
}

function tables(found, { options, rounds }) {
  const { entries, players, connections, seconds } = options;
  const first = `Minimum / median / maximum of ${rounds} rounds of ${seconds} s; ${numberOf(entries)} entries, ${numberOf(players)} players, ${connections} connections of ${generatorName}; nobody submits meanwhile.`;
  const rows = Object.entries(found).map(([name, measured]) => {
    const of = (load, figure, digits) =>
      cellOf(
        measured.map((one) => one[load][figure]),
        digits,
      );
    const paced = [of('paced', 'perSecond'), of('paced', 'p50', 1), of('paced', 'p99', 1)];
    return [name, of('full', 'perSecond'), of('full', 'p50', 1), of('full', 'p99', 1), ...paced];
  });
  const heads = ['read', 'requests, /s', 'p50, ms', 'p99, ms', 'at 70 %, /s', 'p50, ms', 'p99, ms'];
  const floors = floorTable(found, ['http', 'zrevrank'], { http: 'bare Fastify, GET', zrevrank: 'ZREVRANK' });
  return [first, tableOf(heads, rows), cpuTable(found), floors, `ZREVRANK: ${redisFloorName}.`].join('\n\n');
}
