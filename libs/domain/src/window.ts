/** The windows of this release. Seasons, cron and rolling windows are refused as NOT_SUPPORTED. */
export const WINDOW_KINDS = ['alltime', 'daily', 'weekly', 'monthly'] as const;
export type WindowKind = (typeof WINDOW_KINDS)[number];

/** One window in time: from `startsAtMs` to before `endsAtMs`, both Unix milliseconds; null means without bound. */
export interface WindowBounds {
  kind: WindowKind;
  /** `alltime`, `daily:2026-11-20`, `weekly:2026-W47`, `monthly:2026-11` */
  id: string;
  startsAtMs: number | null;
  endsAtMs: number | null;
}

/** A window that the ledger knows: its bounds were computed once and are stored under `uid`. */
export interface StoredWindow extends WindowBounds {
  uid: number;
}

const DAY_MS = 86_400_000;
/** 1970-01-01 was a Thursday: the Monday of its ISO week lies three days before. */
const EPOCH_ISO_WEEKDAY_OFFSET = 3;

const pad = (value: number, width: number): string => String(value).padStart(width, '0');

/** The window of a kind, in UTC, that holds the instant `atMs` (Unix ms). */
export function windowAt(kind: WindowKind, atMs: number): WindowBounds {
  const day = Math.floor(atMs / DAY_MS);
  const date = new Date(day * DAY_MS);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  switch (kind) {
    case 'alltime':
      return { kind, id: 'alltime', startsAtMs: null, endsAtMs: null };
    case 'daily':
      return {
        kind,
        id: `daily:${pad(year, 4)}-${pad(month + 1, 2)}-${pad(date.getUTCDate(), 2)}`,
        startsAtMs: day * DAY_MS,
        endsAtMs: (day + 1) * DAY_MS,
      };
    case 'weekly': {
      const monday = mondayOf(day);
      return { kind, id: isoWeekId(monday), startsAtMs: monday * DAY_MS, endsAtMs: (monday + 7) * DAY_MS };
    }
    case 'monthly':
      return {
        kind,
        id: `monthly:${pad(year, 4)}-${pad(month + 1, 2)}`,
        startsAtMs: Date.UTC(year, month, 1),
        endsAtMs: Date.UTC(year, month + 1, 1),
      };
  }
}

/** The Monday of a day's ISO week; both are days since 1970, which may be negative. */
const mondayOf = (day: number): number => day - ((((day + EPOCH_ISO_WEEKDAY_OFFSET) % 7) + 7) % 7);

/** ISO 8601: a week belongs to the year that holds its Thursday. */
function isoWeekId(monday: number): string {
  const year = new Date((monday + 3) * DAY_MS).getUTCFullYear();
  const fourthOfJanuary = Math.floor(Date.UTC(year, 0, 4) / DAY_MS);
  const firstMonday = mondayOf(fourthOfJanuary);
  return `weekly:${pad(year, 4)}-W${pad((monday - firstMonday) / 7 + 1, 2)}`;
}

/**
 * The bounds behind a full window id such as `weekly:2026-W47`, or null when the id names no real window
 * (`daily:2026-02-30`, `weekly:2026-W54`).
 */
export function parseWindowId(id: string): WindowBounds | null {
  if (id === 'alltime') return windowAt('alltime', 0);
  const match = /^(daily|weekly|monthly):(\d{4})-(?:W(\d{2})|(\d{2})(?:-(\d{2}))?)$/.exec(id);
  if (!match) return null;
  const [, kind, yearText, week, month, day] = match;
  const year = Number(yearText);
  const atMs = week
    ? Date.UTC(year, 0, 4) + (Number(week) - 1) * 7 * DAY_MS
    : Date.UTC(year, Number(month) - 1, Number(day ?? 1));
  if (!Number.isFinite(atMs)) return null;
  const window = windowAt(kind as WindowKind, atMs);
  // A day that does not exist rolls over into another window, whose id then differs.
  return window.id === id ? window : null;
}

/** Whether a full window id is of this kind. */
export function kindOfWindowId(id: string): WindowKind | null {
  const kind = id.split(':', 1)[0] as WindowKind;
  return WINDOW_KINDS.includes(kind) ? kind : null;
}

/** Whether a run may still enter the window at `nowMs`: it has not ended, or its grace is not over. */
export function isWindowOpen(window: WindowBounds, graceSeconds: number, nowMs: number): boolean {
  return window.endsAtMs === null || nowMs < window.endsAtMs + graceSeconds * 1000;
}
