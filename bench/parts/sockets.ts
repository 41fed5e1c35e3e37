import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { benchProgram } from '../../tools/build.mjs';
import { cpuSecondsOf } from '../meters/cpu.js';
import { runNode, startApp, startApps, stopped } from '../installation/apps.js';
import { count } from '../command-line/arguments.js';
import { quantile, residentBytesOf, sharedMs, spread, table, whole } from '../figures/live-figures.js';
import { openLoop, Sender } from '../load/post.js';

/**
 * One gateway, one board, its first hundred, and many sockets: whether each gets every delta, how long after the POST, and
 * what a socket costs. The clients are processes of their own; each reads the numbers of all its frames, and the first
 * socket of each holds the list.
 */
export const description = 'one gateway, one board, thousands of sockets: every delta to each, and what a socket costs';

export const options = {
  sockets: { type: 'string', help: 'pairs of sockets@deltas a second (10000@1,2500@10,10000@10)' },
  seconds: { type: 'string', help: 'how long each round loads the service (10)', default: '10', parse: count },
};

const board = 'sockets';
const intervalMs = 100;
const players = 1000;
const leaders = 100;
/** Those who are moved: not so far down that they leave the list. */
const moved = 90;
const socketsOfChild = 2500;
const settleMs = 3000;
const warmUpPosts = 10;

export async function run(context) {
  const { options: given, rounds = 3, step, service } = context;
  const wanted = (given.sockets ?? '10000@1,2500@10,10000@10').split(',').map((pair) => pair.split('@').map(Number));
  const { seconds } = given;
  const results = [];
  const apps = await startApps(context, ['api', 'projector']);
  const sender = new Sender({ url: apps.api.url, key: service.key }, 8);
  try {
    const game = await prepare(sender);
    for (const [sockets, perSecond] of wanted) {
      results.push(await crowd(context, { sender, game, sockets, perSecond, seconds, rounds }));
      step(describe(results.at(-1)));
    }
    return tables(results, seconds);
  } finally {
    sender.close();
    await apps.stop();
  }
}

async function prepare(sender) {
  // Of `latest` the score just given counts, so that places can be lost, too, and go on changing for ever.
  await sender.send('PUT', `/v1/boards/${board}`, {
    order: 'desc',
    operator: 'latest',
    push: { intervalMs, top: leaders },
  });
  const scores = Array.from({ length: players }, (_, number) => 1000 * (players - number));
  await sender.submitAll(scores.map((score, number) => ({ board, playerId: idOf(number), score })));
  return { scores, posts: 0 };
}

const idOf = (number) => `user${String(number).padStart(8, '0')}`;

/** A leader gets a new score, up to five places up or down; its last digits tell it from all before. */
function nextSubmission(game) {
  game.posts += 1;
  const number = Math.floor(Math.random() * moved);
  const towards = 1000 * (players - number) + Math.floor((Math.random() - 0.5) * 10_000);
  const score = towards + game.posts / 2 ** 20;
  return { board, playerId: idOf(number), score };
}

/** Opens the sockets on a gateway of their own, and measures some rounds. */
async function crowd(context, { sender, game, sockets, perSecond, seconds, rounds }) {
  const gateway = await startApp(context, 'gateway');
  const children = [];
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
    const found = [];
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
async function open(gateway, count, from) {
  const child = runNode([benchProgram('sockets-child')], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  child.child.send({ open: { port: Number(new URL(gateway.url).port), count, from, board, limit: leaders } });
  await answerOf(child);
  return child;
}

async function answerOf(child) {
  const ended = child.exited.then(() => [{ error: `A client ended by itself:\n${child.output}` }]);
  const [answer] = await Promise.race([once(child.child, 'message'), ended]);
  if (answer.error) throw new Error(answer.error);
  return answer;
}

async function post(sender, game, { perSecond, seconds }) {
  const dueOf = new Map();
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

async function round({ sender, game, gateway, children, perSecond, seconds }) {
  for (const child of children) child.child.send({ begin: true });
  await Promise.all(children.map(answerOf));
  const cpuBefore = [gateway, ...children].map(({ pid }) => cpuSecondsOf(pid));
  const beganAt = performance.now();
  const dueOf = await post(sender, game, { perSecond, seconds });
  await sleep(settleMs);
  const took = (performance.now() - beganAt) / 1000;
  const cpu = [gateway, ...children].map(({ pid }, at) => (cpuSecondsOf(pid) - cpuBefore[at]) / took);
  for (const child of children) child.child.send({ end: [...dueOf] });
  const answers = await Promise.all(children.map(answerOf));
  const deltas = answers.map((one) => one.deltas);
  if (new Set(deltas).size > 1) throw new Error(`The clients got ${deltas.join(', ')} deltas.`);
  const histogram = sumOf(answers.map((one) => one.histogram));
  return {
    deltas: deltas[0],
    deltasPerSecond: deltas[0] / seconds,
    bytes: answers[0].bytes / deltas[0],
    histogram,
    p50: fromHistogram(histogram, 0.5),
    p99: fromHistogram(histogram, 0.99),
    max: Math.max(...answers.map((one) => one.maxMs)),
    gatewayCpu: cpu[0],
    clientCpu: cpu.slice(1).reduce((sum, one) => sum + one, 0),
  };
}

const sumOf = (histograms) => histograms[0].map((_, at) => histograms.reduce((sum, one) => sum + one[at], 0));

/** Of a histogram in whole milliseconds: the upper edge of the bucket that the quantile lies in. */
export function fromHistogram(histogram, part) {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  let seen = 0;
  for (const [at, count] of histogram.entries()) {
    seen += count;
    if (seen > part * total || seen === total) return at + 1;
  }
  return NaN;
}

const describe = ({ sockets, perSecond, openSeconds, quietBytes, found }) =>
  `${whole(sockets)} sockets at ${perSecond}/s: opened in ${openSeconds.toFixed(1)} s, ${(quietBytes / 1000).toFixed(1)} kB a socket, ` +
  `p50 ${quantile(
    found.map(({ p50 }) => p50),
    0.5,
  )} ms, p99 ${quantile(
    found.map(({ p99 }) => p99),
    0.5,
  )} ms`;

function tables(results, seconds) {
  const rows = results.map(({ sockets, perSecond, quietBytes, loadedBytes, found }) => {
    const of = (name, show) =>
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
      whole(found[0].bytes),
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
