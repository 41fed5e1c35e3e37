import { sharedMs } from '../meters/process.js';
import type { ChildAnswer, ChildRequest } from './child-messages.js';
import { openTop } from './client.js';
import { FollowedList, type TopFrame } from './followed-list.js';

// A client process of the benchmark `sockets`: opens sockets, subscribes each, and checks that each gets every delta.

const openedAtOnce = 50;
const histogramMs = 20_000;
const mergedMax = 0.05;

interface State {
  list: FollowedList;
  sockets: Follower[];
  failure: string | null;
  shown: Set<number>;
  deltas: { seq: number; bytes: number; scores: number[] }[];
}

const state: State = { list: new FollowedList(), sockets: [], failure: null, shown: new Set(), deltas: [] };

/** One subscribed socket: the number it stands at, and when it got each delta of the round. */
class Follower {
  seq = -1;
  arrivals: number[] = [];

  constructor(
    readonly number: number,
    private readonly onReady: () => void,
  ) {}

  take(payload: Buffer): void {
    const atMs = sharedMs();
    // The head of a frame is the same in all: type, id, seq and, of a delta, previousSeq.
    const [, type, seq, previous] =
      /^\{"type":"(\w+)","id":"1","seq":(\d+)(?:,"previousSeq":(\d+))?/.exec(payload.toString('latin1', 0, 120)) ?? [];
    if (type === 'snapshot' && this.seq < 0) {
      this.seq = Number(seq);
      if (this.number === 0) state.list.take(JSON.parse(payload.toString()) as TopFrame);
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

function keep(payload: Buffer): void {
  try {
    const changes = state.list.take(JSON.parse(payload.toString()) as TopFrame);
    // A row that was pushed out of the list comes back whole, with a score that was shown before.
    const scores = changes.flatMap(({ score }) => (score === undefined || state.shown.has(score) ? [] : [score]));
    for (const score of scores) state.shown.add(score);
    state.deltas.push({ seq: state.list.seq, bytes: payload.length, scores });
  } catch (error) {
    failed((error as Error).message);
  }
}

function failed(why: string): void {
  state.failure ??= why;
}

type Opening = Extract<ChildRequest, { open: unknown }>['open'];

async function open({ port, count, from, board, limit }: Opening): Promise<ChildAnswer> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count && state.failure === null) {
      const number = next++;
      await new Promise<void>((resolve, reject) => {
        const follower = new Follower(number, resolve);
        state.sockets.push(follower);
        const onEnd = (why: string): void => failed(`socket ${number}: ${why}`);
        openTop({ port, from, board, limit, onText: (payload) => follower.take(payload), onEnd }).catch(reject);
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, openedAtOnce) }, worker));
  return { done: true };
}

function begin(): ChildAnswer {
  state.deltas = [];
  for (const follower of state.sockets) follower.arrivals = [];
  return { done: true };
}

/** Counts, by milliseconds, how long after its POST each delta came to each socket. */
function end(dueOf: Extract<ChildRequest, { end: unknown }>['end']): ChildAnswer {
  if (state.failure !== null) return { error: state.failure };
  const due = new Map(dueOf);
  const histogram = new Array<number>(histogramMs).fill(0);
  let maxMs = 0;
  const waited = state.deltas.map(({ scores }) => Math.min(...scores.map((score) => due.get(score) ?? Infinity)));
  for (const { number, arrivals, seq } of state.sockets) {
    if (arrivals.length !== state.deltas.length || seq !== state.list.seq) {
      return { error: `socket ${number} got ${arrivals.length} deltas up to ${seq}, not ${state.deltas.length}` };
    }
    for (const [at, arrivedAt] of arrivals.entries()) {
      const dueAt = waited[at]!;
      // It shows only POSTs of another round.
      if (dueAt === Infinity) continue;
      const ms = arrivedAt - dueAt;
      maxMs = Math.max(maxMs, ms);
      histogram[Math.min(histogramMs - 1, Math.max(0, Math.floor(ms)))]! += 1;
    }
  }
  const missing = dueOf.filter(([score]) => !state.shown.has(score)).length;
  // One that its player's next took the place of within a tick is merged into that.
  if (missing > mergedMax * dueOf.length) return { error: `${missing} of ${dueOf.length} submissions were not shown` };
  const bytes = state.deltas.reduce((sum, one) => sum + one.bytes, 0);
  return { round: { deltas: state.deltas.length, bytes, histogram, maxMs } };
}

process.on('message', (message: ChildRequest) => {
  const answer = (value: ChildAnswer): void => void process.send!(value);
  const refuse = (error: Error): void => answer({ error: error.stack ?? error.message });
  if ('open' in message) open(message.open).then(answer, refuse);
  else if ('begin' in message) answer(begin());
  else answer(end(message.end));
});
process.on('disconnect', () => process.exit(0));
