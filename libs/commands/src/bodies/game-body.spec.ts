import { LadderError } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { gamesOfBatch, parseGame, parseGameResult } from './game-body.js';

const least = {
  pool: 'blitz',
  players: [
    { playerId: 'ada', place: 1 },
    { playerId: 'bob', place: 2 },
  ],
};

const faultsOf = (parse: () => unknown): { pointer: string; message: string }[] => {
  try {
    parse();
  } catch (error) {
    if (!(error instanceof LadderError)) throw error;
    expect(error.code).toBe('VALIDATION_FAILED');
    return (error.toProblem() as unknown as { errors: { pointer: string; message: string }[] }).errors;
  }
  return [];
};

describe('the body of a game', () => {
  it('is taken as it was sent', () => {
    const full = {
      ...{ gameId: 'g-77', pool: 'blitz', playedAt: '2026-11-20T18:00:00.000Z', weight: 1.5 },
      players: [
        { playerId: 'ada', place: 1, team: 'a', home: true, score: 3 },
        { playerId: 'bob', status: 'disqualified' },
      ],
      metadata: { replay: 'r' },
    };
    expect(parseGame(least)).toEqual(least);
    expect(parseGame(full)).toEqual(full);
  });

  it('is told that players have no weights, and not that the field is unknown', () => {
    const players = [least.players[0], { ...least.players[1], weight: 0.5 }];
    for (const parse of [() => parseGame({ ...least, players }), () => parseGameResult({ players, reason: 'typo' })]) {
      expect(parse).toThrow(
        expect.objectContaining({ code: 'NOT_SUPPORTED', message: expect.stringContaining('/players/1/weight') }),
      );
    }
  });

  it.each([
    ['/pool', { ...least, pool: 'two words' }],
    ['/pool', { players: least.players }],
    ['/gameId', { ...least, gameId: '' }],
    ['/gameId', { ...least, gameId: '..' }],
    ['/playedAt', { ...least, playedAt: 'yesterday' }],
    ['/weight', { ...least, weight: 'much' }],
    ['/players', { pool: 'blitz' }],
    ['/players', { pool: 'blitz', players: 'ada' }],
    ['/players/0', { pool: 'blitz', players: ['ada'] }],
    ['/players/0/playerId', { pool: 'blitz', players: [{ place: 1 }] }],
    [
      '/players/1/playerId',
      {
        pool: 'blitz',
        players: [
          { playerId: 'ada', place: 1 },
          { playerId: 'a\u0007', place: 2 },
        ],
      },
    ],
    ['/players/0/place', { pool: 'blitz', players: [{ playerId: 'ada', place: 0 }] }],
    ['/players/0/place', { pool: 'blitz', players: [{ playerId: 'ada', place: 1.5 }] }],
    ['/players/0/status', { pool: 'blitz', players: [{ playerId: 'ada', status: 'late' }] }],
    ['/players/0/rank', { pool: 'blitz', players: [{ playerId: 'ada', rank: 1 }] }],
    ['/metadata', { ...least, metadata: { text: '\u0000' } }],
    ['/unknown', { ...least, unknown: 1 }],
  ])('is refused for what is wrong at %s', (pointer, body) => {
    expect(faultsOf(() => parseGame(body)).map((fault) => fault.pointer)).toEqual([pointer]);
  });

  it('says of an id within what is wrong with that id', () => {
    const [fault] = faultsOf(() => parseGame({ pool: 'blitz', players: [{ playerId: 'me', place: 1 }] }));
    expect(fault!.message).toContain('me');
  });

  it('is one game, or up to 1,000', () => {
    expect(gamesOfBatch(least)).toBeNull();
    expect(gamesOfBatch('games')).toBeNull();
    expect(gamesOfBatch({ games: [1, 2] })).toEqual([1, 2]);
    for (const games of [[], Array.from({ length: 1001 }, () => least), {}]) {
      expect(faultsOf(() => gamesOfBatch({ games })).map(({ pointer }) => pointer)).toEqual(['/games']);
    }
    expect(faultsOf(() => gamesOfBatch({ games: [1], pool: 'blitz' })).map(({ pointer }) => pointer)).toEqual([
      '/pool',
    ]);
  });
});
