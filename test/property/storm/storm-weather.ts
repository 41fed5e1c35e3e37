import { setTimeout as sleep } from 'node:timers/promises';
import type { Dice } from '@laddercast/testing';
import type { FaultInstallation, FaultyApp } from '../../faults/installation.js';
import { openPostgres } from '../../faults/postgres-session.js';
import { lastEvents, redeliver } from '../../faults/redelivery.js';
import type { StormClient } from './storm-client.js';
import type { StormModel } from './storm-model.js';

const LIFE_MS = { least: 2000, most: 6000 };
const DOWN_MS_MAX = 500;
const REDELIVERED_MAX = 200;
const LAYOUTS = [
  { by: 'hash', count: 1 },
  { by: 'hash', count: 3 },
  { by: 'range', boundaries: [20, 50, 80] },
];

/** What befalls the service: kills of its processes, redeliveries, other layouts, rebuilds. */
export class StormWeather {
  readonly counts = new Map<string, number>();
  /** When the last process was ready again after a kill; Infinity while one is down. */
  upSinceMs = 0;
  /** How often the api was killed: its versions may go back with it. */
  apiLives = 0;
  private isOver = false;
  private killing: Promise<void> = Promise.resolve();

  constructor(
    private readonly installation: FaultInstallation,
    private readonly client: StormClient,
    private readonly model: StormModel,
    private readonly dice: Dice,
  ) {}

  note(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** Begins to kill processes, one after another, until {@link calm}. */
  begin(dice: Dice): void {
    this.isOver = false;
    this.killing = this.kill(dice);
  }

  /** Resolves once nobody is killed any more, and all run. */
  async calm(): Promise<void> {
    this.isOver = true;
    await this.killing;
  }

  private async kill(dice: Dice): Promise<void> {
    for (let turn = 0; !this.isOver; turn += 1) {
      await sleep(dice.from(LIFE_MS.least, LIFE_MS.most));
      if (this.isOver) return;
      // Each in turn, so that the shortest storm kills each; now and then all of them.
      const { apps } = this.installation;
      const victims = dice.isUnder(0.15) ? apps : [apps[turn % apps.length]!];
      this.upSinceMs = Infinity;
      await Promise.all(victims.map((victim) => this.killOne(victim, dice.below(DOWN_MS_MAX))));
      this.upSinceMs = Date.now();
    }
  }

  private async killOne(victim: FaultyApp, downMs: number): Promise<void> {
    this.note(`kill of ${victim.name}`);
    await victim.kill();
    await sleep(downMs);
    if (victim.name === 'api') this.apiLives += 1;
    await victim.start();
  }

  /** One of them; a board that is being laid out anew refuses another layout, which is fine. */
  async befall(): Promise<void> {
    const what = this.dice.next();
    const board = this.dice.oneOf([...this.model.boards.keys()]);
    if (what < 0.4) {
      const given = this.given.get(board)!;
      const layout = { ...given, sharding: this.dice.oneOf(LAYOUTS) };
      const { status, isAgain } = await this.client.send('PUT', `/v1/boards/${board}`, layout);
      // What is sent again may be refused because it was taken the first time.
      this.note(status === 200 ? 'layout' : isAgain ? 'layout sent again' : 'layout refused');
    } else if (what < 0.6) {
      await this.client.send('POST', `/v1/admin/boards/${board}/rebuild`);
      this.note('rebuild');
    } else await this.deliverAgain();
  }

  readonly given = new Map<string, object>();

  private async deliverAgain(): Promise<void> {
    const session = await openPostgres(this.installation.databaseUrl);
    try {
      const events = await lastEvents(session, REDELIVERED_MAX);
      await redeliver(session, this.dice.isUnder(0.5) ? events : this.dice.shuffled(events));
      this.note('redelivery');
    } finally {
      await session.end();
    }
  }
}
