// Real: the placement, and the calendar of the domain that the windows are made by. Checked against clocks on the wall.
import {
  HOUR_MS,
  LadderError,
  windowAt,
  type Board,
  type StoredWindow,
  type WindowBounds,
  type WindowSpec,
} from '@laddercast/domain';
import { naiveDailyStroke, naiveWindow } from '@laddercast/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boardOf, overrideOf, runOf } from '../../test/made-writes.js';
import type { LedgerWrite } from '../entries/ledger-writes.js';
import { expectedPlace, placeAhead, placeWrite, type PlacementWindows } from './window-placement.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * HOUR_MS;
const ms = (text: string): number => Date.parse(text);
const iso = (atMs: number): string => new Date(atMs).toISOString();

/** The windows of one board, made when they are first asked for, as the ledger makes them; without a database. */
class MadeWindows implements PlacementWindows {
  readonly made: StoredWindow[] = [];

  /** @param closed ids of windows that an operator has closed */
  constructor(private readonly closed: readonly string[] = []) {}

  cachedAt(board: Board, atMs: number): StoredWindow[] | undefined {
    const windows = this.madeAt(board, atMs);
    return windows.length === boundsAt(board, atMs).length ? windows : undefined;
  }

  at(board: Board, atMs: number): Promise<StoredWindow[]> {
    for (const bounds of boundsAt(board, atMs)) {
      if (this.made.some(({ id }) => id === bounds.id)) continue;
      const state = this.closed.includes(bounds.id) ? 'closed' : 'open';
      this.made.push({ ...bounds, uid: this.made.length + 1, state });
    }
    return Promise.resolve(this.madeAt(board, atMs));
  }

  ofId(board: Board, windowId: string) {
    const window = this.made.find(({ id }) => id === windowId);
    return Promise.resolve(window && { ...window, boardUid: board.uid });
  }

  madeAt(board: Board, atMs: number): StoredWindow[] {
    return boundsAt(board, atMs).flatMap((bounds) => this.made.find(({ id }) => id === bounds.id) ?? []);
  }
}

const boundsAt = ({ definition }: Board, atMs: number): WindowBounds[] =>
  definition.windows.flatMap((spec) => windowAt(spec, definition.timeZone, atMs) ?? []);

/** Ids of the windows that a write goes to, the one that is answered first; or the code that it is refused with. */
async function placeOf(write: LedgerWrite, nowMs: number, windows = new MadeWindows()): Promise<string[] | string> {
  try {
    // What runs now is made already; what an older run needs is not.
    await windows.at(write.board, nowMs);
    return (await placeWrite(write, nowMs, windows)).windows.map(({ id }) => id);
  } catch (error) {
    if (error instanceof LadderError) return error.code;
    throw error;
  }
}

const NOW_MS = ms('2026-11-20T20:00:00Z');
const SEASON: WindowSpec = {
  season: 's1',
  startsAt: '2026-11-01T00:00:00Z',
  freezeAt: '2026-11-20T18:00:00Z',
  endsAt: '2026-11-20T19:58:00Z',
};

