import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultOfTimeZone, firstInstantOf, latestLocalTime } from './time-zone.js';

const ZONES = [...Intl.supportedValuesOf('timeZone'), 'UTC'];
const anyTime = fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(2040, 0, 1) });

/** What the zone's clocks show, as UTC shows it: asked of Intl another way than the code does. */
function clockOf(zone: string, atMs: number): number {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'longOffset' });
  const text = format.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')!.value;
  const [, sign, hours, minutes, seconds] = /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text)!;
  const offset = Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0);
  return atMs + (sign === '-' ? -offset : offset) * 1000;
}

describe('the first instant of a local time', () => {
  it.each([
    ['Europe/Berlin', '2026-01-15T12:00', '2026-01-15T11:00:00.000Z', 'in winter'],
    ['Europe/Berlin', '2026-07-15T12:00', '2026-07-15T10:00:00.000Z', 'in summer'],
    ['Europe/Berlin', '2026-03-29T02:30', '2026-03-29T01:00:00.000Z', 'the end of the gap'],
    ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30:00.000Z', 'the first of the two'],
    ['Europe/Berlin', '2026-10-25T03:00', '2026-10-25T02:00:00.000Z', 'after the fold'],
    ['America/Sao_Paulo', '2018-11-04T00:00', '2018-11-04T03:00:00.000Z', 'midnight in a gap'],
    ['Pacific/Chatham', '2026-04-05T02:45', '2026-04-04T13:00:00.000Z', 'the first of the two, from 3:45 to 2:45'],
    ['Pacific/Apia', '2011-12-30T15:00', '2011-12-30T10:00:00.000Z', 'a day that was skipped'],
    ['America/St_Johns', '2006-10-29T00:00', '2006-10-29T02:30:00.000Z', 'midnight shown twice, a minute before'],
    ['America/New_York', '1850-01-01T00:00', '1850-01-01T04:56:02.000Z', 'local mean time'],
    ['Asia/Manila', '0099-01-01T00:00', '0099-01-01T15:56:08.000Z', 'long before there were zones'],
  ])('%s %s is %s (%s)', (zone, local, instant) =>
    expect(new Date(firstInstantOf(zone, Date.parse(`${local}Z`))).toISOString()).toBe(instant),
  );

  it('shows that local time, in every zone, however many zones are asked for', () =>
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), anyTime, (zone, atMs) => {
        const localMs = clockOf(zone, atMs);
        const firstMs = firstInstantOf(zone, localMs);
        expect(firstMs).toBeLessThanOrEqual(atMs);
        expect(clockOf(zone, firstMs)).toBe(localMs);
      }),
      { numRuns: 3000 },
    ));

  it('never falls when the local time grows', () =>
    fc.assert(
      fc.property(
        fc.constantFrom('Europe/Berlin', 'Pacific/Apia', 'America/St_Johns', 'Africa/Casablanca', 'Pacific/Kwajalein'),
        anyTime,
        fc.integer({ min: 0, max: 200 * 3_600_000 }),
        (zone, localMs, moreMs) => {
          expect(firstInstantOf(zone, localMs + moreMs)).toBeGreaterThanOrEqual(firstInstantOf(zone, localMs));
        },
      ),
      { numRuns: 2000 },
    ));
});

describe('the latest local time', () => {
  it('is what the clocks show, but in the second pass of a fold the end of the first', () => {
    const latest = (zone: string, at: string): string =>
      new Date(latestLocalTime(zone, Date.parse(at))).toISOString().slice(0, -1);
    expect(latest('Europe/Berlin', '2026-10-25T00:59:59.999Z')).toBe('2026-10-25T02:59:59.999');
    expect(latest('Europe/Berlin', '2026-10-25T01:00:00.000Z')).toBe('2026-10-25T02:59:59.999');
    expect(latest('Europe/Berlin', '2026-10-25T01:59:59.999Z')).toBe('2026-10-25T02:59:59.999');
    expect(latest('Europe/Berlin', '2026-10-25T02:00:00.000Z')).toBe('2026-10-25T03:00:00.000');
    expect(latest('Europe/Berlin', '2026-03-29T01:00:00.000Z')).toBe('2026-03-29T03:00:00.000');
    expect(latest('America/St_Johns', '2006-10-29T03:00:00.000Z')).toBe('2006-10-29T00:00:59.999');
    expect(latest('America/Juneau', '1867-10-19T20:00:00.000Z')).toBe('1867-10-19T15:33:31.999');
  });

  it('is the latest one whose first instant has come, in every zone', () =>
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), anyTime, (zone, atMs) => {
        const latestMs = latestLocalTime(zone, atMs);
        expect(latestMs).toBeGreaterThanOrEqual(clockOf(zone, atMs));
        expect(firstInstantOf(zone, latestMs)).toBeLessThanOrEqual(atMs);
        expect(firstInstantOf(zone, latestMs + 1)).toBeGreaterThan(atMs);
      }),
      { numRuns: 3000 },
    ));
});

describe('the name of a time zone', () => {
  it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Asia/Kathmandu', 'Etc/GMT+5'])(
    '%s is fine',
    (zone) => expect(faultOfTimeZone(zone)).toBeNull(),
  );

  it.each(['', 'Mars/Olympus', '+02:00', '-05', 'Europe/Berlin ', 'A'.repeat(65)])('%j is refused', (zone) =>
    expect(faultOfTimeZone(zone)).toMatch(/^must be an IANA time zone/),
  );
});
