import { describe, expect, it } from 'vitest';
import { pageModule } from './page-module.js';

interface Window {
  id: string;
  kind: string;
  state: string;
  startsAt?: string | null;
  endsAt?: string | null;
  resetsAt?: string | null;
  isFrozen?: boolean;
}
interface WindowWords {
  nameOf(window: Window): string;
  runningLabel(window: Window, nowMs: number): string;
  endedLabel(window: Window): string;
  labelOf(window: Window, nowMs: number): string;
  nextMoment(window: Window): { text: string; at: string | null };
}
interface CountdownModule {
  countdownWords(leftMs: number): string;
}

const words = await pageModule<WindowWords>('window-words.js');
const { countdownWords } = await pageModule<CountdownModule>('countdown.js');

const noon = Date.parse('2026-11-20T12:00:00.000Z');
const window = (id: string, state = 'running', more: Partial<Window> = {}): Window => ({
  id,
  kind: id.split(':')[0]!,
  state,
  startsAt: '2026-11-20T00:00:00.000Z',
  endsAt: '2026-11-21T00:00:00.000Z',
  resetsAt: '2026-11-21T00:00:00.000Z',
  ...more,
});

describe('what the page calls windows', () => {
  it.each([
    ['alltime', 'All time', 'alltime'],
    ['daily:2026-11-20', 'Today', 'daily'],
    ['weekly:2026-W47', 'This week', 'weekly'],
    ['monthly:2026-11', 'This month', 'monthly'],
    ['season:s1', 'Season s1', 'season:s1'],
    ['rolling:24h', 'Last 24 hours', 'rolling:24h'],
    ['rolling:1h', 'Last hour', 'rolling:1h'],
  ])('names the running %s "%s", and asks for it as %s', (id, label, name) => {
    expect(words.runningLabel(window(id), noon)).toBe(label);
    expect(words.nameOf(window(id))).toBe(name);
  });

  it('names a round by when it began: by the day of the week, or by the date when that is long ago', () => {
    const round = window('cron:20261119T1800Z', 'running', { startsAt: '2026-11-19T18:00:00.000Z' });
    const time = { hour: 'numeric', minute: '2-digit' } as const;
    const began = new Date('2026-11-19T18:00:00.000Z');
    const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'long', ...time }).format(began);
    expect(words.runningLabel(round, noon)).toBe(`Since ${weekday}`);
    const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }).format(began);
    expect(words.runningLabel(round, noon + 8 * 86_400_000)).toBe(`Since ${date}`);
    expect(words.nameOf(round)).toBe('cron');
  });

  it('names those that are over by their own date, wherever the reader is', () => {
    const dated = (style: Intl.DateTimeFormatOptions, iso: string) =>
      new Intl.DateTimeFormat(undefined, { ...style, timeZone: 'UTC' }).format(new Date(iso));
    expect(words.endedLabel(window('daily:2026-11-20', 'settled'))).toBe(
      dated({ dateStyle: 'full' }, '2026-11-20T00:00:00Z'),
    );
    expect(words.endedLabel(window('monthly:2026-11', 'settled'))).toBe(
      dated({ month: 'long', year: 'numeric' }, '2026-11-01T00:00:00Z'),
    );
    expect(words.endedLabel(window('weekly:2026-W05', 'settled'))).toBe('Week 5 of 2026');
    expect(words.labelOf(window('weekly:2026-W05', 'ended'), noon)).toBe('Week 5 of 2026');
    expect(words.labelOf(window('weekly:2026-W05'), noon)).toBe('This week');
  });

  it.each([
    ['a day resets', window('daily:2026-11-20'), 'resets in', '2026-11-21T00:00:00.000Z'],
    ['a season ends', window('season:s1'), 'ends in', '2026-11-21T00:00:00.000Z'],
    ['hours leave', window('rolling:24h', 'running', { endsAt: null }), 'the oldest hour leaves in', noon],
    ['a frozen one ends', window('season:s1', 'running', { isFrozen: true }), 'frozen, ends in', noon],
    ['one to come starts', window('season:s2', 'upcoming'), 'starts in', '2026-11-20T00:00:00.000Z'],
    ['one that is over says so', window('daily:2026-11-20', 'ended', { resetsAt: null }), 'over', null],
    ['a settled one is final', window('daily:2026-11-20', 'settled', { resetsAt: null }), 'final', null],
    ['all time has no end', window('alltime', 'running', { endsAt: null, resetsAt: null }), '', null],
  ])('counts down to what comes next: %s', (_case, of, text, at) => {
    const moment = words.nextMoment(of);
    expect(moment.text).toBe(text);
    if (at === null) expect(moment.at).toBeNull();
    else expect(moment.at).toBe(at === noon ? '2026-11-21T00:00:00.000Z' : at);
  });

  it.each([
    [0, '0:00'],
    [-5000, '0:00'],
    [1, '0:01'],
    [59_001, '1:00'],
    [725_000, '12:05'],
    [3_600_000, '1:00:00'],
    [11_525_000, '3:12:05'],
    [86_399_001, '1 day 0 h'],
    [86_400_000 + 3_600_000, '1 day 1 h'],
    [2 * 86_400_000 + 4.9 * 3_600_000, '2 days 4 h'],
  ])('writes %d ms as %s', (leftMs, text) => expect(countdownWords(leftMs)).toBe(text));
});
