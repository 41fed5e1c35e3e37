import { describe, expect, it } from 'vitest';
import { ratedSides, type GamePlayer, type PlayerStatus, type ResultRules } from './game.js';

type Given = [playerId: string, placeOrStatus: number | PlayerStatus, team?: string];

const players = (...given: Given[]): GamePlayer[] =>
  given.map(([playerId, result, team]) => ({
    playerId,
    status: typeof result === 'number' ? 'played' : result,
    place: typeof result === 'number' ? result : null,
    team: team ?? null,
    isHome: false,
  }));

const DEFAULTS: ResultRules = { disqualified: 'last', absent: 'unrated' };

const sides = (given: Given[], results: Partial<ResultRules> = {}): string[] | null =>
  ratedSides({ players: players(...given), results: { ...DEFAULTS, ...results } })?.map(
    ({ place, members }) => `${place} ${members.join('+')}`,
  ) ?? null;

describe('the sides of a game', () => {
  it.each([
    ['places with gaps', [1, 1, 3], ['1 a', '1 b', '2 c']],
    ['places without gaps', [1, 1, 2], ['1 a', '1 b', '2 c']],
    ['places far behind', [7, 900, 8], ['1 a', '3 b', '2 c']],
    ['everyone else on the last place', [1, 2, 2], ['1 a', '2 b', '2 c']],
  ] as const)('count only the order of places: %s', (_what, [a, b, c], expected) => {
    expect(
      sides([
        ['a', a],
        ['b', b],
        ['c', c],
      ]),
    ).toEqual(expected);
  });

  it('tell places apart as numbers: the tenth is behind the ninth', () => {
    const given = Array.from({ length: 12 }, (_, at): Given => [`p${String(at).padStart(2, '0')}`, at + 1]);
    expect(sides(given)!.map((side) => Number(side.split(' ')[0]))).toEqual(given.map(([, place]) => place));
  });

  it('are a team each, in the order of ids, whatever order they were named in', () => {
    const given: Given[] = [
      ['di', 2, 'blue'],
      ['ada', 1, 'red'],
      ['cy', 2, 'blue'],
      ['bob', 1, 'red'],
    ];
    expect(sides(given)).toEqual(['1 ada+bob', '2 cy+di']);
    expect(sides(given.toReversed())).toEqual(['1 ada+bob', '2 cy+di']);
  });

  it('do not mix a player up with a team of that name', () => {
    expect(
      sides([
        ['red', 1],
        ['ada', 2, 'red'],
        ['bob', 2, 'red'],
      ]),
    ).toEqual(['2 ada+bob', '1 red']);
  });

  it('put the disqualified behind everybody, several of them a draw', () => {
    expect(
      sides([
        ['a', 'disqualified'],
        ['b', 5],
        ['c', 'disqualified'],
        ['d', 9],
      ]),
    ).toEqual(['3 a', '1 b', '3 c', '2 d']);
  });

  it('leave out who is unrated by the rules of the game', () => {
    expect(
      sides([
        ['a', 'absent'],
        ['b', 1],
        ['c', 2],
      ]),
    ).toEqual(['1 b', '2 c']);
    expect(
      sides(
        [
          ['a', 'disqualified'],
          ['b', 1],
          ['c', 2],
        ],
        { disqualified: 'unrated' },
      ),
    ).toEqual(['1 b', '2 c']);
    expect(
      sides(
        [
          ['a', 'absent'],
          ['b', 1],
          ['c', 'disqualified'],
        ],
        { absent: 'last' },
      ),
    ).toEqual(['2 a', '1 b', '2 c']);
  });

  it('are made of those members who played', () => {
    expect(
      sides([
        ['a', 1, 'x'],
        ['b', 'disqualified', 'x'],
        ['c', 2, 'y'],
        ['d', 'absent', 'y'],
      ]),
    ).toEqual(['1 a', '2 c']);
  });

  it('are behind everybody where a whole team is disqualified, without its absent member', () => {
    const given: Given[] = [
      ['a', 'disqualified', 'x'],
      ['b', 'disqualified', 'x'],
      ['c', 'absent', 'x'],
      ['d', 3],
    ];
    expect(sides(given)).toEqual(['2 a+b', '1 d']);
    expect(sides(given, { disqualified: 'unrated', absent: 'last' })).toEqual(['2 c', '1 d']);
  });

  it('are none where fewer than two are left', () => {
    expect(
      sides([
        ['a', 1],
        ['b', 'absent'],
      ]),
    ).toBeNull();
    expect(
      sides([
        ['a', 1, 'x'],
        ['b', 1, 'x'],
      ]),
    ).toBeNull();
    expect(
      sides([
        ['a', 'absent'],
        ['b', 'absent'],
      ]),
    ).toBeNull();
    expect(
      sides(
        [
          ['a', 'absent'],
          ['b', 'absent'],
        ],
        { absent: 'last' },
      ),
    ).toEqual(['1 a', '1 b']);
  });

  it('are at home where one of their members is', () => {
    const [ada, bob, cy] = players(['ada', 1, 'x'], ['bob', 1, 'x'], ['cy', 2]);
    const rated = ratedSides({ players: [ada!, { ...bob!, isHome: true }, cy!], results: DEFAULTS })!;
    expect(rated.map(({ isHome }) => isHome)).toEqual([true, false]);
  });
});
