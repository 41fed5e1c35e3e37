import { setTimeout as sleep } from 'node:timers/promises';
import { startApps } from '../installation/apps.js';
import { count } from '../command-line/arguments.js';
import { cpuSecondsOf } from '../meters/cpu.js';
import { quantile, spread, table } from '../figures/live-figures.js';
import { openTop } from '../live/client.js';
import { FollowedList, textOf } from '../live/followed-list.js';
import { openLoop, Sender } from '../load/post.js';

/**
 * How long it takes until others see a submission: from when its POST was due to when a delta that shows it has arrived
 * on another client's socket, which holds the list.
 */
export const description = 'POST to delta on another client’s socket, while 1,000 submissions a second come';

export const options = {
  'submits-per-second': {
    type: 'string',
    help: 'how many submissions come a second (1000)',
    default: '1000',
    parse: count,
  },
  seconds: { type: 'string', help: 'how long each round loads the service (10)', default: '10', parse: count },
};

const names = ['api', 'projector', 'gateway'];
const board = 'live';
const intervalMs = 100;
const players = 20_000;
const leaders = 100;
/** One submission in so many is a leader's, and changes the list that is watched. */
const everyVisible = 4;
const connections = 64;
const warmUpSeconds = 3;
const compareEveryMs = 1000;
const shownWithinMs = 10_000;
const statesKept = 200;

export async function run(context) {
  const { options: given, rounds = 3, service, step } = context;
  const perSecond = given['submits-per-second'];
  const { seconds } = given;
  const apps = await startApps(context, names);
  const sender = new Sender({ url: apps.api.url, key: service.key }, connections);
  try {
    const game = await prepare(sender);
    const spectator = await Spectator.follow(apps.gateway.url);
    const found = [];
    const cpu = () => [...names.map((name) => cpuSecondsOf(apps[name].pid)), service.cpuSeconds()];
    const measured = { sender, game, spectator, perSecond, cpu };
    await round({ ...measured, seconds: warmUpSeconds });
    for (let number = 1; number <= rounds; number += 1) {
      found.push(await round({ ...measured, seconds }));
      step(`round ${number}: ${describe(found.at(-1))}`);
    }
    await spectator.assertSame(sender);
    return tables(found, { perSecond, seconds });
  } finally {
    sender.close();
    await apps.stop();
  }
}

async function prepare(sender) {
  await sender.send('PUT', `/v1/boards/${board}`, {
    order: 'desc',
    operator: 'best',
    push: { intervalMs, top: leaders },
  });
  const scores = new Map();
  for (let number = 0; number < players; number += 1) {
    const isLeader = number < leaders;
    scores.set(`user${String(number).padStart(8, '0')}`, isLeader ? 2e6 + 1000 * number : (number * 7919) % 1e6);
  }
  const all = [...scores].map(([playerId, score]) => ({ board, playerId, score }));
  for (let from = 0; from < all.length; from += 1000) await sender.submitAll(all.slice(from, from + 1000));
  return { scores, ids: [...scores.keys()], count: 0 };
}

/** The next submission: of a leader, who passes up to ten others, or of somebody further down. */
function nextSubmission(game) {
  game.count += 1;
  const isVisible = game.count % everyVisible === 0;
  const number = isVisible
    ? Math.floor(Math.random() * leaders)
    : leaders + Math.floor(Math.random() * (players - leaders));
  const playerId = game.ids[number];
  const step = isVisible ? 1 + Math.floor(Math.random() * 10_000) : Math.floor(Math.random() * 20) - 10;
  const score = game.scores.get(playerId) + step;
  if (step > 0) game.scores.set(playerId, score);
  return { playerId, score, isVisible };
}

async function round({ sender, game, spectator, perSecond, seconds, cpu }) {
  spectator.begin();
  const cpuBefore = cpu();
  const answers = [];
  const comparing = setInterval(() => spectator.compare(), compareEveryMs);
  const { sent, lateMs } = await openLoop({
    perSecond,
    seconds,
    next: async (dueAt) => {
      const { playerId, score, isVisible } = nextSubmission(game);
      if (isVisible) spectator.expect(playerId, score, dueAt);
      const { rank } = await sender.send('POST', `/v1/boards/${board}/scores`, { playerId, score });
      if (rank !== null && !(rank.after >= 1 && rank.after <= players)) throw new Error(`A rank of ${rank.after}.`);
      answers.push(performance.now() - dueAt);
    },
  }).finally(() => clearInterval(comparing));
  await spectator.untilShown();
  const { delays, deltas, compared } = spectator;
  const cores = cpu().map((used, at) => (used - cpuBefore[at]) / seconds);
  return { sent, lateMs, answers, delays, deltas, compared, cores };
}

/** Follows the list, and knows what it should come to show. */
class Spectator {
  #list = new FollowedList();
  #waiting = new Map();
  #states = new Map();
  #failure = null;

