import { setTimeout as sleep } from 'node:timers/promises';
import { startApps } from '../installation/apps.js';
import { count } from '../command-line/arguments.js';
import type { Options, ValuesOf } from '../command-line/options.js';
import type { BenchContext } from '../installation/context.js';
import { cpuSecondsOf } from '../meters/cpu.js';
import { quantile, spread, table } from '../figures/live-figures.js';
import { openTop, type LiveClient } from '../live/client.js';
import { FollowedList, textOf, type ListRow, type SnapshotFrame, type TopFrame } from '../live/followed-list.js';
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
} satisfies Options;

const names = ['api', 'projector', 'gateway'] as const;
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

export async function run(context: BenchContext<ValuesOf<typeof options>>): Promise<string> {
  const { options: given, rounds, service, step } = context;
  const perSecond = given['submits-per-second'];
  const { seconds } = given;
  const apps = await startApps(context, names);
  const sender = new Sender({ url: apps.api.url, key: service.key }, connections);
  try {
    const game = await prepare(sender);
    const spectator = await Spectator.follow(apps.gateway.url);
    const found: Round[] = [];
    const cpu = (): number[] => [...names.map((name) => cpuSecondsOf(apps[name].pid)), service.cpuSeconds()];
    const measured = { sender, game, spectator, perSecond, cpu };
    await round({ ...measured, seconds: warmUpSeconds });
    for (let number = 1; number <= rounds; number += 1) {
      const one = await round({ ...measured, seconds });
      found.push(one);
      step(`round ${number}: ${describe(one)}`);
    }
    await spectator.assertSame(sender);
    return tables(found, { perSecond, seconds });
  } finally {
    sender.close();
    await apps.stop();
  }
}

/** Players with their best scores, and how many submissions were made. */
interface Game {
  scores: Map<string, number>;
  ids: string[];
  count: number;
}

/** What one round found; ms. */
interface Round {
  sent: number;
  lateMs: number;
  /** From when a POST was due to its answer. */
  answers: number[];
  /** From when a POST was due to the delta that shows it. */
  delays: number[];
  deltas: number;
  /** Snapshots that were compared. */
  compared: number;
  cores: number[];
}

async function prepare(sender: Sender): Promise<Game> {
  await sender.send('PUT', `/v1/boards/${board}`, {
    order: 'desc',
    operator: 'best',
    push: { intervalMs, top: leaders },
  });
  const scores = new Map<string, number>();
  for (let number = 0; number < players; number += 1) {
    const isLeader = number < leaders;
    scores.set(`user${String(number).padStart(8, '0')}`, isLeader ? 2e6 + 1000 * number : (number * 7919) % 1e6);
  }
  const all = [...scores].map(([playerId, score]) => ({ board, playerId, score }));
  for (let from = 0; from < all.length; from += 1000) await sender.submitAll(all.slice(from, from + 1000));
  return { scores, ids: [...scores.keys()], count: 0 };
}

/** The next submission: of a leader, who passes up to ten others, or of somebody further down. */
function nextSubmission(game: Game): { playerId: string; score: number; isVisible: boolean } {
  game.count += 1;
  const isVisible = game.count % everyVisible === 0;
  const number = isVisible
    ? Math.floor(Math.random() * leaders)
    : leaders + Math.floor(Math.random() * (players - leaders));
  const playerId = game.ids[number]!;
  const step = isVisible ? 1 + Math.floor(Math.random() * 10_000) : Math.floor(Math.random() * 20) - 10;
  const score = game.scores.get(playerId)! + step;
  if (step > 0) game.scores.set(playerId, score);
  return { playerId, score, isVisible };
}

interface RoundOptions {
  sender: Sender;
  game: Game;
  spectator: Spectator;
  perSecond: number;
  seconds: number;
  cpu(): number[];
}

async function round({ sender, game, spectator, perSecond, seconds, cpu }: RoundOptions): Promise<Round> {
  spectator.begin();
  const cpuBefore = cpu();
  const answers: number[] = [];
  const comparing = setInterval(() => void spectator.compare(), compareEveryMs);
  const { sent, lateMs } = await openLoop({
    perSecond,
    seconds,
    next: async (dueAt) => {
      const { playerId, score, isVisible } = nextSubmission(game);
      if (isVisible) spectator.expect(playerId, score, dueAt);
      const path = `/v1/boards/${board}/scores`;
      const { rank } = await sender.send<{ rank: { after: number } | null }>('POST', path, { playerId, score });
      if (rank !== null && !(rank.after >= 1 && rank.after <= players)) throw new Error(`A rank of ${rank.after}.`);
      answers.push(performance.now() - dueAt);
    },
  }).finally(() => clearInterval(comparing));
  await spectator.untilShown();
  const { delays, deltas, compared } = spectator;
  const cores = cpu().map((used, at) => (used - cpuBefore[at]!) / seconds);
  return { sent, lateMs, answers, delays, deltas, compared, cores };
}

