import { join } from 'node:path';
import { count, someOf } from '../command-line/arguments.js';
import { cellOf, numberOf, tableOf } from '../figures/figures.js';
import { httpFloor } from '../floors/http-floor.js';
import { redisFloor, redisFloorName } from '../floors/redis-floor.js';
import { generatorName, loadFully, loadPaced, type Rated } from '../load/generator.js';
import type { Options, ValuesOf } from '../command-line/options.js';
import type { BenchContext, CleanState } from '../installation/context.js';
import type { Definition } from '../boards/entries.js';
import { makeLargeBoard, onEachBoard, type LargeBoard } from '../boards/large-board.js';
import { writeRequests } from '../load/requests.js';
import { questions, SampledReads, type QuestionName } from '../boards/sampled-reads.js';
import { askedBetween, scrape, type Asked } from '../meters/scrape.js';
import { beside, cpuMeter, type Spent } from '../meters/watch.js';
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
} satisfies Record<string, Definition>;
type BoardName = keyof typeof boards;
const boardNames = Object.keys(boards) as BoardName[];
/** Names of the questions on the command line. */
export const shortNames = new Map(
  (Object.keys(questions) as QuestionName[]).map((name): [string, QuestionName] => [name.split(' ')[0]!, name]),
);

export const options = {
  entries: { type: 'string', help: 'how many entries the board has (1000000)', default: '1000000', parse: count },
  players: { type: 'string', help: 'how many of them are asked for (20000)', default: '20000', parse: count },
  seconds: { type: 'string', help: 'how long each round loads the service (10)', default: '10', parse: count },
  warmup: { type: 'string', help: 'how long it is loaded before the first round (8)', default: '8', parse: count },
  connections: { type: 'string', help: 'how many connections load it (64)', default: '64', parse: count },
  boards: { type: 'string', help: `only some of ${boardNames.join(',')}`, parse: someOf(boardNames) },
  questions: {
    type: 'string',
    help: `only some of ${[...shortNames.keys()].join(',')}`,
    parse: someOf([...shortNames.keys()]),
  },
} satisfies Options;

type Values = ValuesOf<typeof options>;

/** What one load of reads found. */
export interface ReadsFound extends Rated, Spent {
  asked: Asked;
  /** The requests, and the text of an answer. */
  file: string;
  answer: string;
}

/** What reads are made with. */
export interface ReadContext extends CleanState {
  options: Pick<Values, 'connections' | 'entries' | 'players'>;
}

interface ReadRound {
  full: ReadsFound;
  paced: ReadsFound;
  /** What each floor did a second. */
  floors: Record<string, number>;
}

export async function run(context: BenchContext<Values>): Promise<string> {
  const wanted = context.options.boards ?? boardNames;
  const ofBoards = await onEachBoard(context, wanted, measureBoard);
  const found = Object.fromEntries(Object.values(ofBoards).flatMap((rounds) => Object.entries(rounds)));
  context.keep({ options: context.options, reads: found });
  return tables(found, context);
}

/** The rounds of each question by `<board>: <question>`. */
async function measureBoard(context: BenchContext<Values>, name: BoardName): Promise<Record<string, ReadRound[]>> {
  const { options, rounds, step, installation } = context;
  const board = await makeLargeBoard(context, { entries: options.entries, definition: boards[name] });
  const asked = (options.questions ?? [...shortNames.keys()]).map((short) => shortNames.get(short)!);
  const found = new Map<QuestionName, ReadRound[]>(asked.map((question) => [question, []]));
  for (const question of asked) await loadReads(context, board, question, { seconds: options.warmup });
  for (let round = 1; round <= rounds; round += 1) {
    const { zrevrank } = await redisFloor({ redisUrl: installation.redisUrl, seconds: floorSeconds });
    for (const question of asked) {
      const full = await loadReads(context, board, question, { seconds: options.seconds });
      const rate = pacedPart * full.perSecond;
      const paced = await loadReads(context, board, question, { seconds: options.seconds, rate });
      const { file, answer } = full;
      const http = await httpFloor({ file, answer, connections: options.connections, seconds: floorSeconds });
      found.get(question)!.push({ full, paced, floors: { http, zrevrank } });
      step(
        `round ${round}, ${question.padEnd(15)} ${full.perSecond.toFixed(0)}/s, p99 ${full.p99.toFixed(1)} ms; ` +
          `at ${paced.perSecond.toFixed(0)}/s p99 ${paced.p99.toFixed(1)} ms, others ${(100 * full.others).toFixed(0)} % of the CPU`,
      );
    }
  }
  return Object.fromEntries([...found].map(([question, measured]) => [`${name}: ${question}`, measured]));
}

/** Reads of one kind, all of which are answered, and some of which are checked. */
export async function loadReads(
  { service, installation, options }: ReadContext,
  board: LargeBoard,
  question: QuestionName,
  { seconds, rate = null }: { seconds: number; rate?: number | null },
): Promise<ReadsFound> {
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
  const load = { url: service.url, file, connections, seconds };
  const found = await beside(
    () => (rate === null ? loadFully(load) : loadPaced({ ...load, rate })),
    lookEveryMs,
    () => sampled.look(),
  );
  const spent = cpuOf(found.count);
  const asked = askedBetween(before, await scrape(service.metricsUrlsOf('api')), found.count);
  if (sampled.last === null) throw new Error('No answer was looked at.');
  return { ...found, ...spent, asked, file, answer: sampled.last };
}

function tables(found: Record<string, ReadRound[]>, { options, rounds }: BenchContext<Values>): string {
  const { entries, players, connections, seconds } = options;
  const first = `Minimum / median / maximum of ${rounds} rounds of ${seconds} s; ${numberOf(entries)} entries, ${numberOf(players)} players, ${connections} connections of ${generatorName}; nobody submits meanwhile.`;
  const rows = Object.entries(found).map(([name, measured]) => {
    const of = (load: 'full' | 'paced', figure: 'perSecond' | 'p50' | 'p99', digits = 0): string =>
      cellOf(
        measured.map((one) => one[load][figure]),
        digits,
      );
    const paced = [of('paced', 'perSecond'), of('paced', 'p50', 1), of('paced', 'p99', 1)];
    return [name, of('full', 'perSecond'), of('full', 'p50', 1), of('full', 'p99', 1), ...paced];
  });
  const heads = ['read', 'requests, /s', 'p50, ms', 'p99, ms', 'at 70 %, /s', 'p50, ms', 'p99, ms'];
  const floors = floorTable(found, { http: 'bare Fastify, GET', zrevrank: 'ZREVRANK' });
  return [first, tableOf(heads, rows), cpuTable(found), floors, `ZREVRANK: ${redisFloorName}.`].join('\n\n');
}
