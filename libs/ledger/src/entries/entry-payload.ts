import type { EntryChanged } from '@laddercast/domain';

/** An event as it stands in the outbox. */
export interface OutboxRow {
  topic: string;
  key: string;
  position: number;
  payload: string;
}

/** The JSON of an event beside its row, which says its type, its player and, as its own position, its version. */
export function entryPayload({ type: _, playerId: __, version: ___, ...rest }: EntryChanged): string {
  return JSON.stringify(rest);
}

/** How the JSON of a whole event begins. */
const WHOLE = '{"type":';

/** The JSON of the whole event of a row; also of one that stands there whole. */
export function wholePayload({ topic, key, position, payload }: OutboxRow): string {
  if (topic !== 'entry-changed' || payload.startsWith(WHOLE)) return payload;
  return `${WHOLE}"${topic}","playerId":${JSON.stringify(key)},"version":${position},${payload.slice(1)}`;
}
