import { setTimeout as sleep } from 'node:timers/promises';
import { LadderError, type EntryChanged } from '@laddercast/domain';
import { KafkaEventLog, PostgresEventLog, type EventLog, type LogBatch } from '@laddercast/event-log';
import { Lanes, PostgresDatabase } from '@laddercast/ledger';
import type { FaultInstallation } from './installation.js';
import type { Answered } from './load.js';

const GROUP = 'follower';
/** As a process that has just been told of a raise, or has not yet. */
const REFRESH_EVERY_MS = 300;
const ALL_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 100;

/** Follows an installation's log as one more group, and keeps in which order the changes came. */
export class LogFollower {
  /** The positions of each player's changes, in the order of their first deliveries. */
  private readonly positions = new Map<string, number[]>();
  private readonly delivered = new Set<number>();
  private readonly lanesOf = new Map<string, Set<number>>();
  /** Nothing of the lanes below this one is taken. */
  private heldBelow = 0;
  private readonly timer: NodeJS.Timeout;

  private constructor(
    private readonly database: PostgresDatabase,
    private readonly log: EventLog,
    private readonly lanes: Lanes,
  ) {
    this.timer = setInterval(() => void lanes.refresh(database).catch(() => undefined), REFRESH_EVERY_MS);
  }

  static async start({ databaseUrl, settings }: FaultInstallation): Promise<LogFollower> {
    const database = new PostgresDatabase({ url: databaseUrl });
    await database.open({ migrate: false });
    const lanes = new Lanes(2);
    await lanes.refresh(database);
    const log = await openLog(database, lanes, settings);
    const follower = new LogFollower(database, log, lanes);
    await log.consume(GROUP, ['entry-changed'], follower.take);
    return follower;
  }

  /** Takes nothing of the lanes that there are until {@link goOn}: nothing may come meanwhile of their players that left them. */
  hold(): void {
    this.heldBelow = this.lanes.count;
  }

  goOn(): void {
    this.heldBelow = 0;
  }

  /** How many players' changes came by more than one lane. */
  get moved(): number {
    return [...this.lanesOf.values()].filter(({ size }) => size > 1).length;
  }

  /** The changes that were answered and have not come, and those that came after later ones of their player. */
  async faults(answered: Iterable<Answered>): Promise<string[]> {
    const runs = [...answered];
    const missing = (): Answered[] => runs.filter(({ version }) => !this.delivered.has(version));
    for (const endMs = Date.now() + ALL_WITHIN_MS; missing().length > 0 && Date.now() < endMs;) {
      await sleep(LOOK_EVERY_MS);
    }
    return [
      ...missing().map(({ playerId, version }) => `${playerId}: ${version} has not come`),
      ...[...this.positions].flatMap(([playerId, positions]) =>
        positions.flatMap((position, at) => {
          const before = at === 0 ? 0 : positions[at - 1]!;
          return before > position ? [`${playerId}: ${position} came after ${before}`] : [];
        }),
      ),
    ];
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.log.close();
    await this.database.close();
  }

  private readonly take = async ({ lane: ofLane, records }: LogBatch): Promise<void> => {
    if (ofLane < this.heldBelow) throw new LadderError('PROJECTION_UNAVAILABLE', 'The lane is held.');
    for (const { lane, position, event } of records) {
      const { playerId } = event as EntryChanged;
      if (playerId === '' || this.delivered.has(position)) continue;
      this.delivered.add(position);
      this.positions.set(playerId, [...(this.positions.get(playerId) ?? []), position]);
      this.lanesOf.set(playerId, (this.lanesOf.get(playerId) ?? new Set<number>()).add(lane));
    }
  };
}

async function openLog(
  database: PostgresDatabase,
  lanes: Lanes,
  { KAFKA_BROKERS, KAFKA_PREFIX }: Record<string, string>,
): Promise<EventLog> {
  if (KAFKA_BROKERS === undefined) return new PostgresEventLog(database, { lanes, log: () => undefined });
  const options = { brokers: KAFKA_BROKERS.split(','), prefix: KAFKA_PREFIX!, lanes, log: () => undefined };
  const log = new KafkaEventLog(database, options);
  await log.start();
  return log;
}
