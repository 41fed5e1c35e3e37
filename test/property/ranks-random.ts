import { faultOfOpaqueId } from '@laddercast/domain';
import type { Dice } from '@laddercast/testing';
import type { ModelRules, ModelRun } from './ranks-model.js';

/** Runs were achieved around then, all of them before any clock of the test. */
const AROUND_MS = Date.UTC(2025, 5, 1);
/** Before the season began. */
export const LONG_AGO_MS = Date.UTC(2019, 0, 1);
export const SEASON = { season: 's1', startsAt: '2020-01-01T00:00:00.000Z', endsAt: '2090-01-01T00:00:00.000Z' };

const HARD_NUMBERS = [
  ...[0, -0, 5e-324, -5e-324, 2 ** 53, 2 ** 53 + 2, -(2 ** 53), 1e300, -1e300],
  ...[0.1, 0.2, 0.1 + 0.2, 1 / 3, 1.0000000000000002, 2 ** -1022],
];
const NASTY_IDS = [
  'ada',
  'Ada',
  'é',
  'e\u0301',
  '}{',
  '{1.2.3}',
  'a/b?c#d',
  '100%',
  '%2F',
  ' ',
  '\u{1f3c6}',
  '\u{10ffff}',
  '\uffff',
  'שלום',
  '...',
  '__proto__',
  '"\\',
  "'); --",
];

/** Ids of any Unicode, all different. */
export function playerIds(dice: Dice, count: number): string[] {
  const ids = new Set<string>();
  while (ids.size < count) {
    const id = dice.isUnder(0.3) ? dice.oneOf(NASTY_IDS) : randomId(dice);
    if (faultOfOpaqueId(id) === null) ids.add(id);
  }
  return [...ids];
}

function randomId(dice: Dice): string {
  const most = dice.oneOf([0x7f, 0x7ff, 0xffff, 0x10ffff]);
  return Array.from({ length: dice.from(1, 32) }, () => String.fromCodePoint(dice.below(most + 1))).join('');
}

export function rules(dice: Dice): ModelRules {
  const operator = dice.oneOf(['best', 'best', 'latest', 'sum'] as const);
  const columns = operator === 'sum' ? 0 : dice.oneOf([0, 0, 1, 2, 4]);
  return {
    order: dice.oneOf(['asc', 'desc']),
    operator,
    tiebreak: dice.oneOf(['earliest', 'latest', 'none']),
    columns: Array.from({ length: columns }, (_, at) => ({ name: `c${at}`, order: dice.oneOf(['asc', 'desc']) })),
  };
}

/** Runs of one board: from many that tie to none that do. */
export function runsOf(dice: Dice, { operator, columns }: ModelRules): () => ModelRun {
  const different = dice.oneOf([1, 3, 10, 1e6]);
  const score = (): number => {
    if (operator === 'sum') return dice.from(-different, different) / 4;
    return dice.isUnder(0.15) ? dice.oneOf(HARD_NUMBERS) : dice.below(different);
  };
  const column = (): number => (dice.isUnder(0.2) ? dice.oneOf(HARD_NUMBERS) : dice.below(3));
  return () => ({
    score: score(),
    columns: columns.map(column),
    atMs: dice.isUnder(0.1) ? LONG_AGO_MS + dice.below(3) : AROUND_MS + dice.below(dice.oneOf([3, 1000])),
  });
}
