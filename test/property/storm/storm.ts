import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseClock, Dice, type LogUnderTest } from '@laddercast/testing';
import { FaultInstallation } from '../../faults/installation.js';
import { Spectator } from '../../faults/spectators.js';
import { StormActs } from './storm-acts.js';
import { playerToken } from '../../e2e/rest-client.js';
import { boardsOf, CREW, GUILDS, PLAYERS, SEASON } from './storm-boards.js';
import { StormClient } from './storm-client.js';
import { StormModel, type StormSanction } from './storm-model.js';
import { isOfCrew } from './storm-questions.js';
import { StormReaders } from './storm-readers.js';
import { StormTruth } from './storm-truth.js';
import { StormWeather } from './storm-weather.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Everybody hears of the ledger's clock within a second. */
const HEARD_WITHIN_MS = 1200;
const PLAYERS_AT_ONCE = 4;
/** Of a player's tokens; the storm's days are short, and its clock is ahead. */
const TOKEN_SECONDS = 30 * 86_400;
/** The player whose own live client is open all the while, whatever becomes of it. */
const WATCHING = 'eve';
const SETTLED_WITHIN_MS = 60_000;
const LOOK_MS = 100;
/** Of all rounds: after how many the next day begins, and something befalls the service. */
const DAY_ROUNDS = 9;
const BEFALL_ROUNDS = 5;
const MOVE_ROUNDS = 3;

/** A storm over one installation: acts of everybody, readers, spectators, and what befalls the processes. */
export class Storm {
  rounds = 0;
  private nowMs = 0;
  private readonly watching: { board: string; window: string; token: string | undefined; spectator: Spectator }[] = [];

  private constructor(
    private readonly installation: FaultInstallation,
    private readonly clock: DatabaseClock,
    private readonly dice: Dice,
    readonly client: StormClient,
    readonly model: StormModel,
    readonly acts: StormActs,
    readonly weather: StormWeather,
    readonly readers: StormReaders,
    readonly truth: StormTruth,
  ) {}

  static async begin(log: LogUnderTest, seed: number): Promise<Storm> {
    const installation = await FaultInstallation.start({ log });
    const dice = new Dice(seed);
    const clock = await DatabaseClock.of(installation.databaseUrl);
    const tokenOf = (player: string): Promise<string> => playerToken(installation.jwtSecret, player, TOKEN_SECONDS);
    const tokens = await Promise.all(PLAYERS.map(async (player) => [player, await tokenOf(player)] as const));
    const client = new StormClient(installation, new Map(tokens));
    const model = new StormModel(PLAYERS);
    const acts = new StormActs(
      client,
      model,
      new Map(PLAYERS.map((player, at) => [player, new Dice(seed + 100 + at)])),
    );
    const weather = new StormWeather(installation, client, model, dice);
    const readers = new StormReaders(client, model, acts, weather);
    const truth = new StormTruth(client, (ms) => storm.pass(ms));
    const storm: Storm = new Storm(installation, clock, dice, client, model, acts, weather, readers, truth);
    await storm.makeBoards();
    return storm;
  }

