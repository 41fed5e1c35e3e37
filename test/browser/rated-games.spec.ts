// The modules of the page themselves, without a browser.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { pageModule } from './page-module.js';

interface Player {
  playerId: string;
  place: number | null;
  team: string | null;
  status: string;
  score: number | null;
}
interface RatedGames {
  ratedGame(game: object, playerId: string): object | null;
  resultOf(own: Player, others: Player[]): string;
  timesOf(games: object[]): number[];
}

const { ratedGame, resultOf, timesOf } = await pageModule<RatedGames>('player/rated-games.js');
const player = (playerId: string, place: number | null, more: Partial<Player> = {}): Player => ({
  ...{ playerId, place, team: null, status: 'played', score: null, ...more },
});

describe('the games on a card', () => {
  it.each([
    ['won', player('ada', 1), [player('bob', 2)]],
    ['lost 0:2', player('ada', 2, { score: 0 }), [player('bob', 1, { score: 2 })]],
    ['drew', player('ada', 1, { score: 1 }), [player('bob', 1)]],
    ['won', player('ada', 1, { team: 'a' }), [player('cy', 2, { team: 'b' }), player('di', 2, { team: 'b' })]],
    ['2 of 3', player('ada', 4), [player('bob', 1), player('cy', 9)]],
    ['2 of 3', player('ada', 4), [player('bob', 1, { team: 'b' }), player('bo', 1, { team: 'b' }), player('cy', 4)]],
    ['won', player('ada', 1), [player('bob', null, { status: 'disqualified' })]],
    ['absent', player('ada', null, { status: 'absent' }), [player('bob', 1)]],
  ])('say what they were to the player: %s', (words, own, others) => {
    expect(resultOf(own, others)).toBe(words);
  });

  it('have what they did to the player, and nobody of its own side among those it played against', () => {
    const players = [player('ada', 1, { team: 'a' }), player('al', 1, { team: 'a' }), player('bob', 2)];
    const change = { playerId: 'ada', before: 1500, after: 1516, expected: 0.5, k: 32 };
    const game = { gameId: 'g', players, rated: { position: 1, players: [change] } };
    expect(ratedGame(game, 'ada')).toEqual({
      ...{ gameId: 'g', against: ['bob'], result: 'won', before: 1500, after: 1516, expected: 0.5 },
    });
    expect(ratedGame(game, 'al')).toBeNull();
    expect(ratedGame({ ...game, rated: null }, 'ada')).toBeNull();
    expect(ratedGame({ ...game, rated: { reason: 'VOID' } }, 'ada')).toBeNull();
  });

  it('are of the date in their metadata where all of them have one', () => {
    const playedAt = '1970-01-01T00:00:10.000Z';
    const dated = { playedAt, metadata: { date: '1969-12-31' } };
    expect(timesOf([dated, { playedAt, metadata: { date: '1970-01-02' } }])).toEqual([-86_400, 86_400]);
    expect(timesOf([dated, { playedAt, metadata: null }])).toEqual([10, 10]);
    expect(timesOf([{ playedAt, metadata: { date: 7 } }])).toEqual([10]);
  });
});

it.each(['uPlot.esm.js', 'uPlot.min.css'])('vendor/%s is that of the package', (file) => {
  const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
  expect(read(`apps/standalone/public/vendor/${file}`)).toBe(read(`node_modules/uplot/dist/${file}`));
});
