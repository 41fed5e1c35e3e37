import type { EntryChanged } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { entryPayload, wholePayload } from './entry-payload.js';

const event: EntryChanged = {
  type: 'entry-changed',
  boardUid: 3,
  playerId: 'São "Tomé"\n\u0001{"type":"x"}',
  version: 7,
  changes: [{ windowUid: 5, keepUntilMs: null, entry: { score: 1e21, columns: [0.1], achievedAtMs: 1 } }],
  isGuild: true,
  filledGeneration: 2,
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
};
const row = { topic: event.type, key: event.playerId, position: event.version };

describe('what an entry-changed leaves to its row', () => {
  it('comes back whole, with the trace context last', () => {
    const payload = wholePayload({ ...row, payload: entryPayload(event) });
    expect(JSON.parse(payload)).toEqual(event);
    expect(payload).toMatch(/"traceparent":"[^"]+"\}$/);
  });

  it('is its type, its player and its version', () => {
    const { type: _, playerId: __, version: ___, ...rest } = event;
    expect(JSON.parse(entryPayload(event))).toEqual(rest);
  });

  it('is taken from an event that stands there whole, be it under another position', () => {
    const payload = JSON.stringify(event);
    expect(wholePayload({ ...row, position: 99, payload })).toBe(payload);
  });

  it('is nothing where the event is of another type', () => {
    expect(wholePayload({ ...row, topic: 'board-changed', payload: '{"boardUid":3}' })).toBe('{"boardUid":3}');
  });
});