describe('a run', () => {
  it.each([
    ['now, when it says nothing', null, ['alltime', 'daily:2026-11-20']],
    ['the day before, within the grace', NOW_MS - 20 * HOUR_MS - 1, ['alltime', 'daily:2026-11-19']],
    ['a minute ahead of the clock, as now', NOW_MS + MINUTE_MS, ['alltime', 'daily:2026-11-20']],
    ['further ahead', NOW_MS + MINUTE_MS + 1, 'ACHIEVED_AT_IN_FUTURE'],
    ['the day before that, whose grace is over', NOW_MS - 45 * HOUR_MS, ['alltime']],
  ])('of %s, is placed by its time', async (_what, achievedAtMs, expected) => {
    const board = boardOf({ windows: ['alltime', 'daily'], graceSeconds: 86_400 });
    expect(await placeOf(runOf(board, { achievedAtMs }), NOW_MS)).toEqual(expected);
  });

  it.each([
    ['Europe/Berlin', 'daily:2026-11-21'],
    ['UTC', 'daily:2026-11-20'],
    ['America/Sao_Paulo', 'daily:2026-11-20'],
    ['Pacific/Chatham', 'daily:2026-11-21'],
  ])('goes to the day of the board in %s', async (timeZone, day) => {
    const board = boardOf({ windows: ['daily'], timeZone });
    expect(await placeOf(runOf(board, {}), ms('2026-11-20T23:30:00Z'))).toEqual([day]);
  });

  it('is taken by a season that is frozen, and in its grace, and not a moment longer', async () => {
    const board = boardOf({ windows: [SEASON, 'alltime'], graceSeconds: 120 });
    const inTime = runOf(board, { achievedAtMs: ms('2026-11-20T19:57:59.999Z') });
    expect(await placeOf(inTime, ms('2026-11-20T19:59:59.999Z'))).toEqual(['season:s1', 'alltime']);
    expect(await placeOf(inTime, NOW_MS)).toEqual(['alltime']);
    const late = runOf(board, { achievedAtMs: ms('2026-11-20T19:58:00Z') });
    expect(await placeOf(late, ms('2026-11-20T19:58:00Z'))).toEqual(['alltime']);
  });

  it('is refused when every window that holds it is over or closed', async () => {
    const board = boardOf({ windows: ['daily'], graceSeconds: 0 });
    expect(await placeOf(runOf(board, { achievedAtMs: NOW_MS - DAY_MS }), NOW_MS)).toBe('WINDOW_CLOSED');
    expect(await placeOf(runOf(board, {}), NOW_MS, new MadeWindows(['daily:2026-11-20']))).toBe('WINDOW_CLOSED');
  });

  it('leaves a rolling window with its hour', async () => {
    const board = boardOf({ windows: ['alltime', { rolling: '24h' }] });
    const atMs = ms('2026-11-19T21:00:00Z');
    expect(await placeOf(runOf(board, { achievedAtMs: atMs }), NOW_MS + HOUR_MS - 1)).toContain('rolling:24h');
    expect(await placeOf(runOf(board, { achievedAtMs: atMs }), NOW_MS + HOUR_MS)).toEqual(['alltime']);
  });

  it('is answered for the window that it names, which has to hold it', async () => {
    const board = boardOf({ windows: ['alltime', 'daily'], graceSeconds: 3600 });
    const named = (windowId: string, achievedAtMs: number | null = null) =>
      placeOf(runOf(board, { windowId, achievedAtMs }), NOW_MS);
    expect(await named('daily:2026-11-20')).toEqual(['daily:2026-11-20', 'alltime']);
    expect(await named('daily:2026-11-21')).toBe('WINDOW_MISMATCH');
    expect(await named('season:s1')).toBe('WINDOW_MISMATCH');
    expect(await named('daily:2026-11-19')).toBe('WINDOW_CLOSED');
    expect(await named('daily:2026-11-19', NOW_MS - DAY_MS)).toBe('WINDOW_CLOSED');
  });

  it('that speaks against itself is refused with what does, whatever its time', async () => {
    const refusal = new LadderError('SCORE_OUT_OF_BOUNDS', 'The score is above the most.');
    const write = runOf(boardOf(), { refusal, achievedAtMs: NOW_MS + DAY_MS });
    expect(await placeOf(write, NOW_MS)).toBe('SCORE_OUT_OF_BOUNDS');
  });
});

describe("an operator's entry", () => {
  it('goes to what runs now, and to nothing where all is closed', async () => {
    const board = boardOf({ windows: ['daily', SEASON], graceSeconds: 0 });
    expect(await placeOf(overrideOf(board, null), NOW_MS)).toEqual(['daily:2026-11-20']);
    expect(await placeOf(overrideOf(board, null), NOW_MS, new MadeWindows(['daily:2026-11-20']))).toEqual([]);
  });
});

