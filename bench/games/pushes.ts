import { setTimeout as sleep } from 'node:timers/promises';
import { openTop, type LiveClient } from '../live/client.js';
import { openLoop, Sender } from '../load/post.js';
import type { Measuring } from '../installation/context.js';

const board = 'pushed';
const pool = 'pushed';
const intervalMs = 100;
const leaders = 100;
const others = 20_000;
/** One game in so many is between leaders, and changes the list that is watched. */
const everyVisible = 4;
/** So many wins put a leader above all others, for as long as a run lasts. */
const winsAhead = 25;
const connections = 64;
const shownWithinMs = 10_000;

/** ms, from when a POST was due. */
export interface PushesFound {
  answers: number[];
  /** To the frame that shows the game on another client's socket. */
  pushes: number[];
}

interface Row {
  playerId: string;
  columns?: { played: number };
}

/**
 * A board fed by a pool, whose column says how many games a player has: so a frame shows which games are in it. A hundred
 * leaders play among themselves, and a spectator holds their list.
 */
export class PushedGames {
  readonly #played = new Map<string, number>();
  readonly #waiting = new Map<string, { played: number; dueAt: number }[]>();
  #pushes: number[] = [];
  #made = 0;
  #failure: Error | null = null;
  #client: LiveClient | null = null;

  private constructor(private readonly sender: Sender) {}

  static async open({ service }: Pick<Measuring, 'service'>): Promise<PushedGames> {
    const sender = new Sender(service, connections);
    const columns = [{ name: 'played', order: 'desc' }];
    await sender.send('PUT', `/v1/boards/${board}`, {
      ...{ order: 'desc', operator: 'latest', columns },
      push: { intervalMs, top: leaders },
    });
    await sender.send('PUT', `/v1/pools/${pool}`, {
      algorithm: 'elo',
      boards: [{ board, value: 'rating', columns: { played: 'games' } }],
    });
    const games = new PushedGames(sender);
    await games.#putAhead();
    await games.#follow(Number(new URL(service.gatewayUrl).port));
    return games;
  }

  /** So many games a second, each a POST of its own. @throws Error when one is not shown within ten seconds */
  async run({ perSecond, seconds }: { perSecond: number; seconds: number }): Promise<PushesFound> {
    const answers: number[] = [];
    this.#pushes = [];
    await openLoop({
      ...{ perSecond, seconds },
      next: async (dueAt) => {
        this.#made += 1;
        const isVisible = this.#made % everyVisible === 0;
        const players = isVisible ? twoOf('leader', leaders) : twoOf('other', others);
        const sent = this.#post(players);
        if (isVisible) for (const playerId of players) this.#expect(playerId, dueAt);
        await sent;
        answers.push(performance.now() - dueAt);
      },
    });
    for (const endsAt = performance.now() + shownWithinMs; this.#waiting.size > 0; await sleep(5)) {
      if (this.#failure) throw this.#failure;
      if (performance.now() > endsAt) throw new Error(`Games of ${this.#waiting.size} players are not shown.`);
    }
    return { answers, pushes: this.#pushes };
  }

  close(): void {
    this.#client?.close();
    this.sender.close();
  }

  async #putAhead(): Promise<void> {
    for (let win = 0; win < winsAhead; win += 1) {
      const games = Array.from({ length: leaders }, (_, at) =>
        gameOf(`ahead-${win}-${at}`, [`leader${at}`, other(100 * win + at)]),
      );
      const { results } = await this.sender.send<{ results: { problem?: object }[] }>('POST', '/v1/games', { games });
      const refused = results.find(({ problem }) => problem);
      if (refused) throw new Error(`A game was refused: ${JSON.stringify(refused.problem)}`);
    }
    for (let at = 0; at < leaders; at += 1) this.#played.set(`leader${at}`, winsAhead);
  }

  async #follow(port: number): Promise<void> {
    let isThere: () => void;
    const first = new Promise<void>((resolve) => (isThere = resolve));
    this.#client = await openTop({
      ...{ port, board, limit: leaders },
      onText: (payload) => {
        const frame = JSON.parse(payload.toString()) as { entries?: Row[]; changes?: Row[] };
        this.#take(frame.entries ?? frame.changes ?? []);
        isThere();
      },
      onEnd: (why) => (this.#failure ??= new Error(`The spectator: ${why}`)),
    });
    await first;
  }

  /** Counted when it is sent: games of one player may be answered in another order, and their number is the same. */
  #expect(playerId: string, dueAt: number): void {
    const played = this.#played.get(playerId)! + 1;
    this.#played.set(playerId, played);
    const waiting = this.#waiting.get(playerId) ?? [];
    waiting.push({ played, dueAt });
    this.#waiting.set(playerId, waiting);
  }

  #take(rows: readonly Row[]): void {
    const now = performance.now();
    for (const { playerId, columns } of rows) {
      const waiting = this.#waiting.get(playerId);
      if (columns === undefined || waiting === undefined) continue;
      for (const { played, dueAt } of waiting) if (played <= columns.played) this.#pushes.push(now - dueAt);
      const rest = waiting.filter(({ played }) => played > columns.played);
      if (rest.length > 0) this.#waiting.set(playerId, rest);
      else this.#waiting.delete(playerId);
    }
  }

  #post(players: readonly [string, string]): Promise<unknown> {
    return this.sender.send('POST', '/v1/games', gameOf(`g-${this.#made}`, players));
  }
}

const other = (number: number): string => `other${number % others}`;

const gameOf = (gameId: string, [first, second]: readonly [string, string]): object => ({
  ...{ gameId, pool },
  players: [
    { playerId: first, place: 1 },
    { playerId: second, place: 2 },
  ],
});

function twoOf(name: string, count: number): [string, string] {
  const first = Math.floor(Math.random() * count);
  const second = (first + 1 + Math.floor(Math.random() * (count - 1))) % count;
  return [`${name}${first}`, `${name}${second}`];
}
