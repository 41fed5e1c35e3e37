import { expect } from 'vitest';
import { audit, type AuditOptions, type AuditResult } from './audit.js';
import { ALL_BOARDS, makeBoards, type FaultBoard } from './boards.js';
import { Chance } from './chance.js';
import { FaultInstallation, type InstallationOptions } from './installation.js';
import { Load, type LoadOptions } from './load.js';
import { openSpectators, type Spectator } from './spectators.js';
import { record } from './table.js';

export interface ScenarioOptions extends InstallationOptions {
  /** The number and name of the fault, as in the table. */
  fault: string;
  boards?: readonly FaultBoard[];
  load?: Partial<LoadOptions>;
}

const CLIENTS = 6;
const PLAYERS = 60;

/** One fault under load: the service, its clients and its spectators, and the audit at the end. */
export class Scenario {
  private constructor(
    readonly fault: string,
    readonly chance: Chance,
    readonly installation: FaultInstallation,
    readonly boards: readonly FaultBoard[],
    readonly load: Load,
    readonly spectators: readonly Spectator[],
  ) {}

  /** Resolves once processes, boards, spectators and load are there. */
  static async start({ fault, boards = ALL_BOARDS, load = {}, ...options }: ScenarioOptions): Promise<Scenario> {
    const chance = Chance.of(`${fault}, log ${options.log}`);
    const installation = await FaultInstallation.start(options);
    try {
      await makeBoards(installation, boards);
      const players = load.players ?? PLAYERS;
      const spectators = openSpectators(installation, boards, players, chance.fork(1));
      const running = Load.start(installation, { clients: CLIENTS, boards, players, seed: chance.seed, ...load });
      return new Scenario(fault, chance, installation, boards, running, spectators);
    } catch (error) {
      await installation.stop();
      throw error;
    }
  }

  /** Ends the load, audits, records the row, and expects that nothing was lost, doubled or shown wrongly. */
  async prove(tried: string, options: AuditOptions = {}): Promise<AuditResult> {
    const answered = await this.load.stop();
    const result = await audit(this.installation, answered, this.spectators, options);
    const { lost, doubled, boards, spectators, wholeAfterSeconds } = result;
    record({
      fault: this.fault,
      log: this.installation.log,
      tried,
      answered: answered.length,
      lost: lost.length,
      doubled: doubled.length,
      boards,
      spectators,
      wholeAfterSeconds,
    });
    expect({ lost, doubled, faults: result.faults, wrong: this.load.wrong }, this.outputs()).toEqual({
      lost: [],
      doubled: [],
      faults: [],
      wrong: [],
    });
    expect(answered.length).toBeGreaterThan(0);
    return result;
  }

  async stop(): Promise<void> {
    for (const spectator of this.spectators) spectator.close();
    void this.load.stop();
    await this.installation.stop();
  }

  /** What the processes wrote, for a report of what went wrong. */
  private outputs(): string {
    return this.installation.apps.map(({ name, output }) => `${name}:\n${output.slice(-2000)}`).join('\n');
  }
}
