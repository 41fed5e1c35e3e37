import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../figures/figures.js';
import { openTop } from '../live/client.js';
import { openLoop, Sender } from '../load/post.js';
import { meanBetween, scrape } from '../meters/scrape.js';
import { Submissions } from '../boards/submissions.js';
import { cpuMeter, untilProjected } from '../meters/watch.js';

const connections = 8;
const players = 10_000;
const perSecond = 500;
const warmUpSeconds = 4;
const watchedRows = 100;
const snapshotWithinMs = 20_000;

/** Submissions to a board of `fillEntries`, for one layout after the other. */
export const submissionsOf = (entries) => new Submissions({ entries, players: Math.min(players, entries) });

/**
 * What a submission costs, and a tick of the list, while one spectator follows its first hundred: 500 submissions a second
 * come one by one, so that no figure gains by many being taken together.
 * @returns `{ p50, p99, cpu, tickMs }`: ms until answered, µs of CPU of a submission by process, ms of a tick of the list
 */
export async function measureWrites({ service, board, database, submissions, seconds }) {
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
    const tickMs = 1000 * meanBetween(before, after, 'laddercast_tick_seconds');
    return { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), cpu, tickMs };
  } finally {
    spectator.close();
    sender.close();
  }
}

async function submit({ sender, board, submissions, seconds }) {
  const count = perSecond * seconds;
  const bodies = submissions.take(count);
  const latencies = [];
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

/** A client that follows the first of the list, and holds that it is not cut off. */
async function follow({ gatewayUrl }, board) {
  const state = { failure: null, frames: 0 };
  const live = await openTop({
    port: Number(new URL(gatewayUrl).port),
    board,
    limit: watchedRows,
    onText: () => (state.frames += 1),
    onEnd: (why) => (state.failure ??= `The spectator was cut off: ${why}`),
  });
  for (const until = performance.now() + snapshotWithinMs; state.frames === 0; await sleep(10)) {
    if (performance.now() < until) continue;
    live.close();
    throw new Error('The list does not come.');
  }
  return Object.assign(state, { close: () => live.close() });
}
