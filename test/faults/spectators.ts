import { createHash } from 'node:crypto';
import { WebSocket } from 'ws';
import { Followed, type ServerFrame } from '../../libs/realtime/test/follower.js';
import { SEASON, type FaultBoard } from './boards.js';
import type { Chance } from './chance.js';
import type { FaultInstallation } from './installation.js';
import type { KnownRuns, ShownRow } from './known-runs.js';

/** What a spectator watches. */
export type Watched =
  | { channel: 'top'; board: FaultBoard; limit: 10 | 25 | 50 | 100; window?: string }
  | { channel: 'range'; board: FaultBoard; offset: number; limit: number }
  | { channel: 'player'; board: FaultBoard; playerId: string; around: number };

/** The id of the window that is watched. */
export const windowWatched = (watched: Watched): string =>
  (watched.channel === 'top' ? watched.window : undefined) ?? 'alltime';

const RECONNECT_FIRST_MS = 50;
const RECONNECT_MAX_MS = 1000;
const RESUME_AGAIN_MS = 200;
const ID = '1';
/** Of a service in trouble: it is asked again. */
const NOT_NOW = new Set([429, 503]);

/**
 * A client of the live socket that keeps the contract's rule: it ignores what is old, applies what follows, resumes
 * over a gap, and connects to the next gateway when it is sent away or cut off.
 */
export class Spectator {
  /** What it holds. */
  held = new Followed();
  /** The codes with which its sockets were closed; 1006: cut off. */
  readonly closeCodes: number[] = [];
  /** What the contract forbids: a delta that does not fit, a number that comes again with another list. */
  readonly wrong: string[] = [];
  /** Error frames that say something else than to ask again later. */
  readonly refused: string[] = [];
  /** How often it was sent a number below its own: a gateway that was behind, or a history that began again. */
  wentBack = 0;
  private socket: WebSocket | null = null;
  private isClosed = false;
  private failures = 0;
  private isAnswered = false;

  constructor(
    private readonly urls: readonly string[],
    readonly watched: Watched,
    private at: number,
    private readonly token?: string,
    /** Judges what it holds after every frame. */
    private readonly known?: KnownRuns,
  ) {
    this.connect();
  }

  /** Whether it has a socket on which it was answered. */
  get isLive(): boolean {
    return this.isAnswered && this.socket?.readyState === WebSocket.OPEN;
  }

  close(): void {
    this.isClosed = true;
    this.socket?.close();
  }