const ZONES = ['UTC', 'Europe/Berlin', 'America/Sao_Paulo', 'America/St_Johns', 'Pacific/Chatham'];
const STROKE = '02:30';
const CALENDAR = ['daily', 'weekly', 'monthly'] as const;

/** What a run meets; its times are relative to now, which lies in months in which all of these zones changed their clocks. */
const anyRun = fc.record({
  nowMs: fc.integer({ min: ms('2018-02-15T00:00Z'), max: ms('2018-04-15T00:00Z') }),
  ago: fc.oneof(
    fc.constant(null),
    fc.constantFrom(-MINUTE_MS - 1, -MINUTE_MS),
    fc.integer({ min: -2 * MINUTE_MS, max: 2 * MINUTE_MS }),
    fc.integer({ min: 0, max: 3 * HOUR_MS }),
    fc.integer({ min: 0, max: 40 * DAY_MS }),
  ),
  zone: fc.constantFrom(...ZONES),
  graceSeconds: fc.constantFrom(0, 60, 3600, 100_000),
  specs: fc.uniqueArray(fc.constantFrom('alltime', ...CALENDAR, 'season', 'rolling', 'cron'), { minLength: 1 }),
  rollingHours: fc.constantFrom(1, 2, 24, 720),
  /** Relative to the run: often it begins or ends with it. */
  season: fc.record({
    before: fc.oneof(fc.constantFrom(-1, 0, 1), fc.integer({ min: -DAY_MS, max: 40 * DAY_MS })),
    after: fc.oneof(fc.constantFrom(0, 1), fc.integer({ min: 0, max: 10 * DAY_MS })),
  }),
  names: fc.constantFrom('nothing', 'its own', 'the one before', 'the one after', 'none'),
  closes: fc.constantFrom('none', 'none', 'the first', 'all'),
  isOverride: fc.boolean(),
});

interface NaiveWindow {
  id: string;
  startsAtMs: number;
  endsAtMs: number;
}

/** The windows that hold an instant, by the clocks on the wall alone. */
function naiveHolding(
  { zone, specs, rollingHours, nowMs }: typeof anyRun extends fc.Arbitrary<infer Run> ? Run : never,
  season: NaiveWindow,
  atMs: number,
): NaiveWindow[] {
  const endless = { startsAtMs: -Infinity, endsAtMs: Infinity };
  return specs.flatMap((spec): NaiveWindow[] => {
    if (spec === 'alltime') return [{ id: spec, ...endless }];
    if (spec === 'season') return season.startsAtMs <= atMs && atMs < season.endsAtMs ? [season] : [];
    if (spec === 'cron') return [naiveDailyStroke(STROKE, zone, atMs)];
    if (spec !== 'rolling') return [naiveWindow(spec as (typeof CALENDAR)[number], zone, atMs)];
    const hours = Array.from({ length: rollingHours }, (_, back) => iso(nowMs - back * HOUR_MS).slice(0, 13));
    return hours.includes(iso(atMs).slice(0, 13)) ? [{ id: `rolling:${rollingHours}h`, ...endless }] : [];
  });
}

