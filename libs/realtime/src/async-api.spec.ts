import { describe, expect, it } from 'vitest';
import { assertMatchesAsyncApi } from '../test/frame-schemas.js';
import { buildAsyncApi } from './async-api.js';

const entry = {
  rank: 1,
  playerId: 'ada',
  displayName: null,
  score: 3,
  columns: {},
  achievedAt: '2026-11-20T18:00:00.000Z',
  metadata: null,
};
const snapshot = { type: 'snapshot', id: '1', seq: 3, asOf: '2026-11-20T18:00:00.000Z', total: 1, entries: [entry] };

describe('the AsyncAPI document', () => {
  it('has no reference that leads nowhere', () => {
    const document = buildAsyncApi('1.2.3') as Record<string, unknown>;
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1]!);
    expect(references.length).toBeGreaterThan(20);
    for (const reference of references) {
      let at: unknown = document;
      for (const step of reference.split('/')) at = (at as Record<string, unknown> | undefined)?.[step];
      expect(at, reference).toBeDefined();
    }
  });

  it('accepts the messages of the contract', () => {
    for (const message of [
      { type: 'subscribe', id: '1', board: 'blitz', window: 'daily', scope: 'global', channel: 'top', limit: 10 },
      { type: 'subscribe', id: '2', board: 'blitz', channel: 'player', playerId: 'ada', around: 5 },
      { type: 'resume', id: '1', seq: 812, board: 'blitz', channel: 'top' },
      snapshot,
    ]) {
      assertMatchesAsyncApi(message);
    }
  });

  it.each([
    ['a field too many', { ...snapshot, colour: 'red' }],
    ['a field too few', { ...snapshot, total: undefined }],
    ['another type', { ...snapshot, seq: '3' }],
    ['an entry without its score', { ...snapshot, entries: [{ ...entry, score: undefined }] }],
    ['a time without milliseconds', { ...snapshot, asOf: '2026-11-20T18:00:00Z' }],
  ])('refuses a snapshot with %s', (_what, message) => {
    expect(() => assertMatchesAsyncApi(JSON.parse(JSON.stringify(message)) as { type: string })).toThrow(
      'does not match',
    );
  });
});
