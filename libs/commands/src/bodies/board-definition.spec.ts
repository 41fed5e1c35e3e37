import { LadderError, type Fault } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { parseBoardDefinition } from './board-definition.js';

const BOARD = { order: 'desc', operator: 'best' };

const season = (more: object): object => ({
  season: 's1',
  startsAt: '2026-01-01T00:00:00Z',
  endsAt: '2026-12-01T00:00:00Z',
  ...more,
});

function faultsOfBody(body: unknown, boardId?: string): Fault[] {
  try {
    parseBoardDefinition(body, boardId);
    return [];
  } catch (error) {
    expect((error as LadderError).code).toBe('VALIDATION_FAILED');
    return (error as LadderError).extensions['errors'] as Fault[];
  }
}

describe('a board definition', () => {
  it.each<[string, object, Fault]>([
    ['a missing number', { sharding: { by: 'hash' } }, { pointer: '/sharding/count', message: 'is required' }],
    ['text for a number', { graceSeconds: '1' }, { pointer: '/graceSeconds', message: 'must be an integer' }],
    ['half a number', { graceSeconds: 0.5 }, { pointer: '/graceSeconds', message: 'must be an integer' }],
    ['a number for text', { title: 1 }, { pointer: '/title', message: 'must be a string' }],
    ['text for a list', { windows: 'daily' }, { pointer: '/windows', message: 'must be an array' }],
    ['text for columns', { columns: 'moves' }, { pointer: '/columns', message: 'must be an array' }],
    ['a list for an object', { push: [] }, { pointer: '/push', message: 'must be an object' }],
    ['text for yes', { clientTime: 'yes' }, { pointer: '/clientTime', message: 'must be true or false' }],
    [
      'an infinite limit',
      { limits: { scoreMax: 1 / 0 } },
      { pointer: '/limits/scoreMax', message: 'must be a finite number' },
    ],
    ['a list in a list', { columns: [[]] }, { pointer: '/columns', message: 'each value must be an object' }],
    ['an unknown field', { push: { every: 1 } }, { pointer: '/push/every', message: 'is not a known field' }],
  ])('with %s has one fault, that of its type', (_name, option, fault) => {
    expect(faultsOfBody({ ...BOARD, ...option })).toEqual([fault]);
  });

  it('of the right types is told its bounds', () => {
    expect(faultsOfBody({ ...BOARD, sharding: { by: 'hash', count: 65 } })).toEqual([
      { pointer: '/sharding/count', message: 'must not be greater than 64' },
    ]);
    expect(faultsOfBody({ ...BOARD, snapshot: { keepEveryMinutes: 0 }, retention: { standingsDays: 0 } })).toEqual([
      { pointer: '/snapshot/keepEveryMinutes', message: 'must not be less than 1' },
      { pointer: '/retention/standingsDays', message: 'must not be less than 1' },
    ]);
  });

  it.each<[string, object, Fault[]]>([
    ['counted ones', { by: 'hash', count: 4 }, []],
    ['boundaries', { by: 'range', boundaries: [-1.5, 0, 2 ** 53] }, []],
    ['neither', { by: 'range' }, [{ pointer: '/sharding/boundaries', message: 'is required' }]],
    [
      'both',
      { by: 'range', boundaries: [1], count: 2 },
      [{ pointer: '/sharding/count', message: 'does not go with "range"' }],
    ],
    [
      'boundaries that do not ascend',
      { by: 'range', boundaries: [1, 2, 2] },
      [{ pointer: '/sharding/boundaries', message: 'must ascend, each greater than the one before' }],
    ],
    [
      'the same boundary with another sign',
      { by: 'range', boundaries: [-0, 0] },
      [{ pointer: '/sharding/boundaries', message: 'must ascend, each greater than the one before' }],
    ],
    [
      'no boundary',
      { by: 'range', boundaries: [] },
      [{ pointer: '/sharding/boundaries', message: 'must contain at least 1 elements' }],
    ],
    [
      'more boundaries than shards can have',
      { by: 'range', boundaries: Array.from({ length: 64 }, (_, at) => at) },
      [{ pointer: '/sharding/boundaries', message: 'must contain no more than 63 elements' }],
    ],
    [
      'a boundary that is no number',
      { by: 'range', boundaries: [1 / 0] },
      [{ pointer: '/sharding/boundaries', message: 'each value must be a finite number' }],
    ],
  ])('whose shards have %s is told so', (_what, sharding, faults) => {
    expect(faultsOfBody({ ...BOARD, sharding })).toEqual(faults);
  });

  it.each<[string, unknown, string, RegExp]>([
    ['an unknown window', 'hourly', '', /^must be one of "alltime", "daily"/],
    ['a window that is a number', 7, '', /^must be one of/],
    ['a season without an end', { season: 's', startsAt: '2026-01-01T00:00:00Z' }, '/endsAt', /^is required$/],
    ['a season with a bad id', season({ season: 'S 1' }), '/season', /./],
    ['a season that ends before it starts', season({ endsAt: '2025-01-01T00:00:00Z' }), '/endsAt', /after startsAt/],
    ['a freeze outside the season', season({ freezeAt: '2027-01-01T00:00:00Z' }), '/freezeAt', /before endsAt/],
    ['a season in words', season({ startsAt: 'tomorrow' }), '/startsAt', /RFC 3339/],
    ['rolling days', { rolling: '7d' }, '/rolling', /whole hours/],
    ['half a cron', { cron: '0 18 *' }, '/cron', /./],
    ['a field too many', { rolling: '24h', every: 1 }, '/every', /^is not a known field$/],
  ])('with %s is told where', (_name, window, pointer, message) => {
    const [fault] = faultsOfBody({ ...BOARD, windows: ['alltime', window] });
    expect(fault!.pointer).toBe(`/windows/1${pointer}`);
    expect(fault!.message).toMatch(message);
  });

  it('has each window once, and at most one cron', () => {
    expect(faultsOfBody({ ...BOARD, windows: ['daily', 'alltime', 'daily'] })).toEqual([
      { pointer: '/windows/2', message: 'the window "daily" is there twice' },
    ]);
    expect(faultsOfBody({ ...BOARD, windows: [{ cron: '0 0 * * *' }, { cron: '0 1 * * *' }] })[0]!.pointer).toBe(
      '/windows/1',
    );
  });

  it.each<[string, unknown[], string]>([
    ['without global', ['region'], '/scopes'],
    ['an unknown one', ['global', 'country'], '/scopes/1'],
    ['an attribute of a reserved name', ['global', { attribute: 'guild' }], '/scopes/1/attribute'],
    ['one twice', ['global', 'region', 'region'], '/scopes/2'],
  ])('with scopes that cannot be is told where: %s', (_name, scopes, pointer) => {
    expect(faultsOfBody({ ...BOARD, scopes }).map((fault) => fault.pointer)).toEqual([pointer]);
  });

  it('bounds its limits, and keeps every entry of a sum board', () => {
    const limits = { entriesMax: 1, attemptsMax: 1, entryLifetimeSeconds: 60 };
    expect(parseBoardDefinition({ ...BOARD, limits }).limits).toMatchObject(limits);
    const pointersOf = (some: object, operator = 'best'): string[] =>
      faultsOfBody({ ...BOARD, operator, limits: some }).map(({ pointer }) => pointer);
    for (const [name, least] of Object.entries(limits)) {
      expect(pointersOf({ [name]: least - 1 })).toEqual([`/limits/${name}`]);
      expect(pointersOf({ [name]: 1e12 })).toEqual([`/limits/${name}`]);
    }
    expect(pointersOf({ entriesMax: 5 }, 'sum')).toEqual(['/limits/entriesMax']);
    expect(pointersOf({ entriesMax: null, attemptsMax: 2, entryLifetimeSeconds: 60 }, 'sum')).toEqual([]);
  });

  it('bounds columns by whatever names they have', () => {
    const names = ['constructor', 'toString', 'moves'];
    const columns = names.map((name) => ({ name, order: 'asc' }));
    const bounds = { constructor: { min: 0, max: 5 }, toString: { min: 1, max: null }, moves: { min: null, max: 3 } };
    expect(parseBoardDefinition({ ...BOARD, columns, limits: { columns: bounds } }).limits.columns).toEqual(bounds);
    const odd = { constructor: { min: 'a' }, valueOf: {} };
    expect(faultsOfBody({ ...BOARD, columns, limits: { columns: odd } })).toEqual([
      { pointer: '/limits/columns/constructor/min', message: 'must be a finite number' },
    ]);
    expect(faultsOfBody({ ...BOARD, columns, limits: { columns: { valueOf: {} } } })).toEqual([
      { pointer: '/limits/columns/valueOf', message: 'is no column of this board' },
    ]);
    for (const body of [
      { push: { columns: odd } },
      { limits: { columns: { columns: odd } } },
      { limits: { a: odd } },
    ]) {
      expect(faultsOfBody({ ...BOARD, ...body })[0]!.message).toBe('is not a known field');
    }
  });

  it('is told of a zone that does not exist, and of a k that does not belong', () => {
    expect(faultsOfBody({ ...BOARD, timeZone: 'Europe/Atlantis' }).map(({ pointer }) => pointer)).toEqual([
      '/timeZone',
    ]);
    for (const guildAggregate of [{ kind: 'top' }, { kind: 'sum', k: 3 }]) {
      const told = faultsOfBody({ ...BOARD, guildAggregate });
      expect(told.map(({ pointer }) => pointer)).toEqual(['/guildAggregate/k']);
    }
  });

  it('records a history only where it is asked to, an hour at a time and for 90 days unless it says so', () => {
    expect(parseBoardDefinition(BOARD)).toMatchObject({ history: null, change: false });
    const history = { everyMinutes: 60, keepDays: 90 };
    expect(parseBoardDefinition({ ...BOARD, history: {} })).toMatchObject({ history });
    for (const given of [{ everyMinutes: 0 }, { everyMinutes: 1441 }, { keepDays: 0 }, { keepDays: 3651 }]) {
      expect(faultsOfBody({ ...BOARD, history: given }).map(({ pointer }) => pointer)).toEqual([
        `/history/${Object.keys(given)[0]!}`,
      ]);
    }
    expect(faultsOfBody({ ...BOARD, change: 'yes' })).toEqual([
      { pointer: '/change', message: 'must be true or false' },
    ]);
  });

  it('names in its faults nothing twice, whatever a field is called', () => {
    expect(faultsOfBody({ operator: 'best' })).toEqual([{ pointer: '/order', message: 'is required' }]);
    expect(faultsOfBody({ ...BOARD, order: 'up' })).toEqual([
      { pointer: '/order', message: 'must be one of the following values: asc, desc' },
    ]);
  });

  it('may carry the id of its board, and no other', () => {
    const definition = parseBoardDefinition(BOARD, 'blitz');
    expect(parseBoardDefinition({ id: 'blitz', ...BOARD }, 'blitz')).toEqual(definition);
    expect(definition).not.toHaveProperty('id');
    for (const [id, boardId] of [
      ['other', 'blitz'],
      ['blitz', undefined],
    ] as const) {
      const told = faultsOfBody({ id, ...BOARD }, boardId);
      expect(told.map(({ pointer }) => pointer)).toEqual(['/id']);
    }
  });

  it('that was read can be put again', () => {
    const windows = [
      'alltime',
      'monthly',
      season({ freezeAt: '2026-11-01T00:00:00Z' }),
      { rolling: '24h' },
      { cron: '0 18 * * 5' },
    ];
    const scopes = ['global', 'region', 'guild', { attribute: 'country' }];
    const options = {
      windows,
      scopes,
      timeZone: 'Asia/Kathmandu',
      snapshot: { keepEveryMinutes: 5 },
      limits: { scoreMin: 0 },
      history: { everyMinutes: 5, keepDays: 30 },
      change: true,
    };
    const definition = parseBoardDefinition({ ...BOARD, ...options }, 'blitz');
    expect(definition).toMatchObject(options);
    expect(parseBoardDefinition({ id: 'blitz', ...definition }, 'blitz')).toEqual(definition);
  });

  const KEEPS_RUNS = { ...BOARD, runs: { keepDays: 90 } };

  it('examines runs by rules with defaults where it says which', () => {
    expect(parseBoardDefinition(KEEPS_RUNS).integrity).toBeNull();
    const integrity = { jump: {}, rate: { runs: 5 }, cluster: null, rules: ['replay-hash'] };
    expect(parseBoardDefinition({ ...KEEPS_RUNS, integrity }).integrity).toEqual({
      jump: { factor: 6, runsMin: 5 },
      rate: { runs: 5, seconds: 60 },
      cluster: null,
      rules: ['replay-hash'],
      holdAbove: null,
    });
  });

  it('that examines runs keeps them', () => {
    expect(() => parseBoardDefinition({ ...BOARD, integrity: { rate: {} } })).toThrow('RUNS_NOT_KEPT');
  });

  it.each<[object, Fault]>([
    [{ jump: { factor: 1.9 } }, { pointer: '/integrity/jump/factor', message: 'must not be less than 2' }],
    [{ jump: { factor: 1001 } }, { pointer: '/integrity/jump/factor', message: 'must not be greater than 1000' }],
    [{ jump: { runsMin: 2 } }, { pointer: '/integrity/jump/runsMin', message: 'must not be less than 3' }],
    [{ jump: { runsMin: 51 } }, { pointer: '/integrity/jump/runsMin', message: 'must not be greater than 50' }],
    [{ rate: { runs: 1 } }, { pointer: '/integrity/rate/runs', message: 'must not be less than 2' }],
    [{ rate: { runs: 10_001 } }, { pointer: '/integrity/rate/runs', message: 'must not be greater than 10000' }],
    [{ rate: { seconds: 0 } }, { pointer: '/integrity/rate/seconds', message: 'must not be less than 1' }],
    [{ rate: { seconds: 3601 } }, { pointer: '/integrity/rate/seconds', message: 'must not be greater than 3600' }],
    [{ cluster: { players: 2 } }, { pointer: '/integrity/cluster/players', message: 'must not be less than 3' }],
    [
      { cluster: { minutes: 1441 } },
      { pointer: '/integrity/cluster/minutes', message: 'must not be greater than 1440' },
    ],
    [{ holdAbove: '5' }, { pointer: '/integrity/holdAbove', message: 'must be a finite number' }],
    [{ speed: {} }, { pointer: '/integrity/speed', message: 'is not a known field' }],
    [
      { rules: ['Replay hash'] },
      { pointer: '/integrity/rules', message: 'must be names of rules: 1-32 lower-case letters, digits or "-"' },
    ],
  ])('examines nothing by %j', (integrity, fault) => {
    expect(faultsOfBody({ ...KEEPS_RUNS, integrity })).toEqual([fault]);
  });

  it('of increments has no jumps', () => {
    const body = { ...KEEPS_RUNS, operator: 'sum', integrity: { jump: {} } };
    expect(faultsOfBody(body)).toMatchObject([{ pointer: '/integrity/jump' }]);
    expect(faultsOfBody({ ...body, integrity: { rate: {}, cluster: {} } })).toEqual([]);
  });
});

describe('an option of the contract that is not built', () => {
  it.each<[option: string, more: object]>([
    ['archive', { archive: { sink: 'default' } }],
    ['participation', { participation: { join: 'open' } }],
    ['cohorts', { cohorts: { window: 'weekly', size: 30 } }],
    ['league', { league: { tiers: [] } }],
    ['tiers', { tiers: { by: 'score', steps: [] } }],
    ['rewards', { rewards: [] }],
    ['tags', { tags: ['cup'] }],
    ['windows.durationSeconds', { windows: ['alltime', { cron: '0 12 * * *', durationSeconds: 3600 }] }],
  ])('is refused by its name: %s', (option, more) => {
    const parse = (): unknown => parseBoardDefinition({ ...BOARD, ...more });
    expect(parse).toThrow(expect.objectContaining({ code: 'NOT_SUPPORTED', extensions: { option } }) as Error);
  });

  it('may be null, which asks for nothing', () => {
    expect(faultsOfBody({ ...BOARD, archive: null, rewards: null })).toEqual([]);
  });
});