describe('any write', () => {
  it('goes to the windows that the clocks on the wall say, or is refused as they say', async () => {
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(anyRun, async (given) => {
        const { nowMs, ago, zone, graceSeconds, rollingHours, isOverride } = given;
        const achievedAtMs = ago === null ? null : nowMs - ago;
        const atMs = isOverride || achievedAtMs === null ? nowMs : Math.min(achievedAtMs, nowMs);
        const startsAtMs = atMs - given.season.before;
        const season = { id: 'season:s1', startsAtMs, endsAtMs: Math.max(startsAtMs + 1, atMs + given.season.after) };
        const specs = given.specs.map((spec): WindowSpec => {
          if (spec === 'rolling') return { rolling: `${rollingHours}h` };
          if (spec === 'cron') return { cron: '30 2 * * *' };
          if (spec !== 'season') return spec as (typeof CALENDAR)[number];
          const [startsAt, endsAt] = [iso(season.startsAtMs), iso(season.endsAtMs)];
          return { season: 's1', startsAt, endsAt, freezeAt: startsAt };
        });
        const board = boardOf({ windows: specs, timeZone: zone, graceSeconds });
        const holding = naiveHolding(given, season, atMs);
        const closed = { none: [], 'the first': holding.slice(0, 1), all: holding }[given.closes].map(({ id }) => id);
        const isOpen = ({ id, endsAtMs }: NaiveWindow): boolean =>
          !closed.includes(id) && (endsAtMs === Infinity || nowMs - endsAtMs < graceSeconds * 1000);
        const open = holding.filter(isOpen).map(({ id }) => id);
        const beside = (at: 'startsAtMs' | 'endsAtMs', by: number): NaiveWindow | undefined => {
          const bounded = holding.find(({ id, endsAtMs }) => endsAtMs !== Infinity && !id.startsWith('season'));
          return (
            bounded &&
            naiveHolding({ ...given, specs: [bounded.id.split(':')[0]! as 'daily'] }, season, bounded[at] + by)[0]
          );
        };
        const named = {
          nothing: undefined,
          'its own': holding.at(-1),
          'the one before': beside('startsAtMs', -1),
          'the one after': beside('endsAtMs', 0),
          none: { ...season, id: 'daily:2018-02-30', endsAtMs: Infinity },
        }[given.names];

        const expected = ((): string[] | string => {
          if (isOverride) return open;
          if (achievedAtMs !== null && achievedAtMs > nowMs + MINUTE_MS) return 'ACHIEVED_AT_IN_FUTURE';
          if (!named) return open.length === 0 ? 'WINDOW_CLOSED' : open;
          if (open.includes(named.id)) return [named.id, ...open.filter((id) => id !== named.id)];
          return isOpen(named) ? 'WINDOW_MISMATCH' : 'WINDOW_CLOSED';
        })();
        const windowId = named?.id ?? null;
        const write = isOverride ? overrideOf(board, null) : runOf(board, { achievedAtMs, windowId });
        const windows = new MadeWindows(closed);
        expect(await placeOf(write, nowMs, windows)).toEqual(expected);
        const kind = typeof expected === 'string' ? expected : `${expected.length} windows`;
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }),
      { numRuns: 300 },
    );
    // The cases are not all of one kind.
    for (const kind of ['ACHIEVED_AT_IN_FUTURE', 'WINDOW_CLOSED', 'WINDOW_MISMATCH', '1 windows', '3 windows']) {
      expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(0);
    }
  });
});

describe('where a write probably goes', () => {
  it('is what is made already, by the time as it is expected, and never ahead of it', async () => {
    const board = boardOf({ windows: ['alltime', 'daily'] });
    const windows = new MadeWindows();
    expect(expectedPlace(runOf(board, {}), NOW_MS, windows).windows).toEqual([]);
    await windows.at(board, NOW_MS);
    const { atMs, windows: expected } = expectedPlace(runOf(board, { achievedAtMs: NOW_MS + DAY_MS }), NOW_MS, windows);
    expect([atMs, ...expected.map(({ id }) => id)]).toEqual([NOW_MS, 'alltime', 'daily:2026-11-20']);
  });
});

/** Times around a midnight, which is also where a season begins, freezes, ends, or ends its grace. */
const aroundBounds = fc.record({
  beforeMs: fc.integer({ min: -150, max: 250 }),
  agoMs: fc.oneof(fc.constant(null), fc.constantFrom(-1, 0, 1, 50, 2 * MINUTE_MS), fc.integer({ min: 0, max: DAY_MS })),
  specs: fc.uniqueArray(fc.constantFrom('alltime', 'daily', 'weekly', 'season'), { minLength: 1 }),
  season: fc.constantFrom('starts', 'freezes', 'ends', 'ends its grace'),
  graceSeconds: fc.constantFrom(0, 60),
  named: fc.constantFrom(null, null, null, 'alltime', 'season:s1'),
});

