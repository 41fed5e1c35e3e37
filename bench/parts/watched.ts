import { setTimeout as sleep } from 'node:timers/promises';
import { startApps, type RunningApp } from '../installation/apps.js';
import { count } from '../command-line/arguments.js';
import type { Options, ValuesOf } from '../command-line/options.js';
import type { BenchContext, Service } from '../installation/context.js';
import { cpuSecondsOf } from '../meters/cpu.js';
import { openLive } from '../live/client.js';
import { table, whole } from '../figures/live-figures.js';
import { openLoop, Sender } from '../load/post.js';

/**
 * What players cost who are watched: each has a channel of its own, and every submission moves some of them. Sockets hold as
 * many channels as they may.
 */
export const description = 'players who are watched one by one: what a tick of theirs costs, by how many they are';

export const options = {
  watched: {
    type: 'string',
    help: 'how many players are watched (50,500,5000)',
    default: '50,500,5000',
    parse: (text: string, name: string) => text.split(',').map((one) => count(one, name)),
  },
} satisfies Options;

const board = 'watched';
const intervalMs = 500;
const players = 20_000;
const perSecond = 50;
const seconds = 8;
const channelsOfSocket = 50;
const settleMs = 2000;
const names = ['api', 'projector', 'gateway'] as const;

export async function run(context: BenchContext<ValuesOf<typeof options>>): Promise<string> {
  const { options: given, service, step, keep } = context;
  const apps = await startApps(context, names);
  const sender = new Sender({ url: apps.api.url, key: service.key }, 16);
  try {
    const scores = await prepare(sender);
    const found: WatchedFound[] = [];
    for (const many of given.watched) {
      const one = await watch({ service, apps, sender, scores, count: many });
      found.push(one);
      step(describe(one));
    }
    keep({ watched: found });
    return tables(found);
  } finally {
    sender.close();
    await apps.stop();
  }
}

const idOf = (number: number): string => `user${String(number).padStart(8, '0')}`;

async function prepare(sender: Sender): Promise<number[]> {
  await sender.send('PUT', `/v1/boards/${board}`, { order: 'desc', operator: 'latest', push: { intervalMs } });
  const scores = Array.from({ length: players }, (_, number) => 1000 * number);
  for (let from = 0; from < players; from += 1000) {
    const some = scores.slice(from, from + 1000);
    await sender.submitAll(some.map((score, at) => ({ board, playerId: idOf(from + at), score })));
  }
  return scores;
}

interface Watch {
  service: Service;
  apps: Record<(typeof names)[number], RunningApp>;
  sender: Sender;
  /** Of the players, by their numbers. */
  scores: number[];
  /** How many players are watched. */
  count: number;
}

interface WatchedFound {
  count: number;
  framesPerSecond: number;
  /** By process. */
  cores: Record<string, number>;
}

/** Frames that came, and why it went wrong. */
interface Frames {
  frames: number;
  failure: string | null;
}

/** So many players, evenly spread, are watched while submissions come that move everybody now and then. */
async function watch({ service, apps, sender, scores, count }: Watch): Promise<WatchedFound> {
  const sockets: { close(): void }[] = [];
  const state: Frames = { frames: 0, failure: null };
  try {
    for (let from = 0; from < count; from += channelsOfSocket) {
      sockets.push(await subscribe(apps.gateway, { from, count, state, token: service.key }));
    }
    await sleep(settleMs);
    await submit(sender, scores, 2);
    const framesBefore = state.frames;
    const cpu = (): Record<string, number> => ({
      ...Object.fromEntries(names.map((name) => [name, cpuSecondsOf(apps[name].pid)])),
      redis: service.cpuSeconds('redis'),
    });
    const cpuBefore = cpu();
    const beganAt = performance.now();
    await submit(sender, scores, seconds);
    await sleep(settleMs);
    const took = (performance.now() - beganAt) / 1000;
    if (state.failure !== null) throw new Error(state.failure);
    const used = cpu();
    return {
      count,
      framesPerSecond: (state.frames - framesBefore) / took,
      cores: Object.fromEntries(Object.entries(used).map(([name, at]) => [name, (at - (cpuBefore[name] ?? 0)) / took])),
    };
  } finally {
    for (const socket of sockets) socket.close();
    await sleep(settleMs);
  }
}

/** A socket that watches some of the players. */
async function subscribe(
  gateway: RunningApp,
  { from, count, state, token }: { from: number; count: number; state: Frames; token: string },
): Promise<{ close(): void }> {
  const live = await openLive({
    port: Number(new URL(gateway.url).port),
    token,
    onText: () => void (state.frames += 1),
    onEnd: (why) => void (state.failure ??= `A socket was cut off: ${why}`),
  });
  const apart = Math.floor(players / count);
  for (let at = from; at < Math.min(count, from + channelsOfSocket); at += 1) {
    live.send({ type: 'subscribe', id: String(at), board, channel: 'player', playerId: idOf(apart * at) });
  }
  return {
    close: () => {
      // From here on its end is no failure.
      state.failure ??= '';
      live.close();
    },
  };
}

/** Anybody gets a new score somewhere on the board: everybody in between moves by one. */
async function submit(sender: Sender, scores: number[], forSeconds: number): Promise<void> {
  await openLoop({
    perSecond,
    seconds: forSeconds,
    next: async () => {
      const number = Math.floor(Math.random() * players);
      const score = Math.floor(Math.random() * 1000 * players);
      scores[number] = score;
      await sender.send('POST', `/v1/boards/${board}/scores`, { playerId: idOf(number), score });
    },
  });
}

const coresOf = ({ cores }: Pick<WatchedFound, 'cores'>): string[] =>
  Object.entries(cores).map(([name, used]) => `${name} ${used.toFixed(2)}`);

const describe = ({ count, framesPerSecond, ...found }: WatchedFound): string =>
  `${whole(count)} players: ${whole(framesPerSecond)} frames/s, cores ${coresOf(found).join(', ')}`;

function tables(found: readonly WatchedFound[]): string {
  const rows = found.map(({ count, framesPerSecond, cores }) => [
    whole(count),
    whole(framesPerSecond),
    ...Object.values(cores).map((used) => used.toFixed(2)),
  ]);
  const heads = ['players watched', 'frames/s', ...Object.keys(found[0]?.cores ?? {}).map((name) => `${name}, cores`)];
  return [
    `${whole(players)} players, ${perSecond} submissions a second that move anybody anywhere, tick ${intervalMs} ms, ${channelsOfSocket} players a socket.`,
    '',
    table(heads, rows),
  ].join('\n');
}
