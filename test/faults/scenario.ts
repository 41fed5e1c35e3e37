import { expect } from 'vitest';
import { audit, type AuditOptions, type AuditResult } from './audit.js';
import { ALL_BOARDS, makeBoards, SEASON, type FaultBoard } from './boards.js';
import { call } from './call.js';
import { Chance } from './chance.js';
import { FaultInstallation, type FaultyApp, type InstallationOptions } from './installation.js';
import { KnownRuns } from './known-runs.js';
import { Load, type LoadOptions } from './load.js';
import { READS, Readers, type Read, type ReadCounts } from './readers.js';
import { SentRuns } from './sent-runs.js';
import { openSpectators, type Spectator } from './spectators.js';
import { record, recordFailureOf } from './table.js';

export interface ScenarioOptions extends InstallationOptions {
  /** The number and name of the fault, as in the table. */
  fault: string;
  boards?: readonly FaultBoard[];
  load?: Partial<LoadOptions>;
  /** The api processes that submissions are sent to; default: each of them. */
  loadOn?: (installation: FaultInstallation) => readonly FaultyApp[];
}

const CLIENTS = 6;
const SETTLED_WITHIN_MS = 60_000;
/** Of the submissions that are sent during a fault that must not hold them up, so many are answered at least. */
const ANSWERED_MIN = 20;
/** No benchmark, as the machine may be loaded: what waits for a service that does not answer takes longer. */
const HELD_UP_MS = 4000;
/** More than a snapshot holds, so that there are pages that only the shards have. */
export const PLAYERS = 130;

/** One fault under load: the service, its clients, readers of every kind and spectators, and the audit at the end. */
export class Scenario {
  private constructor(
    readonly fault: string,
    readonly chance: Chance,
    readonly installation: FaultInstallation,
    readonly boards: readonly FaultBoard[],
    readonly load: Load,
    readonly spectators: readonly Spectator[],
    readonly readers: Readers,
  ) {}

  /** Resolves once processes, boards, spectators, readers and load are there. */
  static async start({
    fault,
    boards = ALL_BOARDS,
    load = {},
    loadOn,
    ...options
  }: ScenarioOptions): Promise<Scenario> {
    recordFailureOf(fault, options.log);
    const chance = Chance.of(`${fault}, log ${options.log}`);
    const installation = await FaultInstallation.start(options);
    try {
      const sent = new SentRuns();
      const known = new KnownRuns(sent);
      sent.endsAtMs.set(SEASON.id, await makeBoards(installation, boards));
      const players = load.players ?? PLAYERS;
      const shown = { boards, players, known };
      const spectators = openSpectators(installation, { ...shown, chance: chance.fork(1) });
      const { seed } = chance;
      const urls = loadOn?.(installation).map(({ url }) => url);
      const asked = { clients: CLIENTS, boards, players, seed, sent, ...(urls && { urls }), ...load };
      const running = Load.start(installation, asked);
      const readers = Readers.start(installation, { ...shown, chance: chance.fork(2) });
      return new Scenario(fault, chance, installation, boards, running, spectators, readers);
    } catch (error) {
      await installation.stop();
      throw error;
    }
  }

  /** Resolves once the standings of the season that ends meanwhile are written. */
  async untilSeasonIsSettled(): Promise<void> {
    const { apis, adminKey } = this.installation;
    const settled = `${apis[0]!.url}/v1/boards/${SEASON.board}/windows?state=settled`;
    const count = async (): Promise<number> => {
      const { body } = await call(settled, { key: adminKey });
      return (body as { windows?: unknown[] } | null)?.windows?.length ?? 0;
    };
    await expect.poll(count, { timeout: SEASON.runsMs + SETTLED_WITHIN_MS, interval: 200 }).toBe(1);
  }

  /**
   * Expects that submissions go on during a fault; {@link Load.countAnew} was called once it was in force, and it still is.
   */
  async expectNotHeldUp(meanwhile: string): Promise<void> {
    const { load } = this;
    await expect
      .poll(() => load.sentAndAnswered.length, { message: `too few submissions were answered ${meanwhile}` })
      .toBeGreaterThan(ANSWERED_MIN);
    this.expectShortWaits(meanwhile);
  }

  /** Expects that no submission since {@link Load.countAnew} waited as for what does not answer. */
  expectShortWaits(meanwhile: string): void {
    expect(this.load.waits.longestMs, `a submission waited ${meanwhile}`).toBeLessThan(HELD_UP_MS);
  }

  /**
   * Expects that reads of every kind went on since they were last taken: none refused, none unanswered, none that waited.
   * @returns what was read
   */
  expectReadsWentOn(meanwhile: string): Record<Read, ReadCounts> {
    const taken = this.readers.take();
    for (const kind of READS) {
      const { ok, codes, unanswered, slowestMs } = taken[kind];
      expect({ codes: [...codes], unanswered }, `${kind} ${meanwhile}`).toEqual({ codes: [], unanswered: 0 });
      expect(ok, `${kind}: nothing was read ${meanwhile}`).toBeGreaterThan(0);
      expect(slowestMs, `${kind}: a read waited ${meanwhile}`).toBeLessThan(HELD_UP_MS);
    }
    return taken;
  }

  /** Ends the load, audits, expects that nothing was lost, doubled or shown wrongly, and records the row. */
  async prove(tried: string, options: AuditOptions = {}): Promise<AuditResult> {
    const answered = await this.load.stop();
    await this.readers.stop();
    const result = await audit(this.installation, answered, this.spectators, options);
    const { lost, doubled, boards, spectators, wholeAfterSeconds } = result;
    const { wrong } = this.load;
    const readWrong = this.readers.wrong;
    const isGatewayEnded = this.installation.gateways.some(({ wasEnded }) => wasEnded);
    const closed = isGatewayEnded ? [] : this.spectators.flatMap(({ closeCodes }) => closeCodes);
    expect({ lost, doubled, faults: result.faults, wrong, readWrong, closed }, this.outputs()).toEqual({
      lost: [],
      doubled: [],
      faults: [],
      wrong: [],
      readWrong: [],
      closed: [],
    });
    expect(answered.length).toBeGreaterThan(0);
    record({
      fault: this.fault,
      log: this.installation.log,
      tried,
      answered: answered.length,
      lost: lost.length,
      doubled: doubled.length,
      boards,
      spectators,
      ...this.readers.sum(),
      wholeAfterSeconds,
    });
    return result;
  }

  async stop(): Promise<void> {
    for (const spectator of this.spectators) spectator.close();
    void this.load.stop();
    void this.readers.stop();
    await this.installation.stop();
  }

  /** What the processes wrote, for a report of what went wrong. */
  private outputs(): string {
    return this.installation.apps.map(({ name, output }) => `${name}:\n${output.slice(-2000)}`).join('\n');
  }
}
