import type { LadderEvent } from '@laddercast/domain';
import { wholePayload, type OutboxRow, type SqlRunner } from '@laddercast/ledger';

export type EventOf<Type extends LadderEvent['type']> = Extract<LadderEvent, { type: Type }>;

/** An event, and where it stands in the outbox. */
export interface OutboxEvent<Event = LadderEvent> {
  lane: number;
  position: number;
  key: string;
  event: Event;
}

/** The columns that {@link outboxEventOf} reads. */
export const OUTBOX_COLUMNS = 'lane, position, topic, key, payload';
export type LaneOutboxRow = OutboxRow & { lane: number };

/** The event of a row, as the log hands it on. */
export const outboxEventOf = (row: LaneOutboxRow): OutboxEvent => {
  const { lane, position, key } = row;
  return { lane, position, key, event: JSON.parse(wholePayload(row)) as LadderEvent };
};

/** The events of a type, in the order of their positions. */
export async function outboxEvents<Type extends LadderEvent['type']>(
  database: SqlRunner,
  type: Type,
): Promise<OutboxEvent<EventOf<Type>>[]> {
  const sql = `SELECT ${OUTBOX_COLUMNS} FROM outbox WHERE topic = $1 ORDER BY position`;
  return (await database.query<LaneOutboxRow>(sql, [type])).map(outboxEventOf) as OutboxEvent<EventOf<Type>>[];
}