  static async follow(url) {
    const spectator = new Spectator();
    const { port } = new URL(url);
    spectator.port = Number(port);
    spectator.begin();
    await subscribed(spectator.port, (frame) => spectator.#take(frame), spectator.#failed);
    await until(() => spectator.#list.seq >= 0, 'The list does not come.');
    return spectator;
  }

  begin() {
    Object.assign(this, { delays: [], deltas: 0, compared: 0 });
  }

  /** `playerId` is about to have a score; its best scores only grow. */
  expect(playerId, score, sinceMs) {
    const waiting = this.#waiting.get(playerId) ?? [];
    this.#waiting.set(playerId, waiting);
    waiting.push({ score, sinceMs });
  }

  async untilShown() {
    await until(() => {
      if (this.#failure) throw this.#failure;
      return this.#waiting.size === 0;
    }, 'Some submissions are not shown.');
  }

  /** Another client's first snapshot shows what is held at its number. */
  async compare() {
    let client = null;
    const take = (frame) => {
      if (frame.type !== 'snapshot') return;
      client?.close();
      // This socket may be told before or after the other.
      setTimeout(() => this.#compareWith(frame), 3 * intervalMs);
    };
    try {
      client = await subscribed(this.port, take, () => {});
    } catch (error) {
      this.#failed(error.message);
    }
  }

  /** At rest, REST shows the same. */
  async assertSame(sender) {
    await sleep(5 * intervalMs);
    const { entries } = await sender.send('GET', `/v1/boards/${board}/entries?limit=${leaders}`);
    if (textOf(entries) !== this.#list.text()) throw new Error('The list that is held is not the one that REST shows.');
  }

  #failed = (why) => (this.#failure ??= new Error(`The spectator: ${why}`));

  #take(frame) {
    const now = performance.now();
    try {
      for (const { playerId, score } of this.#list.take(frame))
        if (score !== undefined) this.#shown(playerId, score, now);
    } catch (error) {
      this.#failed(error.message);
    }
    this.deltas += 1;
    this.#states.set(this.#list.seq, this.#list.text());
    if (this.#states.size > statesKept) this.#states.delete(this.#states.keys().next().value);
  }

  #shown(playerId, score, now) {
    const waiting = this.#waiting.get(playerId);
    if (waiting === undefined) return;
    const rest = waiting.filter((one) => one.score > score);
    for (const one of waiting) if (one.score <= score) this.delays.push(now - one.sinceMs);
    if (rest.length > 0) this.#waiting.set(playerId, rest);
    else this.#waiting.delete(playerId);
  }

  #compareWith({ seq, entries }) {
    const held = this.#states.get(seq);
    // A list that changed below its first rows has a number that this socket was not told.
    if (held === undefined) return;
    if (held !== textOf(entries)) this.#failed(`what is held at ${seq} is not what a snapshot shows.`);
    this.compared += 1;
  }
}

function subscribed(port, onFrame, onEnd) {
  const onText = (payload) => onFrame(JSON.parse(payload.toString()));
  return openTop({ port, board, limit: leaders, onText, onEnd });
}

async function until(isSo, otherwise) {
  for (const end = performance.now() + shownWithinMs; !isSo(); await sleep(5)) {
    if (performance.now() > end) throw new Error(otherwise);
  }
}

const ms = (value) => `${value.toFixed(1)} ms`;

const describe = ({ delays, answers, deltas }) =>
  `p50 ${ms(quantile(delays, 0.5))}, p99 ${ms(quantile(delays, 0.99))}, max ${ms(Math.max(...delays))} ` +
  `(${delays.length} seen in ${deltas} deltas); answered p50 ${ms(quantile(answers, 0.5))}, p99 ${ms(quantile(answers, 0.99))}`;

function tables(found, { perSecond, seconds }) {
  const compared = found.reduce((sum, one) => sum + one.compared, 0);
  if (compared === 0) throw new Error('No snapshot could be compared with what is held.');
  const row = (name, of) => [
    name,
    ...[0.5, 0.99, 1].map((part) => spread(found.map((one) => quantile(of(one), part)))),
  ];
  const late = Math.max(...found.map(({ lateMs }) => lateMs));
  return [
    `${perSecond} submissions a second over ${connections} connections, ${seconds} s a round; ${players} players, tick ${intervalMs} ms.`,
    `${compared} snapshots showed what the spectator held, and REST did at the end. Requests were made at most ${ms(late)} late.`,
    '',
    table(
      ['ms (minimum / median / maximum of rounds)', 'p50', 'p99', 'max'],
      [row('POST due to delta there', (one) => one.delays), row('POST due to answer', (one) => one.answers)],
    ),
    '',
    table(
      ['', ...names, 'PostgreSQL and Redis'],
      [
        [
          'cores',
          ...found[0].cores.map((_, at) =>
            quantile(
              found.map(({ cores }) => cores[at]),
              0.5,
            ).toFixed(2),
          ),
        ],
      ],
    ),
  ].join('\n');
}
