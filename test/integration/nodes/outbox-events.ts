import type { LadderEvent } from '@laddercast/domain';
import { wholePayload, type SqlRunner } from '@laddercast/ledger';

/** null: of any type. */
export type EventOf<Type extends LadderEvent['type'] | null> = Type extends null
  ? LadderEvent
  : Extract<LadderEvent, { type: Type }>;

/** An event, and where it stands in the outbox. */
export interface OutboxEvent<Event> {
  lane: number;
  position: number;
  key: string;
  event: Event;
}

/**
 * Events as the log hands them on.
 * @param type null: of all types
 * @param which the rest of the statement, whose values begin at `$2`; default: all of them, in the order of their positions
 */
export async function outboxEvents<Type extends LadderEvent['type'] | null>(
  database: SqlRunner,
  type: Type,
  { where, values }: { where: string; values: unknown[] } = { where: 'true ORDER BY position', values: [] },
): Promise<OutboxEvent<EventOf<Type>>[]> {
  const rows = await database.query<{ lane: number; position: number; topic: string; key: string; payload: string }>(
    `SELECT lane, position, topic, key, payload FROM outbox WHERE coalesce(topic = $1::text, true) AND ${where}`,
    [type, ...values],
  );
  return rows.map(({ topic, payload, ...row }) => ({
    ...row,
    event: JSON.parse(wholePayload({ ...row, topic, payload })) as EventOf<Type>,
  }));
}
