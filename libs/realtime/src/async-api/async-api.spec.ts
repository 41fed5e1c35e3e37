import { describe, expect, it } from 'vitest';
import { assertMatchesAsyncApi } from '../../test/frame-schemas.js';
import { readSubscribe } from '../channels/channel-table.js';
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
      { type: 'subscribe', id: '3', board: 'blitz', scope: 'region:EU', channel: 'range', offset: 50, limit: 33 },
      { type: 'resume', id: '4', seq: 1, board: 'blitz', window: 'season:s1', channel: 'friends', playerId: 'ada' },
      { type: 'subscribe', id: '5', board: 'blitz', scope: 'global', channel: 'guilds', limit: 25 },
      { type: 'subscribe', id: '6', board: 'blitz', channel: 'top', rankStyle: 'dense' },
      snapshot,
      { ...snapshot, rankStyle: 'competition' },
      { ...snapshot, entries: [{ ...entry, globalRank: 812 }] },
      { type: 'subscribe', id: '7', channel: 'rating', pool: 'blitz', playerId: 'ada' },
      { type: 'resume', id: '7', seq: 48213, channel: 'rating', pool: 'blitz', playerId: 'ada' },
      { type: 'snapshot', id: '7', seq: 0, asOf: '2026-11-20T18:00:00.000Z', rating: null },
      {
        ...{ type: 'snapshot', id: '7', seq: 48213, asOf: '2026-11-20T18:00:00.000Z' },
        rating: {
          ...{ rating: 1516, deviation: null, conservative: 1516, games: 1, wins: 1, draws: 0, losses: 0 },
          ...{ provisional: true, rankable: false },
        },
      },
      {
        ...{ type: 'rating', id: '7', seq: 48213, gameId: 'g-77', before: 1500, after: 1516, delta: 16 },
        asOf: '2026-11-20T18:00:00.000Z',
      },
      { type: 'window-closed', id: '1', window: 'daily:2026-11-20' },
      { type: 'standings-revised', id: '1', window: 'daily:2026-11-20', edition: 2 },
    ]) {
      assertMatchesAsyncApi(message);
    }
  });

  it.each([
    ['a range without its offset', { channel: 'range' }],
    ['too long a range', { channel: 'range', offset: 0, limit: 101 }],
    ['friends with a limit', { channel: 'friends', playerId: 'ada', limit: 10 }],
    ['guilds of a region', { channel: 'guilds', scope: 'region:EU' }],
    ['a style that is none', { channel: 'top', rankStyle: 'olympic' }],
    ['a channel that is none', { channel: 'bottom' }],
    ['a field that is called like a method of ours', { channel: 'top', asked: 1 }],
  ])('refuses what the gateway refuses: %s', (_what, asked) => {
    const message = { type: 'subscribe', id: '1', board: 'blitz', ...asked };
    expect(() => assertMatchesAsyncApi(message)).toThrow('does not match');
    expect(() => readSubscribe(message)).toThrow(/^VALIDATION_FAILED/);
  });

  it.each([
    ['without its pool', { playerId: 'ada' }],
    ['without its player', { pool: 'blitz' }],
    ['of me, which other channels do not know either', { pool: 'blitz', playerId: 'me' }],
    ['of a board', { pool: 'blitz', playerId: 'ada', board: 'blitz' }],
    ['of a pool that no pool is called', { pool: 'Blitz!', playerId: 'ada' }],
  ])('refuses a rating %s', (what, asked) => {
    const message = { type: 'subscribe', id: '1', channel: 'rating', ...asked };
    expect(() => readSubscribe(message)).toThrow(/^VALIDATION_FAILED/);
    // "me" is an id like any other to a schema.
    if (!what.startsWith('of me')) expect(() => assertMatchesAsyncApi(message)).toThrow('does not match');
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
