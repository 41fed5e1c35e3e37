import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { benchProgram } from '../../tools/build.mjs';
import type { Options, ValuesOf } from '../command-line/options.js';
import type { BenchContext } from '../installation/context.js';
import type { ChildAnswer, ChildRequest, RoundOfChild } from '../live/child-messages.js';
import { cpuSecondsOf } from '../meters/cpu.js';
import { runNode, startApp, startApps, stopped, type RunningApp, type RunningChild } from '../installation/apps.js';
import { count } from '../command-line/arguments.js';
import { fromHistogram, quantile, spread, table, whole } from '../figures/live-figures.js';
import { residentBytesOf, sharedMs } from '../meters/process.js';
import { openLoop, Sender, type Submission } from '../load/post.js';

/**
 * One gateway, one board, its first hundred, and many sockets: whether each gets every delta, how long after the POST, and
 * what a socket costs. The clients are processes of their own; each reads the numbers of all its frames, and the first
 * socket of each holds the list.
 */
export const description = 'one gateway, one board, thousands of sockets: every delta to each, and what a socket costs';

export const options = {
  sockets: {
    type: 'string',
    help: 'pairs of sockets@deltas a second (10000@1,2500@10,10000@10)',
    default: '10000@1,2500@10,10000@10',
    parse: (text: string, name: string) => text.split(',').map((pair) => pairOf(pair, name)),
  },
  seconds: { type: 'string', help: 'how long each round loads the service (10)', default: '10', parse: count },
} satisfies Options;

type Context = BenchContext<ValuesOf<typeof options>>;

/** So many sockets, while so many submissions a second come. */
function pairOf(text: string, name: string): { sockets: number; perSecond: number } {
  const [sockets = '', perSecond = ''] = text.split('@');
  return { sockets: count(sockets, name), perSecond: count(perSecond, name) };
}

const board = 'sockets';
const intervalMs = 100;
const players = 1000;
const leaders = 100;
/** Those who are moved: not so far down that they leave the list. */
const moved = 90;
const socketsOfChild = 2500;
const settleMs = 3000;
const warmUpPosts = 10;

export async function run(context: Context): Promise<string> {
  const { options: given, rounds, step, service } = context;
  const { seconds } = given;
  const results: CrowdFound[] = [];
  const apps = await startApps(context, ['api', 'projector']);
  const sender = new Sender({ url: apps.api.url, key: service.key }, 8);
  try {
    const game = await prepare(sender);
    for (const { sockets, perSecond } of given.sockets) {
      const one = await crowd(context, { sender, game, sockets, perSecond, seconds, rounds });
      results.push(one);
      step(describe(one));
    }
    return tables(results, seconds);
  } finally {
    sender.close();
    await apps.stop();
  }
}

interface Game {
  posts: number;
}

async function prepare(sender: Sender): Promise<Game> {
  // Of `latest` the score just given counts, so that places can be lost, too, and go on changing for ever.
  await sender.send('PUT', `/v1/boards/${board}`, {
    order: 'desc',
    operator: 'latest',
    push: { intervalMs, top: leaders },
  });
  const scores = Array.from({ length: players }, (_, number) => 1000 * (players - number));
  await sender.submitAll(scores.map((score, number) => ({ board, playerId: idOf(number), score })));
  return { posts: 0 };
}

const idOf = (number: number): string => `user${String(number).padStart(8, '0')}`;

/** A leader gets a new score, up to five places up or down; its last digits tell it from all before. */
function nextSubmission(game: Game): Submission {
  game.posts += 1;
  const number = Math.floor(Math.random() * moved);
  const towards = 1000 * (players - number) + Math.floor((Math.random() - 0.5) * 10_000);
  const score = towards + game.posts / 2 ** 20;
  return { board, playerId: idOf(number), score };
}

interface Crowd {
  sender: Sender;
  game: Game;
  sockets: number;
  perSecond: number;
  seconds: number;
  rounds: number;
}

interface CrowdFound {
  sockets: number;
  perSecond: number;
  openSeconds: number;
  /** Of a socket, before and after the load. */
  quietBytes: number;
  loadedBytes: number;
  found: Round[];
}

/** What the sockets got in a round; ms and cores. */
interface Round {
  deltas: number;
  deltasPerSecond: number;
  /** Of a delta. */
  bytes: number;
  histogram: number[];
  p50: number;
  p99: number;
  max: number;
  gatewayCpu: number;
  clientCpu: number;
}

/** Opens the sockets on a gateway of their own, and measures some rounds. */
async function crowd(context: Context, how: Crowd): Promise<CrowdFound> {
  const { sender, game, sockets, perSecond, seconds, rounds } = how;
  const gateway = await startApp(context, 'gateway');
  const children: RunningChild[] = [];
  try {
    await sleep(settleMs);
    // One socket, and the first frames, so that what is made once is no cost of a socket.
    const first = await open(gateway, 1, '127.0.0.99');
    children.push(first);
    await post(sender, game, { perSecond: 10, seconds: 1 });
    await sleep(settleMs);
    const before = residentBytesOf(gateway.pid);
    const openedAt = performance.now();
    for (let left = sockets; left > 0; left -= socketsOfChild) {
      children.push(await open(gateway, Math.min(left, socketsOfChild), `127.0.0.${10 + children.length}`));
    }
    const openSeconds = (performance.now() - openedAt) / 1000;
    await post(sender, game, { perSecond, seconds: warmUpPosts / perSecond });
    await sleep(settleMs);
    const quietBytes = (residentBytesOf(gateway.pid) - before) / sockets;
    const found: Round[] = [];
    for (let number = 1; number <= rounds; number += 1) {
      found.push(await round({ sender, game, gateway, children: children.slice(1), perSecond, seconds }));
    }
    const loadedBytes = (residentBytesOf(gateway.pid) - before) / sockets;
    return { sockets, perSecond, openSeconds, quietBytes, loadedBytes, found };
  } finally {
    for (const child of children) await stopped(child);
    await gateway.stop();
  }
}

