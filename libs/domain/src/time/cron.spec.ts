import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultOfCron, firingsAround } from './cron.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The firings after `from`, as RFC 3339 without seconds. */
function firingsAfter(expression: string, zone: string, from: string, count: number): string[] {
  const firings: string[] = [];
  for (let atMs = Date.parse(from); firings.length < count;) {
    const { nextMs } = firingsAround(expression, zone, atMs)!;
    expect(nextMs).toBeGreaterThan(atMs);
    atMs = nextMs;
    firings.push(new Date(atMs).toISOString().replace(':00.000Z', 'Z'));
  }
  return firings;
}

describe('a cron expression', () => {
  it.each([
    ['0 18 * * 5', ['2026-11-06T18:00Z', '2026-11-13T18:00Z']],
    ['0 18 * * FRI', ['2026-11-06T18:00Z', '2026-11-13T18:00Z']],
    [
      '*/15 1-5/2 * * *',
      ['2026-11-01T01:00Z', '2026-11-01T01:15Z', '2026-11-01T01:30Z', '2026-11-01T01:45Z', '2026-11-01T03:00Z'],
    ],
    [
      '5,1,3-4 0 1 * *',
      ['2026-11-01T00:01Z', '2026-11-01T00:03Z', '2026-11-01T00:04Z', '2026-11-01T00:05Z', '2026-12-01T00:01Z'],
    ],
    ['0 0 * * 7', ['2026-11-08T00:00Z', '2026-11-15T00:00Z']],
    ['0 0 * * sun', ['2026-11-08T00:00Z', '2026-11-15T00:00Z']],
    ['0 0 * * Fri-Sun', ['2026-11-06T00:00Z', '2026-11-07T00:00Z', '2026-11-08T00:00Z', '2026-11-13T00:00Z']],
    ['0 0 1 jan-mar/2 *', ['2027-01-01T00:00Z', '2027-03-01T00:00Z', '2028-01-01T00:00Z']],
    ['0 0 29 2 *', ['2028-02-29T00:00Z', '2032-02-29T00:00Z']],
    [
      '0 0 13 * 5',
      [
        '2026-11-06T00:00Z',
        '2026-11-13T00:00Z',
        '2026-11-20T00:00Z',
        '2026-11-27T00:00Z',
        '2026-12-04T00:00Z',
        '2026-12-11T00:00Z',
        '2026-12-13T00:00Z',
      ],
    ],
    ['0 0 */2 * 1', ['2026-11-09T00:00Z', '2026-11-23T00:00Z', '2026-12-07T00:00Z']],
    ['  59\t23  31 12  * ', ['2026-12-31T23:59Z', '2027-12-31T23:59Z']],
  ])('%j fires at %j', (expression, firings) => {
    expect(faultOfCron(expression)).toBeNull();
    expect(firingsAfter(expression, 'UTC', '2026-11-01T00:00:00Z', firings.length)).toEqual(firings);
  });

  it.each([
    ['', 'must have 5 fields'],
    ['0 18 * *', 'must have 5 fields'],
    ['0 0 18 * * 5', 'must have 5 fields'],
    ['@daily', 'must have 5 fields'],
    ['60 * * * *', 'minute "60" is not within 0-59'],
    ['* 24 * * *', 'hour "24" is not within 0-23'],
    ['* * 0 * *', 'day-of-month "0" is not within 1-31'],
    ['* * * 13 *', 'month "13" is not within 1-12'],
    ['* * * FRI *', 'month "FRI" is not within 1-12'],
    ['* * * * 8', 'day-of-week "8" is not within 0-7'],
    ['MON * * * *', 'minute "MON" is not within 0-59'],
    ['5-1 * * * *', 'minute "5-1" ends before it begins'],
    ['*/0 * * * *', 'minute "*/0" has a step of 0'],
    ['5/15 * * * *', 'minute "5/15" has a step without a range'],
    ['-5 * * * *', 'minute "-5" is no number, name, range or step'],
    ['1, * * * *', 'minute "" is no number, name, range or step'],
    ['1.5 * * * *', 'minute "1.5" is no number, name, range or step'],
    ['* * * * 5#2', 'day-of-week "5#2" is no number, name, range or step'],
    ['* * L * *', 'day-of-month "L" is not within 1-31'],
    ['0 0 30 2 *', 'must fire at least once in any 13 years'],
    ['0 0 31 2,4,6,9,11 *', 'must fire at least once in any 13 years'],
    // 29 February on a Sunday: 28 years, 40 around 2100.
    ['0 0 29 2 */7', 'must fire at least once in any 13 years'],
    [`${'0,'.repeat(300)}0 * * * *`, 'must be at most 512 characters'],
  ])('%j is refused', (expression, fault) => {
    expect(faultOfCron(expression)).toContain(fault);
    expect(() => firingsAround(expression, 'UTC', 0)).toThrow(RangeError);
  });

  it('finds the leap day over the century without one, and a weekday in January after twelve years', () => {
    expect(firingsAfter('0 0 29 2 *', 'UTC', '2096-01-01T00:00:00Z', 2)).toEqual([
      '2096-02-29T00:00Z',
      '2104-02-29T00:00Z',
    ]);
    const around = firingsAround('0 0 29 2 *', 'UTC', Date.parse('2104-02-28T23:59:59Z'))!;
    expect(new Date(around.lastMs).toISOString()).toBe('2096-02-29T00:00:00.000Z');
    // 1 January is a Wednesday in 2098 and 2110, and not between.
    expect(firingsAfter('0 0 */31 1 3', 'UTC', '2097-12-31T00:00:00Z', 2)).toEqual([
      '2098-01-01T00:00Z',
      '2110-01-01T00:00Z',
    ]);
    expect(firingsAround('0 0 */31 1 3', 'UTC', Date.parse('2109-12-31T23:59:59Z'))!.lastMs).toBe(Date.UTC(2098, 0, 1));
  });
});

