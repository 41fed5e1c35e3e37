import { WebSocket, type ClientOptions } from 'ws';
import { keyOfEntry, type Problem, type RankedEntry, type RankStyle, type Tiebreak } from '@laddercast/domain';
import { eventually } from './boards.js';

/** A frame of the server, as it came. */
export interface ServerFrame {
  type: 'snapshot' | 'delta' | 'rating' | 'error' | 'window-closed' | 'standings-revised' | 'ping';
  id?: string;
  seq?: number;
  previousSeq?: number;
  asOf?: string;
  total?: number;
  rankStyle?: RankStyle;
  tiebreak?: Tiebreak;
  entries?: RankedEntry[];
  changes?: ({ playerId: string; entryId?: string; rank: number | null; score?: number } & Record<string, unknown>)[];
  problem?: Problem;
  accuracy?: 'estimated';
  errorBound?: number;
  window?: string;
  edition?: number;
}

/** What a client holds of one subscription by the contract's rule, and every state it went through. */
export class Followed {
  seq = -1;
  total = -1;
  rows = new Map<string, Record<string, unknown>>();
  snapshots = 0;
  deltas = 0;
  gaps = 0;
  readonly states = new Map<number, string>();

  take(frame: ServerFrame): void {
    if (frame.type === 'snapshot' && frame.entries) {
      this.snapshots += 1;
      this.rows = new Map(frame.entries.map((entry) => [keyOfEntry(entry), { ...entry }]));
    } else if (frame.type === 'delta') {
      if (frame.seq! <= this.seq) return;
      if (frame.previousSeq! > this.seq) {
        this.gaps += 1;
        return;
      }
      this.deltas += 1;
      for (const change of frame.changes!) this.apply(change);
    } else {
      return;
    }
    this.seq = frame.seq!;
    this.total = frame.total!;
    this.states.set(this.seq, this.text());
  }

  /** The list as text, for comparing. */
  text(): string {
    return listText([...this.rows.values()] as unknown as RankedEntry[], this.total);
  }

  /** Its rows in the order of ranks: rank, rank among everybody where there is one, player. */
  places(): string[] {
    return placesOf(this.rows.values());
  }

  private apply(change: NonNullable<ServerFrame['changes']>[number]): void {
    const key = keyOfEntry(change);
    if (change.rank === null) {
      if (!this.rows.delete(key)) throw new Error(`${change.playerId} left a list it was not in`);
      return;
    }
    if (change.score !== undefined) {
      const { previousRank: _rank, previousScore: _score, passed: _passed, ...row } = change;
      this.rows.set(key, row);
      return;
    }
    const row = this.rows.get(key);
    if (!row) throw new Error(`${change.playerId} was shifted in a list it was not in`);
    row.rank = change.rank;
  }
}

/** One text a row, in the order of ranks: rank, rank among everybody where there is one, player. */
export const placesOf = (rows: Iterable<object>): string[] =>
  [...(rows as Iterable<Record<string, unknown>>)]
    .sort((a, b) => Number(a.rank) - Number(b.rank))
    .map(({ rank, globalRank, playerId }) =>
      [rank, globalRank, playerId].filter((part) => part !== undefined).join(' '),
    );

/** One line a row, in the order of ranks, equal ones in that of the times (earliest first), with the total. */
export function listText(rows: readonly RankedEntry[], total: number): string {
  const sorted = [...rows].sort(
    (a, b) =>
      a.rank - b.rank || Date.parse(a.achievedAt!) - Date.parse(b.achievedAt!) || (a.playerId < b.playerId ? -1 : 1),
  );
  return [`total ${total}`, ...sorted.map((row) => JSON.stringify(Object.fromEntries(byName(row))))].join('\n');
}

const byName = (row: object): [string, unknown][] => Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));

/** A client of the live socket that keeps every frame and follows its subscriptions. */
export class LiveClient {
  /** Without pings, which come by the clock. */
  readonly frames: ServerFrame[] = [];
  readonly pings: ServerFrame[] = [];
  readonly lists = new Map<string, Followed>();
  closed: { code: number; reason: string } | null = null;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as ServerFrame;
      (frame.type === 'ping' ? this.pings : this.frames).push(frame);
      if (frame.id !== undefined) this.list(frame.id).take(frame);
    });
    socket.on('close', (code, reason) => (this.closed = { code, reason: String(reason) }));
    socket.on('error', () => undefined);
  }

  static async connect(
    url: string,
    protocols: string[] = ['ladder.v1'],
    options: ClientOptions = {},
  ): Promise<LiveClient> {
    const client = new LiveClient(new WebSocket(url, protocols, options));
    await eventually('the socket opens', () => client.socket.readyState !== WebSocket.CONNECTING);
    return client;
  }

  list(id: string): Followed {
    const known = this.lists.get(id) ?? new Followed();
    this.lists.set(id, known);
    return known;
  }

  send(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Sends a message and waits for the first frame with its id that comes after it. */
  async ask(message: { id: string } & Record<string, unknown>): Promise<ServerFrame> {
    const from = this.frames.length;
    this.send(message);
    return this.frame(`an answer to ${JSON.stringify(message)}`, (frame) => frame.id === message.id, from);
  }

  async frame(what: string, fits: (frame: ServerFrame) => boolean, from = 0): Promise<ServerFrame> {
    await eventually(what, () => this.frames.slice(from).some(fits));
    return this.frames.slice(from).find(fits)!;
  }

  async problem(from = 0): Promise<Problem> {
    return (await this.frame('an error frame', (frame) => frame.type === 'error', from)).problem!;
  }

  async close(): Promise<void> {
    this.socket.close();
    await eventually('the socket closes', () => this.closed !== null);
  }
}
