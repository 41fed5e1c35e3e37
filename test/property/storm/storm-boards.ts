import type { GivenBoard } from '@laddercast/domain';

export const PLAYERS = ['ada', 'Bob', 'cy', 'dan', 'eve', 'fin', 'gus', 'hal'];
export const GUILDS = ['red', 'blue', 'green'];
export const REGIONS = ['EU', 'US'];
/** A circle of every other player. */
export const CREW = 'crew';
export const SEASON = 'season:s1';

const KEPT = { runs: { keepDays: 30 }, graceSeconds: 0, push: { intervalMs: 100, top: 100 } } as const;
const SCOPES = ['global', 'region', 'guild'] as const;

/** Boards of each operator, between them every option that decides which runs count and where. */
export function boardsOf(startMs: number): Record<string, GivenBoard> {
  const at = (ms: number): string => new Date(ms).toISOString();
  const season = { season: 's1', startsAt: at(startMs - 3_600_000), endsAt: at(startMs + 300 * 86_400_000) };
  const keep = { kind: 'sum', k: null, onLeave: 'keep' } as const;
  return {
    totals: {
      ...{ order: 'desc', operator: 'sum', ...KEPT, scopes: [...SCOPES], submissionOperators: ['sum', 'set'] },
      ...{ windows: ['alltime', 'daily', season, { rolling: '3h' }], guildAggregate: keep },
      sharding: { by: 'hash', count: 2 },
    },
    bests: {
      ...{ order: 'desc', operator: 'best', ...KEPT, scopes: [...SCOPES], windows: ['alltime', 'daily', season] },
      ...{ columns: [{ name: 'moves', order: 'asc' }], guildAggregate: keep, dense: true },
      integrity: { holdAbove: 90, rate: { runs: 3, seconds: 3600 }, jump: { factor: 3, runsMin: 3 } },
    },
    checked: {
      ...{ order: 'asc', operator: 'latest', ...KEPT, scopes: [...SCOPES], windows: ['alltime', 'daily'] },
      ...{ counts: 'verified', guildAggregate: { kind: 'top', k: 2, onLeave: 'takeAway' } },
    },
    capped: {
      ...{
        order: 'desc',
        operator: 'best',
        ...KEPT,
        windows: ['alltime', 'daily'],
        limits: { entriesMax: 5, entryLifetimeSeconds: 5 * 3600 },
      },
      sharding: { by: 'range', boundaries: [30, 60] },
    },
  };
}