interface OracleField {
  text: string;
  star: boolean;
  values: Set<number>;
}

const range = (from: number, to: number, step = 1): number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);

/** A field as text, together with the values that it means. */
const fieldOf = (min: number, max: number): fc.Arbitrary<OracleField> => {
  const value = fc.integer({ min, max });
  const item = fc.oneof(
    value.map((one) => ({ text: `${one}`, values: [one] })),
    fc.tuple(value, value, fc.integer({ min: 1, max: 20 })).map(([a, b, step]) => ({
      text: `${Math.min(a, b)}-${Math.max(a, b)}/${step}`,
      values: range(Math.min(a, b), Math.max(a, b), step),
    })),
  );
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant({ text: '*', star: true, values: new Set(range(min, max)) }) },
    {
      weight: 1,
      arbitrary: fc.integer({ min: 1, max: 20 }).map((step) => ({
        text: `*/${step}`,
        star: true,
        values: new Set(range(min, max, step)),
      })),
    },
    {
      weight: 3,
      arbitrary: fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => ({
        text: items.map(({ text }) => text).join(','),
        star: false,
        values: new Set(items.flatMap(({ values }) => values)),
      })),
    },
  );
};

const anyCron = fc.tuple(fieldOf(0, 59), fieldOf(0, 23), fieldOf(1, 31), fieldOf(1, 12), fieldOf(0, 7));

/** A minute as the clock and the calendar on the wall show it. */
interface WallMinute {
  minute: number;
  hour: number;
  day: number;
  month: number;
  weekday: number;
}

function wallMinute(localMs: number): WallMinute {
  const date = new Date(localMs);
  const [minute, hour, weekday] = [date.getUTCMinutes(), date.getUTCHours(), date.getUTCDay()];
  return { minute, hour, day: date.getUTCDate(), month: date.getUTCMonth() + 1, weekday };
}

function matches([minutes, hours, days, months, weekdays]: OracleField[], wall: WallMinute): boolean {
  if (!minutes!.values.has(wall.minute) || !hours!.values.has(wall.hour) || !months!.values.has(wall.month))
    return false;
  const day = days!.values.has(wall.day);
  const weekday = weekdays!.values.has(wall.weekday) || (wall.weekday === 0 && weekdays!.values.has(7));
  return days!.star || weekdays!.star ? day && weekday : day || weekday;
}

