import { describe, expect, it } from 'vitest';
import { vectors } from '../test/vectors.js';
import { formatScore, type ScoreFormat } from './rest.js';

interface Case {
  format: ScoreFormat;
  score: number;
  locale: string;
  text: string;
}

const { cases } = vectors<{ cases: Case[] }>('formats');

describe('a score as people write it', () => {
  it.each(cases)('is as the vectors say: $format $score in $locale', ({ format, score, locale, text }) => {
    expect(formatScore(format, score, locale)).toBe(text);
  });

  it('is in the digits of the locale', () => {
    expect(formatScore({ kind: 'time', decimals: 1, unit: null }, 3725.5, 'ar-EG')).toBe('١:٠٢:٠٥٫٥');
  });

  it('can be read back as the very same number, whatever the number is', () => {
    const number = { kind: 'number', decimals: 0, unit: null } as const;
    for (let seed = 1; seed < 5000; seed += 1) {
      const exponent = (seed % 41) - 20;
      const score = Math.sin(seed) * 10 ** exponent;
      expect(Number(formatScore(number, score, 'en').replaceAll(',', ''))).toBe(score);
    }
  });
});
