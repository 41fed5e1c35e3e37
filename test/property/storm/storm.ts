import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseClock, Dice, type LogUnderTest } from '@laddercast/testing';
import { FaultInstallation } from '../../faults/installation.js';
import { Spectator } from '../../faults/spectators.js';
import { StormActs } from './storm-acts.js';
import { boardsOf, GUILDS, PLAYERS, SEASON } from './storm-boards.js';
import { StormClient } from './storm-client.js';
import { StormModel } from './storm-model.js';
import { StormReaders } from './storm-readers.js';
import { StormTruth } from './storm-truth.js';
import { StormWeather } from './storm-weather.js';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Everybody hears of the ledger's clock within a second. */
const HEARD_WITHIN_MS = 1200;
const PLAYERS_AT_ONCE = 4;
const SETTLED_WITHIN_MS = 60_000;
/** Of all rounds: after how many the next day begins, and something befalls the service. */
const DAY_ROUNDS = 9;
const BEFALL_ROUNDS = 5;
const MOVE_ROUNDS = 3;

/** A storm over one installation: acts of everybody, readers, spectators, and what befalls the processes. */
export class Storm {
  rounds = 0;
  private nowMs = 0;
  private readonly spectators: Spectator[] = [];

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
    const client = new StormClient(installation);
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
      const urls = this.installation.gateways.map(({ url }) => url);
      this.spectators.push(new Spectator(urls, { channel: 'top', board: board as never, limit: 100 }, 0));
    }
    for (const guild of GUILDS) await this.client.done('PUT', `/v1/guilds/${guild}`, {});
    for (const player of PLAYERS) await this.acts.move(player);
    await this.pass(MINUTE_MS);
  }

  /** It is later by so much, and stays so. */
  async pass(ms: number): Promise<void> {
    this.nowMs += ms;
    this.acts.nowMs = this.nowMs;
    this.truth.nowMs = this.nowMs;
    await this.clock.stopAt(this.nowMs);
    await this.liftDue();
  }

  /** What ends by the clock is waited for: until then nobody can say which runs are refused. */
  private async liftDue(): Promise<void> {
    for (const [player, { untilMs }] of this.model.sanctions) {
      if (untilMs === null || untilMs > this.nowMs) continue;
      this.acts.unrankedSinceMs.delete(player);
      this.acts.hidingAtMs = Infinity;
      let last: { endedAt: string | null } | undefined;
      const isOver = async (): Promise<boolean> => {
        const path = `/v1/admin/players/${player}/sanctions?limit=1`;
        const { body } = await this.client.done<{ sanctions: { endedAt: string | null }[] }>('GET', path);
        [last] = body.sanctions;
        return last!.endedAt !== null;
      };
      const due = `at ${new Date(this.nowMs).toISOString()}, due at ${new Date(untilMs).toISOString()}`;
      await this.until(() => `the sanction of ${player} is over ${due}: ${JSON.stringify(last)}`, isOver);
      this.model.sanctions.delete(player);
      this.acts.hidingAtMs = Date.now();
    }
  }

  private async until(what: () => string, isSo: () => Promise<boolean>): Promise<void> {
    const endsAtMs = Date.now() + SETTLED_WITHIN_MS;
    while (!(await isSo())) {
      if (Date.now() > endsAtMs) throw new Error(`not within ${SETTLED_WITHIN_MS} ms: ${what()}`);
      await sleep(100);
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
    await this.proveSpectators();
  }

  /** What live clients made of the deltas is what a page shows. */
  private async proveSpectators(): Promise<void> {
    for (const { watched, held } of this.spectators) {
      const path = `/v1/boards/${watched.board}/entries?limit=100`;
      let last = '';
      await this.until(
        () => `the live client of ${watched.board} holds its list`,
        async () => {
          const { body } = await this.client.done<{ entries: { rank: number; playerId: string; score: number }[] }>(
            'GET',
            path,
          );
          const textOf = (rows: Iterable<Record<string, unknown>>): string =>
            [...rows]
              .map(({ rank, playerId, score }) => `${String(rank)} ${String(playerId)} ${String(score)}`)
              .sort()
              .join();
          const [live, shown] = [textOf(held.rows.values()), textOf(body.entries)];
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
    await this.proveSpectators();
  }

  async end(): Promise<void> {
    for (const spectator of this.spectators) spectator.close();
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
    return this.spectators.flatMap(({ wrong }) => wrong);
  }
}