/** A child with so many subscribed sockets. */
async function open(gateway: RunningApp, count: number, from: string): Promise<RunningChild> {
  const child = runNode([benchProgram('sockets-child')], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  ask(child, { open: { port: Number(new URL(gateway.url).port), count, from, board, limit: leaders } });
  await answerOf(child);
  return child;
}

function ask({ child }: RunningChild, request: ChildRequest): void {
  child.send(request);
}

async function answerOf(child: RunningChild): Promise<Exclude<ChildAnswer, { error: string }>> {
  const ended = child.exited.then((): [ChildAnswer] => [{ error: `A client ended by itself:\n${child.output}` }]);
  const message = once(child.child, 'message') as Promise<[ChildAnswer]>;
  const [answer] = await Promise.race([message, ended]);
  if ('error' in answer) throw new Error(answer.error);
  return answer;
}

async function roundOf(child: RunningChild): Promise<RoundOfChild> {
  const answer = await answerOf(child);
  if ('round' in answer) return answer.round;
  throw new Error('A client says nothing of the round.');
}

async function post(
  sender: Sender,
  game: Game,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<Map<number, number>> {
  const dueOf = new Map<number, number>();
  await openLoop({
    perSecond,
    seconds,
    now: sharedMs,
    next: async (dueAt) => {
      const submission = nextSubmission(game);
      dueOf.set(submission.score, dueAt);
      await sender.submitAll([submission]);
    },
  });
  return dueOf;
}

interface Rounding extends Pick<Crowd, 'sender' | 'game' | 'perSecond' | 'seconds'> {
  gateway: RunningApp;
  children: readonly RunningChild[];
}

async function round({ sender, game, gateway, children, perSecond, seconds }: Rounding): Promise<Round> {
  for (const child of children) ask(child, { begin: true });
  await Promise.all(children.map(answerOf));
  const cpu = (): { gateway: number; clients: number } => ({
    gateway: cpuSecondsOf(gateway.pid),
    clients: children.reduce((sum, { pid }) => sum + cpuSecondsOf(pid), 0),
  });
  const cpuBefore = cpu();
  const beganAt = performance.now();
  const dueOf = await post(sender, game, { perSecond, seconds });
  await sleep(settleMs);
  const took = (performance.now() - beganAt) / 1000;
  const used = cpu();
  for (const child of children) ask(child, { end: [...dueOf] });
  const answers = await Promise.all(children.map(roundOf));
  const [first] = answers;
  if (first === undefined) throw new Error('No client was there.');
  const deltas = answers.map((one) => one.deltas);
  if (new Set(deltas).size > 1) throw new Error(`The clients got ${deltas.join(', ')} deltas.`);
  const histogram = sumOf(answers.map((one) => one.histogram));
  return {
    deltas: first.deltas,
    deltasPerSecond: first.deltas / seconds,
    bytes: first.bytes / first.deltas,
    histogram,
    p50: fromHistogram(histogram, 0.5),
    p99: fromHistogram(histogram, 0.99),
    max: Math.max(...answers.map((one) => one.maxMs)),
    gatewayCpu: (used.gateway - cpuBefore.gateway) / took,
    clientCpu: (used.clients - cpuBefore.clients) / took,
  };
}

const sumOf = (histograms: readonly number[][]): number[] =>
  histograms[0]!.map((_, at) => histograms.reduce((sum, one) => sum + one[at]!, 0));

const describe = ({ sockets, perSecond, openSeconds, quietBytes, found }: CrowdFound): string =>
  `${whole(sockets)} sockets at ${perSecond}/s: opened in ${openSeconds.toFixed(1)} s, ${(quietBytes / 1000).toFixed(1)} kB a socket, ` +
  `p50 ${quantile(
    found.map(({ p50 }) => p50),
    0.5,
  )} ms, p99 ${quantile(
    found.map(({ p99 }) => p99),
    0.5,
  )} ms`;

type RoundFigure = 'deltasPerSecond' | 'p50' | 'p99' | 'max' | 'gatewayCpu' | 'clientCpu';

function tables(results: readonly CrowdFound[], seconds: number): string {
  const rows = results.map(({ sockets, perSecond, quietBytes, loadedBytes, found }) => {
    const of = (name: RoundFigure, show?: (value: number) => string): string =>
      spread(
        found.map((one) => one[name]),
        show,
      );
    return [
      whole(sockets),
      `${perSecond}/s`,
      of('deltasPerSecond'),
      of('p50', whole),
      of('p99', whole),
      of('max', whole),
      whole(found[0]!.bytes),
      `${(quietBytes / 1000).toFixed(1)} / ${(loadedBytes / 1000).toFixed(1)}`,
      of('gatewayCpu', (value) => value.toFixed(2)),
      of('clientCpu', (value) => value.toFixed(2)),
    ];
  });
  return [
    `Tick ${intervalMs} ms, top ${leaders}, ${seconds} s a round. Every socket got every delta, without a gap.`,
    '',
    table(
      [
        'sockets',
        'POSTs',
        'deltas/s',
        'p50 ms',
        'p99 ms',
        'max ms',
        'bytes a delta',
        'kB a socket, quiet / after load',
        'gateway, cores',
        'clients, cores',
      ],
      rows,
    ),
  ].join('\n');
}