describe('a submission that is placed ahead', () => {
  const MIDNIGHT_MS = ms('2026-11-23T00:00Z');
  const SHIFTS = { starts: 0, freezes: DAY_MS, ends: 2 * DAY_MS, 'ends its grace': 2 * DAY_MS + MINUTE_MS };

  it('goes the way that it goes by any time until then, or is not placed', async () => {
    let placed = 0;
    await fc.assert(
      fc.asyncProperty(aroundBounds, async ({ beforeMs, agoMs, specs, season, graceSeconds, named }) => {
        const startsAtMs = MIDNIGHT_MS - SHIFTS[season];
        const [startsAt, freezeAt, endsAt] = [0, 1, 2].map((days) => iso(startsAtMs + days * DAY_MS)) as [
          string,
          string,
          string,
        ];
        const windows = specs.map((spec): WindowSpec => {
          if (spec === 'season') return { season: 's1', startsAt, endsAt, freezeAt };
          return spec as 'daily';
        });
        const board = boardOf({ windows, graceSeconds, timeZone: 'UTC' });
        const fromMs = MIDNIGHT_MS - beforeMs;
        const untilMs = fromMs + 100;
        const made = new MadeWindows();
        for (const atMs of [fromMs, untilMs, fromMs - (agoMs ?? 0)]) await made.at(board, atMs);
        const write = runOf(board, { achievedAtMs: agoMs === null ? null : fromMs - agoMs, windowId: named });
        const ahead = placeAhead(write, { fromMs, untilMs }, made);
        if (ahead === null) return;
        placed += 1;
        expect(ahead).toMatchObject({ atMs: write.achievedAtMs ?? fromMs, nowMs: fromMs });
        const seenAt = (nowMs: number, { freezeAtMs, endsAtMs }: StoredWindow): boolean[] =>
          [freezeAtMs, endsAtMs].map((boundMs) => boundMs !== null && boundMs <= nowMs);
        for (const nowMs of [fromMs, fromMs + 1, fromMs + beforeMs - 1, fromMs + beforeMs, untilMs - 1]) {
          if (nowMs < fromMs || nowMs >= untilMs) continue;
          const later = await placeWrite(write, nowMs, made);
          expect(ahead.windows.map(({ id }) => id)).toEqual(later.windows.map(({ id }) => id));
          for (const window of ahead.windows) expect(seenAt(fromMs, window)).toEqual(seenAt(nowMs, window));
        }
      }),
      { numRuns: 2000 },
    );
    expect(placed).toBeGreaterThan(400);
  });

  it('is not placed where it is refused, or names a window that does not take it', async () => {
    const board = boardOf({ windows: ['alltime', 'daily'] });
    const made = new MadeWindows();
    await made.at(board, MIDNIGHT_MS);
    const times = { fromMs: MIDNIGHT_MS + 1, untilMs: MIDNIGHT_MS + 101 };
    const refusal = new LadderError('SUBMISSION_REJECTED', 'no');
    expect(placeAhead(runOf(board, {}), times, made)?.windows.map(({ id }) => id)).toEqual([
      'alltime',
      'daily:2026-11-23',
    ]);
    expect(placeAhead(runOf(board, { refusal }), times, made)).toBeNull();
    expect(placeAhead(runOf(board, { windowId: 'daily:2026-11-22' }), times, made)).toBeNull();
    const [startsAt, endsAt] = [iso(MIDNIGHT_MS + 50), iso(MIDNIGHT_MS + DAY_MS)];
    const seasonal = boardOf({ windows: ['alltime', { season: 's1', startsAt, endsAt }] });
    await made.at(seasonal, MIDNIGHT_MS + 60);
    expect(placeAhead(runOf(seasonal, {}), times, made)).toBeNull();
    const rolling = boardOf({ windows: ['alltime', { rolling: '24h' }] });
    await made.at(rolling, MIDNIGHT_MS);
    expect(placeAhead(runOf(rolling, {}), times, made)).toBeNull();
    expect(placeAhead(runOf(board, {}), { fromMs: MIDNIGHT_MS - 150, untilMs: MIDNIGHT_MS - 50 }, made)).toBeNull();
  });
});