/** Each UTC minute of five days, with the local minutes that it brings for the first time, the skipped ones included. */
function minutesAround(zone: string, change: string): { atMs: number; brings: WallMinute[] }[] {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  const localOf = (ms: number): number => Date.parse(`${format.format(ms).replace(' ', 'T')}Z`);
  const firstMs = Date.parse(change) - 2 * DAY_MS;
  let latestMs = localOf(firstMs - MINUTE_MS);
  return range(firstMs, firstMs + 5 * DAY_MS, MINUTE_MS).map((atMs) => {
    const localMs = localOf(atMs);
    const brings = localMs > latestMs ? range(latestMs + MINUTE_MS, localMs, MINUTE_MS).map(wallMinute) : [];
    latestMs = Math.max(latestMs, localMs);
    return { atMs, brings };
  });
}

describe('the firings of a cron', () => {
  it.each([
    ['Europe/Berlin', '2026-03-29T01:00Z'],
    ['Europe/Berlin', '2026-10-25T01:00Z'],
    ['America/Sao_Paulo', '2018-11-04T03:00Z'],
    ['America/Sao_Paulo', '2018-02-18T02:00Z'],
    ['America/St_Johns', '2006-04-02T03:31Z'],
    ['America/St_Johns', '2006-10-29T02:31Z'],
    ['Asia/Kathmandu', '1985-12-31T18:30Z'],
    ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
    ['Pacific/Apia', '2011-12-30T10:00Z'],
    ['Pacific/Chatham', '2026-04-04T14:00Z'],
    ['Pacific/Chatham', '2026-09-26T14:00Z'],
    ['UTC', '2026-12-31T00:00Z'],
  ])('are those of a clock watched minute by minute: %s around %s', (zone, change) => {
    const minutes = minutesAround(zone, change);
    const [firstMs, lastMs] = [minutes[0]!.atMs, minutes.at(-1)!.atMs];
    let fired = 0;
    fc.assert(
      fc.property(anyCron, (fields) => {
        const expression = fields.map(({ text }) => text).join(' ');
        fc.pre(faultOfCron(expression) === null);
        const expected = minutes
          .filter(({ brings }) => brings.some((wall) => matches(fields, wall)))
          .map(({ atMs }) => atMs);
        const found: number[] = [];
        for (let atMs = firstMs - 1; ;) {
          const { lastMs: before, nextMs } = firingsAround(expression, zone, atMs)!;
          const isInOrder = before === (found.at(-1) ?? before) && before <= atMs && nextMs > atMs;
          // Asked of some hundred thousand firings: the sentence is made only where it is needed.
          if (!isInOrder) expect.fail(`fires at ${before} and ${nextMs} around ${atMs}, after ${found.at(-1)}`);
          if (nextMs > lastMs) break;
          found.push(nextMs);
          atMs = nextMs;
        }
        expect(found).toEqual(expected);
        fired += found.length;
        // From within a window too, not only from its start.
        for (const { atMs } of minutes.filter((_, index) => index % 97 === 0)) {
          const around = firingsAround(expression, zone, atMs + 30_000)!;
          expect(Math.min(around.nextMs, lastMs + 1)).toBe(expected.find((ms) => ms > atMs) ?? lastMs + 1);
          expect(Math.max(around.lastMs, firstMs - 1)).toBe(expected.findLast((ms) => ms <= atMs) ?? firstMs - 1);
        }
      }),
      { numRuns: 30, examples: [[fieldsOfDaily(2, 30)], [fieldsOfDaily(0, 0)], [fieldsOfDaily('*', '*')]] },
    );
    expect(fired).toBeGreaterThan(0);
  });

  it('come once at the end of a gap, and once in a fold', () => {
    expect(firingsAfter('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00Z',
      '2026-03-30T00:30Z',
    ]);
    expect(firingsAfter('*/20 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00Z',
      '2026-03-30T00:00Z',
    ]);
    expect(firingsAfter('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30Z',
      '2026-10-26T01:30Z',
    ]);
  });
});

function fieldsOfDaily(
  hour: number | '*',
  minute: number | '*',
): [OracleField, OracleField, OracleField, OracleField, OracleField] {
  const star = (min: number, max: number): OracleField => ({ text: '*', star: true, values: new Set(range(min, max)) });
  const one = (value: number): OracleField => ({ text: `${value}`, star: false, values: new Set([value]) });
  return [
    minute === '*' ? star(0, 59) : one(minute),
    hour === '*' ? star(0, 23) : one(hour),
    star(1, 31),
    star(1, 12),
    star(0, 7),
  ];
}
