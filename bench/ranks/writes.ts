import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../figures/figures.js';
import { openTop } from '../live/client.js';
import { openLoop, Sender } from '../load/post.js';
import { meanBetween, scrape } from '../meters/scrape.js';
import { Submissions } from '../boards/submissions.js';
import type { CleanState, Service } from '../installation/context.js';
import { cpuMeter, untilProjected } from '../meters/watch.js';

/** What a submission and a tick of the list cost; ms. */
export interface RankWrites {
  p50: number;
  p99: number;
  /** µs of CPU of a submission, by process. */
  cpu: Record<string, number>;
  tickMs: number;
}

/** What is submitted to, and what. */
export interface WritePlace extends Pick<CleanState, 'service' | 'database'> {
  board: { id: string };
  submissions: Submissions;
  seconds: number;
}

const connections = 8;
const players = 10_000;
const perSecond = 500;
const warmUpSeconds = 4;
const watchedRows = 100;
const snapshotWithinMs = 20_000;

/** Submissions to a board of `fillEntries`, for one layout after the other. */
export const submissionsOf = (entries: number): Submissions =>
  new Submissions({ entries, players: Math.min(players, entries) });

/**
 * What a submission costs, and a tick of the list, while one spectator follows its first hundred: 500 submissions a second
 * come one by one, so that no figure gains by many being taken together.
 */
export async function measureWrites({
  service,
  board,
  database,
  submissions,
  seconds,
}: WritePlace): Promise<RankWrites> {
  const spectator = await follow(service, board.id);
  const sender = new Sender(service, connections);
  try {
    await submit({ sender, board, submissions, seconds: warmUpSeconds });
    await untilProjected(database);
    const before = await scrape(service.metricsUrlsOf('projector'));
    const cpuOf = cpuMeter(service);
    const latencies = await submit({ sender, board, submissions, seconds });
    await untilProjected(database);
    const { cpu } = cpuOf(latencies.length);
    const after = await scrape(service.metricsUrlsOf('projector'));
    if (spectator.failure !== null) throw new Error(spectator.failure);
    latencies.sort((a, b) => a - b);
    const tickSeconds = meanBetween(before, after, 'laddercast_tick_seconds');
    if (tickSeconds === null) throw new Error('The list had no tick.');
    return { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), cpu, tickMs: 1000 * tickSeconds };
  } finally {
    spectator.close();
    sender.close();
  }
}

async function submit({
  sender,
  board,
  submissions,
  seconds,
}: Pick<WritePlace, 'board' | 'submissions' | 'seconds'> & { sender: Sender }): Promise<number[]> {
  const count = perSecond * seconds;
  const bodies = submissions.take(count);
  const latencies: number[] = [];
  let next = 0;
  await openLoop({
    perSecond,
    seconds,
    next: async (dueAt) => {
      await sender.send('POST', `/v1/boards/${board.id}/scores`, bodies[next++]);
      latencies.push(performance.now() - dueAt);
    },
  });
  submissions.sent(next);
  return latencies;
}

interface Spectator {
  failure: string | null;
  frames: number;
  close(): void;
}

/** A client that follows the first of the list, and holds that it is not cut off. */
async function follow({ gatewayUrl }: Service, board: string): Promise<Spectator> {
  const state: Omit<Spectator, 'close'> = { failure: null, frames: 0 };
  const live = await openTop({
    port: Number(new URL(gatewayUrl).port),
    board,
    limit: watchedRows,
    onText: () => void (state.frames += 1),
    onEnd: (why) => void (state.failure ??= `The spectator was cut off: ${why}`),
  });
  for (const until = performance.now() + snapshotWithinMs; state.frames === 0; await sleep(10)) {
    if (performance.now() < until) continue;
    live.close();
    throw new Error('The list does not come.');
  }
  return Object.assign(state, { close: () => live.close() });
}
