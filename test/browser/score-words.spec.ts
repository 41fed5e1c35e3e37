import { describe, expect, it } from 'vitest';
import { pageModule } from './page-module.js';

interface Scores {
  short(score: number): string;
  brief(score: number): string;
  exact(score: number): string;
}
interface ScoreModule {
  scoreWords(format: object | undefined, locale: string): Scores;
  gainWords(amount: number, scores: Scores): string;
}

const { scoreWords, gainWords } = await pageModule<ScoreModule>('score-words.js');

/** Spaces of every width as one. */
const plain = (text: string) => text.replace(/\s/g, ' ');

describe('scores on the live page', () => {
  const time = scoreWords({ kind: 'time', decimals: 3 }, 'en-US');
  const points = scoreWords({ kind: 'number', decimals: 0, unit: 'pts' }, 'en-US');
  const euros = scoreWords({ kind: 'currency', decimals: 2, unit: 'EUR' }, 'en-US');

  it.each([
    [3725.1, '1:02:05.100'],
    [0, '0:00.000'],
    [5.1, '0:05.100'],
    [59.9996, '1:00.000'],
    [-62.5, '−1:02.500'],
    [360_000, '100:00:00.000'],
  ])('writes %d seconds as %s', (score, text) => expect(time.short(score)).toBe(text));

  it('writes milliseconds as the time that they are, and a comma where the reader has one', () => {
    expect(scoreWords({ kind: 'time', decimals: 3, unit: 'ms' }, 'en-US').short(83_250)).toBe('1:23.250');
    expect(scoreWords({ kind: 'time', decimals: 1 }, 'de').short(83.25)).toBe('1:23,25');
  });

  it.each([
    [0, '0 pts', '0 pts'],
    [999_999_999, '999,999,999 pts', '999,999,999 pts'],
    [1_234_567_890, '1.235B pts', '1,234,567,890 pts'],
    [7.123456e15, '7,123.456T pts', '7,123,456,000,000,000 pts'],
    [1e300, '1E300 pts', '1e+300 pts'],
    [5e-324, '5E-324 pts', '5e-324 pts'],
    [0.5, '0.5 pts', '0.5 pts'],
    [0.1 + 0.2, '0.3 pts', '0.30000000000000004 pts'],
  ])('writes %d as %s, with all its digits as %s', (score, short, exact) => {
    expect(plain(points.short(score))).toBe(short);
    expect(plain(points.exact(score))).toBe(exact);
  });

  it('writes money by its currency, to the cent for longer, and what is no currency as a unit', () => {
    expect(euros.short(1_250_000)).toBe('€1,250,000.00');
    expect(euros.brief(1_250_000)).toBe('€1.25M');
    expect(plain(scoreWords({ kind: 'currency', decimals: 0, unit: 'gold' }, 'en-US').short(12))).toBe('12 gold');
    expect(plain(scoreWords({ kind: 'currency', decimals: 2, unit: 'EUR' }, 'de').short(12.5))).toBe('12,50 €');
  });

  it('tells what was gained and lost in the same way', () => {
    expect(plain(gainWords(1200, points))).toBe('+1,200 pts');
    expect(gainWords(-3.5, time)).toBe('−0:03.500');
  });

  it('is plain where a board says nothing', () => expect(scoreWords(undefined, 'en-US').short(1200)).toBe('1,200'));
});
