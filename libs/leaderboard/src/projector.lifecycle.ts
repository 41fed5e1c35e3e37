import type { EventLog, OutboxRelay, PostgresEventLog } from '@laddercast/event-log';
import type { LeasedTickSlots, RankDeltaPublisher } from '@laddercast/realtime';
import type { SubmissionPruner } from '@laddercast/ledger';
import type { LaneRecoveries } from './lane-recoveries.js';

interface ProjectorParts {
  eventLog: EventLog;
  outbox: PostgresEventLog;
  /** null where the outbox is the log. */
  relay: OutboxRelay | null;
  recoveries: LaneRecoveries;
  publisher: RankDeltaPublisher;
  slots: LeasedTickSlots;
  pruner: SubmissionPruner;
}

/** What a projector runs beside the sagas, which Nest starts and stops with its microservices. */
export class ProjectorLifecycle {
  constructor(private readonly parts: ProjectorParts) {}

  start(): void {
    const { relay, recoveries, publisher, slots, pruner } = this.parts;
    relay?.start();
    pruner.start();
    recoveries.start();
    slots.start();
    publisher.start();
  }

  async stop(): Promise<void> {
    const { eventLog, outbox, relay, recoveries, publisher, slots, pruner } = this.parts;
    await Promise.all([publisher.stop(), recoveries.stop(), relay?.stop(), pruner.stop()]);
    await slots.stop();
    await eventLog.close();
    if (outbox !== eventLog) await outbox.close();
  }
}
