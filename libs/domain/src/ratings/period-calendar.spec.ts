import { describe, expect, it } from 'vitest';
import { periodAt, periodNumbered, type PeriodRules } from './period-calendar.js';

const HOUR_MS = 3_600_000;
const at = (text: string): number => Date.parse(text);
const rules = (every: PeriodRules['every'], timeZone = 'UTC', graceSeconds = 86_400): PeriodRules => ({
  ...{ every, timeZone, graceSeconds },
});

describe('the calendar of a pool', () => {
  it.each([
    ['daily', '2026-11-22T13:00:00Z', 'daily:2026-11-22', '2026-11-22T00:00:00Z', '2026-11-23T00:00:00Z'],
    ['weekly', '2026-11-22T13:00:00Z', 'weekly:2026-W47', '2026-11-16T00:00:00Z', '2026-11-23T00:00:00Z'],
    ['monthly', '2026-12-31T23:59:59.999Z', 'monthly:2026-12', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ] as const)('has %s periods as windows are: %s is in %s', (every, time, id, from, to) => {
    const closesAtMs = at(to) + 24 * HOUR_MS;
    expect(periodAt(rules(every), at(time))).toMatchObject({ id, startsAtMs: at(from), endsAtMs: at(to), closesAtMs });
  });

  it.each(['daily', 'weekly', 'monthly'] as const)('counts %s periods through, and each holds its time', (every) => {
    for (const zone of ['UTC', 'America/New_York', 'Pacific/Auckland']) {
      let last = periodAt(rules(every, zone), 0);
      expect(last.number).toBe(zone === 'America/New_York' && every !== 'weekly' ? -1 : 0);
      for (let atMs = 0; atMs < at('1975-01-01T00:00:00Z'); atMs += 7 * HOUR_MS) {
        const period = periodAt(rules(every, zone), atMs);
        expect(period.startsAtMs <= atMs && atMs < period.endsAtMs).toBe(true);
        if (period.number !== last.number) {
          expect([period.number, period.startsAtMs]).toEqual([last.number + 1, last.endsAtMs]);
          expect(periodNumbered(rules(every, zone), period.number)).toEqual(period);
        }
        last = period;
      }
    }
  });

  it('ends with the years that can be written', () => {
    expect(periodNumbered(rules('monthly'), (9999 - 1970) * 12 + 11)).toMatchObject({ id: 'monthly:9999-12' });
    expect(periodNumbered(rules('monthly'), (10_000 - 1970) * 12)).toBeNull();
    expect(periodNumbered(rules('daily'), 1e15)).toBeNull();
  });
});