  private connect(): void {
    if (this.isClosed) return;
    const url = this.urls[this.at++ % this.urls.length]!;
    const headers = this.token === undefined ? {} : { authorization: `Bearer ${this.token}` };
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/live`, ['ladder.v1'], {
      headers,
      handshakeTimeout: 5000,
    });
    this.socket = socket;
    this.isAnswered = false;
    socket.on('open', () => this.ask());
    socket.on('message', (data) => this.take(JSON.parse(String(data)) as ServerFrame));
    socket.on('error', () => undefined);
    socket.on('close', (code) => {
      this.closeCodes.push(code);
      this.failures += 1;
      const waitMs = Math.min(RECONNECT_MAX_MS, RECONNECT_FIRST_MS * 2 ** Math.min(this.failures, 5));
      setTimeout(() => this.connect(), waitMs);
    });
  }

  private ask(): void {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    const { seq } = this.held;
    const asked = seq < 0 ? { type: 'subscribe' } : { type: 'resume', seq };
    this.socket.send(JSON.stringify({ ...asked, id: ID, ...this.watched }));
  }

  private take(frame: ServerFrame): void {
    if (frame.type === 'ping') return;
    if (frame.type === 'error') {
      const { status, code } = frame.problem!;
      if (!NOT_NOW.has(status)) this.refused.push(`${JSON.stringify(this.watched)}: ${status} ${code}`);
      // It cannot be answered now; a subscription that has ended is asked for anew.
      setTimeout(() => this.ask(), RESUME_AGAIN_MS);
      return;
    }
    this.failures = 0;
    this.isAnswered = true;
    if (frame.type === 'standings-revised') {
      // What it holds is of an edition before.
      this.held = new Followed();
      this.socket?.send(JSON.stringify({ type: 'unsubscribe', id: ID }));
      this.ask();
      return;
    }
    // Who is shadowed, or was, goes on in another list under the same numbers.
    if (this.token !== undefined && frame.type === 'snapshot') this.held.states.clear();
    if (frame.seq !== undefined && frame.seq < this.held.seq) {
      this.wentBack += 1;
      // Numbers of a list are one history: an older snapshot is a history that began again.
      if (frame.type === 'snapshot') this.held.seq = -1;
    }
    const gaps = this.held.gaps;
    const known = frame.seq === undefined ? undefined : this.held.states.get(frame.seq);
    try {
      this.held.take(frame);
    } catch (error) {
      this.wrong.push(`${JSON.stringify(this.watched)}: ${String(error)}`);
      return;
    }
    // A digest of each state is enough to compare, and a long run has thousands of them.
    const shown = createHash('sha1').update(this.held.text()).digest('base64');
    if (this.held.seq >= 0) this.held.states.set(this.held.seq, shown);
    if (known !== undefined && this.held.seq === frame.seq && known !== shown) {
      this.wrong.push(`${JSON.stringify(this.watched)}: the number ${frame.seq} came again with another list`);
    }
    if (this.held.gaps > gaps) this.ask();
    else if (frame.seq === this.held.seq) this.judge(frame);
  }

  private judge({ asOf, errorBound = 0, accuracy }: ServerFrame): void {
    const { rows, total } = this.held;
    const sorted = ([...rows.values()] as unknown as ShownRow[]).sort((a, b) => a.rank - b.rank);
    const list = {
      board: this.watched.board,
      windowId: windowWatched(this.watched),
      total,
      rows: sorted,
      errorBound,
      accuracy,
    };
    const wrong = this.known?.judge({ ...list, notBeforeMs: Date.parse(asOf!) }) ?? [];
    this.wrong.push(...wrong.map((what) => `${JSON.stringify(this.watched)}: ${what}`));
  }
}

export interface SpectatorsOptions {
  boards: readonly FaultBoard[];
  players: number;
  chance: Chance;
  known?: KnownRuns;
  /** Where they connect; default: every gateway. */
  urls?: readonly string[];
}

/** Spectators of every channel on every board, spread over the gateways. */
export function openSpectators(installation: FaultInstallation, options: SpectatorsOptions): Spectator[] {
  const { boards, players, chance, known, urls = installation.gateways.map(({ url }) => url) } = options;
  return boards.flatMap((board, index) =>
    urls.flatMap((_, gateway) => {
      const watched: Watched[] = [
        { channel: 'top', board, limit: 100 },
        { channel: 'top', board, limit: 10 },
        { channel: 'range', board, offset: 3, limit: 10 },
        { channel: 'player', board, playerId: `p${chance.below(players)}`, around: 3 },
        // It ends meanwhile: what is held then is its final standings.
        ...(board === SEASON.board ? [{ channel: 'top', board, limit: 50, window: SEASON.id } as const] : []),
      ];
      return watched.map((one, place) => new Spectator(urls, one, gateway + index + place, undefined, known));
    }),
  );
}

/** Where two spectators of one list were shown different lists under one number. */
export function contradictions(spectators: readonly Spectator[]): string[] {
  const shown = new Map<string, string>();
  const found: string[] = [];
  for (const { watched, held } of spectators) {
    if (watched.channel !== 'top') continue;
    for (const [seq, text] of held.states) {
      const name = `${watched.board} ${windowWatched(watched)} top ${watched.limit} at ${seq}`;
      const other = shown.get(name);
      if (other !== undefined && other !== text) found.push(`${name} was shown in two ways`);
      shown.set(name, text);
    }
  }
  return found;
}