/** Follows the list, and knows what it should come to show. */
class Spectator {
  readonly #list = new FollowedList();
  readonly #waiting = new Map<string, { score: number; sinceMs: number }[]>();
  readonly #states = new Map<number, string>();
  #failure: Error | null = null;
  delays: number[] = [];
  deltas = 0;
  compared = 0;

  private constructor(private readonly port: number) {}

  static async follow(url: string): Promise<Spectator> {
    const spectator = new Spectator(Number(new URL(url).port));
    await subscribed(spectator.port, (frame) => spectator.#take(frame), spectator.#failed);
    await until(() => spectator.#list.seq >= 0, 'The list does not come.');
    return spectator;
  }

  begin(): void {
    this.delays = [];
    this.deltas = 0;
    this.compared = 0;
  }

  /** `playerId` is about to have a score; its best scores only grow. */
  expect(playerId: string, score: number, sinceMs: number): void {
    const waiting = this.#waiting.get(playerId) ?? [];
    this.#waiting.set(playerId, waiting);
    waiting.push({ score, sinceMs });
  }

  async untilShown(): Promise<void> {
    await until(() => {
      if (this.#failure) throw this.#failure;
      return this.#waiting.size === 0;
    }, 'Some submissions are not shown.');
  }

  /** Another client's first snapshot shows what is held at its number. */
  async compare(): Promise<void> {
    let client: LiveClient | null = null;
    const take = (frame: TopFrame): void => {
      if (frame.type !== 'snapshot') return;
      client?.close();
      // This socket may be told before or after the other.
      setTimeout(() => this.#compareWith(frame), 3 * intervalMs);
    };
    try {
      client = await subscribed(this.port, take, () => {});
    } catch (error) {
      this.#failed((error as Error).message);
    }
  }

  /** At rest, REST shows the same. */
  async assertSame(sender: Sender): Promise<void> {
    await sleep(5 * intervalMs);
    const { entries } = await sender.send<{ entries: ListRow[] }>(
      'GET',
      `/v1/boards/${board}/entries?limit=${leaders}`,
    );
    if (textOf(entries) !== this.#list.text()) throw new Error('The list that is held is not the one that REST shows.');
  }

  readonly #failed = (why: string): void => {
    this.#failure ??= new Error(`The spectator: ${why}`);
  };

  #take(frame: TopFrame): void {
    const now = performance.now();
    try {
      for (const { playerId, score } of this.#list.take(frame))
        if (score !== undefined) this.#shown(playerId, score, now);
    } catch (error) {
      this.#failed((error as Error).message);
    }
    this.deltas += 1;
    this.#states.set(this.#list.seq, this.#list.text());
    const [oldest] = this.#states.keys();
    if (oldest !== undefined && this.#states.size > statesKept) this.#states.delete(oldest);
  }

  #shown(playerId: string, score: number, now: number): void {
    const waiting = this.#waiting.get(playerId);
    if (waiting === undefined) return;
    const rest = waiting.filter((one) => one.score > score);
    for (const one of waiting) if (one.score <= score) this.delays.push(now - one.sinceMs);
    if (rest.length > 0) this.#waiting.set(playerId, rest);
    else this.#waiting.delete(playerId);
  }

  #compareWith({ seq, entries }: SnapshotFrame): void {
    const held = this.#states.get(seq);
    // A list that changed below its first rows has a number that this socket was not told.
    if (held === undefined) return;
    if (held !== textOf(entries)) this.#failed(`what is held at ${seq} is not what a snapshot shows.`);
    this.compared += 1;
  }
}

function subscribed(
  port: number,
  onFrame: (frame: TopFrame) => void,
  onEnd: (why: string) => void,
): Promise<LiveClient> {
  const onText = (payload: Buffer): void => onFrame(JSON.parse(payload.toString()) as TopFrame);
  return openTop({ port, board, limit: leaders, onText, onEnd });
}

async function until(isSo: () => boolean, otherwise: string): Promise<void> {
  for (const end = performance.now() + shownWithinMs; !isSo(); await sleep(5)) {
    if (performance.now() > end) throw new Error(otherwise);
  }
}

const ms = (value: number): string => `${value.toFixed(1)} ms`;

const describe = ({ delays, answers, deltas }: Round): string =>
  `p50 ${ms(quantile(delays, 0.5))}, p99 ${ms(quantile(delays, 0.99))}, max ${ms(Math.max(...delays))} ` +
  `(${delays.length} seen in ${deltas} deltas); answered p50 ${ms(quantile(answers, 0.5))}, p99 ${ms(quantile(answers, 0.99))}`;

function tables(found: readonly Round[], { perSecond, seconds }: { perSecond: number; seconds: number }): string {
  const compared = found.reduce((sum, one) => sum + one.compared, 0);
  if (compared === 0) throw new Error('No snapshot could be compared with what is held.');
  const row = (name: string, of: (one: Round) => number[]): string[] => [
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
          ...[...names, 'others'].map((_, at) =>
            quantile(
              found.map(({ cores }) => cores[at]!),
              0.5,
            ).toFixed(2),
          ),
        ],
      ],
    ),
  ].join('\n');
}
