import { setTimeout as delay } from 'node:timers/promises';
import { EventLog, type LogGroup } from '@laddercast/event-log';
import { CommittedPositions } from '@laddercast/projections';
import { SnapshotCache } from '@laddercast/queries';
import { sagas, sourcesOf, TeamSagas } from '@laddercast/sagas';
import type { INestApplication, Type } from '@nestjs/common';

const WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 25;

/**
 * Resolves when every consumer group of the process has handled what was written before.
 * @throws after 30 s, with the groups that are behind
 */
export async function caughtUp(app: INestApplication): Promise<void> {
  const part = <Part>(token: abstract new (...values: never[]) => Part): Part =>
    app.get(token as unknown as Type<Part>, { strict: false });
  const [log, positions] = [part(EventLog), part(CommittedPositions)];
  const groups: LogGroup[] = [...sourcesOf(sagas), ...part(TeamSagas).all()];
  const untilMs = performance.now() + WITHIN_MS;
  for (;;) {
    // What one group writes another one handles: nothing new may come while they are asked.
    const before = await positions.drawn();
    const behind = await groupsBehind(log, groups);
    if (behind.length === 0 && (await positions.drawn()) === before) break;
    if (performance.now() > untilMs) {
      const names = behind.join(', ') || 'none, but more is written all the time';
      throw new Error(`Not everything was applied within ${WITHIN_MS / 1000} s. Behind are: ${names}.`);
    }
    await delay(LOOK_EVERY_MS);
  }
  // Tops in memory may be a tick old: those that are read from here on are not.
  const tops = part(SnapshotCache);
  await tops.stop();
  tops.start();
}

async function groupsBehind(log: EventLog, groups: readonly LogGroup[]): Promise<string[]> {
  const behind: string[] = [];
  for (const { group, topics } of groups) {
    const events = (await log.lag(group, topics)).reduce((sum, lane) => sum + lane.events, 0);
    if (events > 0) behind.push(`${group} (${events} events)`);
  }
  return behind;
}