  private async makeBoards(): Promise<void> {
    // The service's own clock is not far behind, so that what it keeps for a time is kept.
    this.nowMs = (Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS + 360 * MINUTE_MS;
    await this.pass(0);
    await sleep(HEARD_WITHIN_MS);
    for (const [board, given] of Object.entries(boardsOf(this.nowMs))) {
      await this.client.done('PUT', `/v1/boards/${board}`, given);
      this.model.add(board, given);
      this.weather.given.set(board, given);
      this.watch(board, 'alltime');
      this.watch(board, 'alltime', WATCHING);
    }
    for (const guild of GUILDS) await this.client.done('PUT', `/v1/guilds/${guild}`, {});
    for (const player of PLAYERS) await this.acts.move(player);
    for (const player of PLAYERS.filter(isOfCrew))
      await this.client.done('PUT', `/v1/circles/${CREW}/members/${player}`);
    await this.pass(MINUTE_MS);
  }

  /** Has a live client look at a list from now on, of nobody or of a player. */
  private watch(board: string, window: string, player: string | null = null): void {
    const urls = this.installation.gateways.map(({ url }) => url);
    const token = player === null ? undefined : this.client.tokens.get(player);
    const watched = { channel: 'top', board: board as never, limit: 100, window } as const;
    this.watching.push({ board, window, token, spectator: new Spectator(urls, watched, 0, token) });
  }

  /** It is later by so much, and stays so. */
  async pass(ms: number): Promise<void> {
    await this.move(ms);
    await this.liftDue();
  }

  private async move(ms: number): Promise<void> {
    this.nowMs += ms;
    this.acts.nowMs = this.nowMs;
    this.truth.nowMs = this.nowMs;
    await this.clock.stopAt(this.nowMs);
  }

  /** What ends by the clock is waited for: until then nobody can say which runs are refused. */
  private async liftDue(): Promise<void> {
    const isDue = ([, { untilMs }]: [string, StormSanction]): boolean => untilMs !== null && untilMs <= this.nowMs;
    for (let due = [...this.model.sanctions].find(isDue); due; due = [...this.model.sanctions].find(isDue)) {
      const [player, { untilMs }] = due;
      this.acts.unrankedSinceMs.delete(player);
      this.acts.hidingAtMs = Infinity;
      let last: { endedAt: string | null } | undefined;
      const isOver = async (): Promise<boolean> => {
        // The lease of a process that was killed runs out by this clock.
        await this.move(LOOK_MS);
        const path = `/v1/admin/players/${player}/sanctions?limit=1`;
        const { body } = await this.client.done<{ sanctions: { endedAt: string | null }[] }>('GET', path);
        [last] = body.sanctions;
        return last!.endedAt !== null;
      };
      const times = `at ${new Date(this.nowMs).toISOString()}, due at ${new Date(untilMs!).toISOString()}`;
      await this.until(() => `the sanction of ${player} is over ${times}: ${JSON.stringify(last)}`, isOver);
      this.model.sanctions.delete(player);
      this.acts.hidingAtMs = Date.now();
    }
  }

  private async until(what: () => string, isSo: () => Promise<boolean>): Promise<void> {
    const endsAtMs = Date.now() + SETTLED_WITHIN_MS;
    while (!(await isSo())) {
      if (Date.now() > endsAtMs) throw new Error(`not within ${SETTLED_WITHIN_MS} ms: ${what()}`);
      await sleep(LOOK_MS);
    }
  }

  beginWeather(seed: number): void {
    this.weather.begin(new Dice(seed + 1));
    this.readers.begin(new Dice(seed + 2), new Dice(seed + 3));
  }

  async round(): Promise<void> {
    this.rounds += 1;
    await this.pass(this.dice.from(1, 15) * MINUTE_MS);
    const players = this.dice.shuffled(PLAYERS).slice(0, PLAYERS_AT_ONCE);
    if (this.rounds % MOVE_ROUNDS === 0) {
      await Promise.all(players.slice(0, 2).map((player) => this.acts.move(player)));
      await this.pass(1000);
    }
    await Promise.all(
      players.map(async (player) => {
        for (let act = 0; act < 3; act += 1) await this.acts.act(player);
      }),
    );
    if (this.rounds % BEFALL_ROUNDS === 0) await this.weather.befall();
    if (this.rounds % DAY_ROUNDS === 0) await this.endDay();
    if (this.rounds === 2 * DAY_ROUNDS + 3) await this.endSeason();
  }

  private async endDay(): Promise<void> {
    const day = new Date(this.nowMs).toISOString().slice(0, 10);
    const endMs = Date.parse(day) + DAY_MS;
    const window = `daily:${day}`;
    this.model.endsAtMs.set(window, endMs);
    this.model.end(window);
    await this.pass(endMs - this.nowMs + this.dice.below(120) * MINUTE_MS);
    this.weather.note('day');
    if (this.model.ended.size === 1) for (const board of this.model.boards.keys()) this.watch(board, window);
  }

  private async endSeason(): Promise<void> {
    await this.pass(1000);
    this.model.endsAtMs.set(SEASON, this.nowMs);
    this.model.end(SEASON);
    for (const board of ['totals', 'bests']) {
      const body = { window: SEASON };
      const sent = await this.client.send('POST', `/v1/admin/boards/${board}/close-window`, body);
      if (sent.status !== 200 && !sent.isAgain) this.client.wrong.push(`${SEASON}: ${JSON.stringify(sent)}`);
    }
    await this.pass(1000);
    this.weather.note('season');
  }

  /** Ends what befalls the service, and has everything compared; readers go on all the while. */
  async prove(): Promise<void> {
    await this.weather.calm();
    await this.truth.expectLists(this.model);
    await this.truth.expectEditions(this.model);
    await this.proveSpectators();
  }

  /** What live clients made of the deltas is what a page shows. */
  private async proveSpectators(): Promise<void> {
    for (const { board, window, token, spectator } of this.watching) {
      const path = `/v1/boards/${board}/entries?window=${window}&limit=100`;
      let last = '';
      await this.until(
        () => `the live client of ${board} ${window}${token === undefined ? '' : ` of ${WATCHING}`} holds its list`,
        async () => {
          const answer = await this.client.once(path, { key: token });
          if (answer.status !== 200) return false;
          const body = answer.body as { entries: { rank: number; playerId: string; score: number }[] };
          const textOf = (rows: Iterable<Record<string, unknown>>): string =>
            [...rows]
              .map(({ rank, playerId, score }) => `${String(rank)} ${String(playerId)} ${String(score)}`)
              .sort()
              .join();
          const [live, shown] = [textOf(spectator.held.rows.values()), textOf(body.entries)];
          last = `${live}\n${shown}`;
          return live === shown;
        },
      ).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${last}`);
      });
    }
  }

  /** Takes back all that was done, in any order, under the same weather. */
  async undo(): Promise<void> {
    const { model, acts } = this;
    const undoing = [
      ...model.runs
        .filter(({ kind, voided }) => kind !== 'trim' && kind !== 'override' && kind !== 'removal' && voided)
        .map((run) => () => acts.setVoided(run, false)),
      ...model.runs
        .filter(({ kind, voided }) => (kind === 'override' || kind === 'removal') && !voided)
        .map((run) => () => acts.setVoided(run, true)),
      ...model.runs
        .filter((run) => run.wasHeld && !run.held && model.boards.get(run.board)!.counts === 'verified')
        .map((run) => () => acts.setVerified(run, false)),
      // One that counted at once, since its game server had verified it, and was held by an act.
      ...model.runs.filter((run) => !run.wasHeld && run.held).map((run) => () => acts.setVerified(run, true)),
      ...[...model.sanctions.keys()].map((player) => () => acts.lift(player)),
    ];
    for (const undo of this.dice.shuffled(undoing)) await undo();
    await this.weather.calm();
    await this.truth.expectLists(model, (given) => given.withoutActs());
    await this.truth.expectEditions(model);
    await this.proveSpectators();
  }

  async end(): Promise<void> {
    for (const { spectator } of this.watching) spectator.close();
    await this.weather.calm().catch(() => undefined);
    await this.readers.end();
    await this.clock.close();
    await this.installation.stop();
  }

  /** Dice of their own, for a part that does not move what others draw. */
  diceOf(seed: number): Dice {
    return new Dice(seed);
  }

  summary(): string {
    const textOf = (counts: ReadonlyMap<string | number, number>): string =>
      [...counts].map(([what, count]) => `${count} × ${what}`).join(', ');
    const { acts, weather, readers, truth, client } = this;
    return [
      `${this.rounds} rounds, ${truth.compared} answers compared, ${client.again} sent again`,
      `acts: ${textOf(acts.counts)}`,
      `weather: ${textOf(weather.counts)}`,
      `reads: ${textOf(readers.statuses)}`,
    ].join('\n  ');
  }

  spectatorFaults(): string[] {
    return this.watching.flatMap(({ spectator }) => spectator.wrong);
  }
}
