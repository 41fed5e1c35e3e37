import { sharedMs } from '../figures/live-figures.js';
import { openTop } from './client.js';
import { FollowedList } from './followed-list.js';

// A client process of the benchmark `sockets`: opens sockets, subscribes each, and checks that each gets every delta.

const openedAtOnce = 50;
const histogramMs = 20_000;
const mergedMax = 0.05;

const state = { list: new FollowedList(), sockets: [], failure: null, shown: new Set(), deltas: [] };

/** One subscribed socket: the number it stands at, and when it got each delta of the round. */
class Follower {
  seq = -1;
  arrivals = [];

  constructor(number, onReady) {
    Object.assign(this, { number, onReady });
  }

  take(payload) {
    const atMs = sharedMs();
    // The head of a frame is the same in all: type, id, seq and, of a delta, previousSeq.
    const [, type, seq, previous] =
      /^\{"type":"(\w+)","id":"1","seq":(\d+)(?:,"previousSeq":(\d+))?/.exec(payload.latin1Slice(0, 120)) ?? [];
    if (type === 'snapshot' && this.seq < 0) {
      this.seq = Number(seq);
      if (this.number === 0) state.list.take(JSON.parse(payload.toString()));
      return this.onReady();
    }
    if (type !== 'delta') return failed(`socket ${this.number} got ${payload.toString().slice(0, 300)}`);
    if (Number(previous) !== this.seq)
      failed(`socket ${this.number} stands at ${this.seq} and got ${previous} → ${seq}`);
    this.seq = Number(seq);
    this.arrivals.push(atMs);
    if (this.number === 0) keep(payload);
  }
}

function keep(payload) {
  try {
    const changes = state.list.take(JSON.parse(payload.toString()));
    // A row that was pushed out of the list comes back whole, with a score that was shown before.
    const scores = changes.map(({ score }) => score).filter((score) => score !== undefined && !state.shown.has(score));
    for (const score of scores) state.shown.add(score);
    state.deltas.push({ seq: state.list.seq, bytes: payload.length, scores });
  } catch (error) {
    failed(error.message);
  }
}

const failed = (why) => (state.failure ??= why);

async function open({ port, count, from, board, limit }) {
  let next = 0;
  const worker = async () => {
    while (next < count && state.failure === null) {
      const number = next++;
      await new Promise((resolve, reject) => {
        const follower = new Follower(number, resolve);
        state.sockets.push(follower);
        const onEnd = (why) => failed(`socket ${number}: ${why}`);
        openTop({ port, from, board, limit, onText: (payload) => follower.take(payload), onEnd }).catch(reject);
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, openedAtOnce) }, worker));
  return { opened: count };
}

function begin() {
  state.deltas = [];
  for (const follower of state.sockets) follower.arrivals = [];
  return { begun: true };
}

/** Counts, by milliseconds, how long after its POST each delta came to each socket. @param dueOf pairs of score and time */
function end(dueOf) {
  if (state.failure !== null) return { error: state.failure };
  const due = new Map(dueOf);
  const histogram = new Array(histogramMs).fill(0);
  let maxMs = 0;
  const waited = state.deltas.map(({ scores }) => Math.min(...scores.map((score) => due.get(score) ?? Infinity)));
  for (const { number, arrivals, seq } of state.sockets) {
    if (arrivals.length !== state.deltas.length || seq !== state.list.seq) {
      return { error: `socket ${number} got ${arrivals.length} deltas up to ${seq}, not ${state.deltas.length}` };
    }
    for (const [at, arrivedAt] of arrivals.entries()) {
      if (waited[at] === Infinity) continue;
      const ms = arrivedAt - waited[at];
      maxMs = Math.max(maxMs, ms);
      histogram[Math.min(histogramMs - 1, Math.max(0, Math.floor(ms)))] += 1;
    }
  }
  const missing = dueOf.filter(([score]) => !state.shown.has(score)).length;
  // One that its player's next took the place of within a tick is merged into that.
  if (missing > mergedMax * dueOf.length) return { error: `${missing} of ${dueOf.length} submissions were not shown` };
  const bytes = state.deltas.reduce((sum, one) => sum + one.bytes, 0);
  return { deltas: state.deltas.length, bytes, histogram, maxMs };
}

process.on('message', (message) => {
  const answer = (value) => process.send(value);
  const refuse = (error) => process.send({ error: error.stack });
  if (message.open) open(message.open).then(answer, refuse);
  else if (message.begin) answer(begin());
  else answer(end(message.end));
});
process.on('disconnect', () => process.exit(0));
