// Real: Redis or Valkey, the score saga and the command bus with the projection's handlers. Boards, windows and the lane's
// mark are the test's own.
import {
  GLOBAL_SCOPE,
  GUILDS_SCOPE,
  LadderError,
  withBoardDefaults,
  type Board,
  type EntryChange,
  type EntryChanged,
  firstLayouts,
} from '@laddercast/domain';
import type { LogRecord } from '@laddercast/event-log';
import { BoardCatalog, LedgerClock, WindowCatalog } from '@laddercast/ledger';
import {
  AppliedSessions,
  ApplyEntriesHandler,
  CommittedPositions,
  MarkLaneCommand,
  RankProjection,
  rankListOf,
  RedisConnection,
  RedisRankProjection,
  type RankList,
} from '@laddercast/projections';
import { ScoreSaga } from '@laddercast/sagas';
import {
  clockOfThisProcess,
  emptyTestRedis,
  expectedRows,
  seedOfRun,
  SortedArrayOracle,
  type OracleValues,
} from '@laddercast/testing';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CommandHandler, CqrsModule, type ICommandHandler } from '@nestjs/cqrs';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const SCOPES = [16, 17, 18, 19];
const PLAYERS = ['ada', 'bob', 'cy', 'dee', 'eve'];
const DAY_MS = 86_400_000;
const definition = withBoardDefaults({
  order: 'desc',
  operator: 'best',
  columns: [{ name: 'moves', order: 'asc' }],
  sharding: { count: 2 },
  graceSeconds: 60,
  keepEndedSeconds: 3600,
});
const board: Board = {
  uid: 7,
  id: 'there',
  revision: 1,
  definitionRevision: 1,
  windowsSinceMs: {},
  definition,
  layouts: firstLayouts(definition),
};

/** Counts what it is asked to apply, and refuses to take entries out, as long as it is told to. */
class StubbornProjection extends RedisRankProjection {
  refusesRemovals = false;
  applies = 0;

  override async apply(...given: Parameters<RedisRankProjection['apply']>): Promise<number> {
    this.applies += 1;
    if (this.refusesRemovals && given[2].some(({ key }) => key === null)) {
      throw new LadderError('PROJECTION_UNAVAILABLE', 'Redis went away.');
    }
    return super.apply(...given);
  }
}

/** One new state of a player's entry: what the ledger would write of it. */
interface Step {
  playerId: string;
  values: Omit<OracleValues, 'playerId'> | null;
  scopes: number[];
}

const endsAtMs = new Map<number, number>();
const marked: number[] = [];
let redis: RedisConnection;
let plain: Redis;
let projection: StubbornProjection;
let app: INestApplicationContext;
let saga: ScoreSaga;
let windowUid = 0;

beforeAll(async () => {
  const url = await emptyTestRedis();
  plain = new Redis(url);
  redis = new RedisConnection({ url, commandTimeoutMs: 10_000 });
  await redis.connect();
  projection = new StubbornProjection(redis);

  @CommandHandler(MarkLaneCommand)
  class RecordingMark implements ICommandHandler<MarkLaneCommand> {
    async execute({ position }: MarkLaneCommand): Promise<void> {
      marked.push(position);
    }
  }

  @Module({
    imports: [CqrsModule.forRoot()],
    controllers: [ScoreSaga],
    providers: [
      AppliedSessions,
      ApplyEntriesHandler,
      RecordingMark,
      { provide: RankProjection, useFactory: () => projection },
      { provide: CommittedPositions, useValue: { drawn: async () => Number.MAX_SAFE_INTEGER } },
      { provide: BoardCatalog, useValue: { refresh: async () => undefined, byUid: async () => board } },
      { provide: LedgerClock, useValue: clockOfThisProcess() },
      { provide: WindowCatalog, useValue: { byUid: async (uid: number) => ({ endsAtMs: endsAtMs.get(uid) ?? null }) } },
    ],
  })
  class ScoreModule {}
  app = await NestFactory.createApplicationContext(ScoreModule, { logger: false });
  saga = app.get(ScoreSaga);
});

afterAll(async () => {
  await app?.close();
  plain?.disconnect();
  await redis?.close();
});

beforeEach(() => {
  windowUid += 1;
  marked.length = 0;
  projection.refusesRemovals = false;
  projection.applies = 0;
});

const listOf = (scope: number): RankList => rankListOf(board, windowUid, scope);
const recordOf = (event: EntryChanged): LogRecord => ({
  topic: 'entry-changed',
  lane: 0,
  position: event.version,
  writtenAtMs: event.version,
  key: event.playerId,
  event,
});
const project = (events: readonly EntryChanged[]): Promise<void> =>
  saga.project({ lane: 0, records: events.map(recordOf) });

const eventOf = (playerId: string, version: number, change: Partial<EntryChange>): EntryChanged => ({
  type: 'entry-changed',
  boardUid: board.uid,
  playerId,
  version,
  changes: [
    { windowUid, keepUntilMs: null, entry: { score: version, columns: [1], achievedAtMs: 1000 + version }, ...change },
  ],
});

/** What the ledger writes into the log: a removal goes to where the entry was, and a new state out of what it left. */
function eventsOf(history: readonly Step[]): EntryChanged[] {
  const scopesOf = new Map<string, number[]>();
  return history.map(({ playerId, values, scopes: given }, at) => {
    const before = scopesOf.get(playerId) ?? [];
    const scopes = values === null ? before : given;
    scopesOf.set(playerId, scopes);
    const leftScopes = before.filter((scope) => !scopes.includes(scope));
    return eventOf(playerId, at + 1, {
      entry: values,
      ...(scopes.length > 0 && { scopes }),
      ...(leftScopes.length > 0 && { leftScopes }),
    });
  });
}

/** A list as the newest state of each player says. */
function oracleOf(scope: number, history: readonly Step[]): SortedArrayOracle {
  const oracle = new SortedArrayOracle(board.definition);
  for (const [at, { playerId, values, scopes }] of history.entries()) {
    const ranks = scope === GLOBAL_SCOPE || scopes.includes(scope);
    oracle.apply(playerId, at + 1, ranks ? values : null);
  }
  return oracle;
}

async function expectLists(history: readonly Step[]): Promise<void> {
  for (const scope of [GLOBAL_SCOPE, ...SCOPES]) {
    const { entries } = await projection.page(listOf(scope), 0, 100, 'ordinal');
    expect(entries).toEqual(expectedRows(listOf(scope), oracleOf(scope, history), 0, 100, 'ordinal'));
  }
}

const playersIn = async (scope: number): Promise<string[]> =>
  (await projection.page(listOf(scope), 0, 100, 'ordinal')).entries.map(({ playerId }) => playerId);

const anyStep: fc.Arbitrary<Step> = fc.record({
  playerId: fc.constantFrom(...PLAYERS),
  values: fc.option(
    fc.record({
      score: fc.integer({ min: 0, max: 3 }),
      columns: fc.tuple(fc.integer({ min: 0, max: 2 })),
      achievedAtMs: fc.integer({ min: 1000, max: 1003 }),
    }),
    { freq: 5 },
  ),
  scopes: fc.subarray(SCOPES),
});

/** A history, its events in any order, some of them twice, cut into batches. */
const anyDelivery = fc.array(anyStep, { minLength: 1, maxLength: 40 }).chain((history) => {
  const twice = [...eventsOf(history), ...eventsOf(history)];
  return fc.record({
    history: fc.constant(history),
    order: fc.shuffledSubarray(
      twice.map((_, at) => at),
      { minLength: twice.length },
    ),
    batchSize: fc.integer({ min: 1, max: 20 }),
  });
});

describe('the lists of regions, attributes and guilds', () => {
  it('hold exactly the entries whose newest version says so, whatever comes again or in another order', () =>
    fc.assert(
      fc.asyncProperty(anyDelivery, async ({ history, order, batchSize }) => {
        windowUid += 1;
        const events = eventsOf(history);
        for (let from = 0; from < order.length; from += batchSize) {
          await project(order.slice(from, from + batchSize).map((at) => events[at % events.length]!));
        }
        await expectLists(history);
      }),
      { numRuns: 80, seed: seedOfRun() },
    ));

  it('are right after each event that comes in order', () =>
    fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 12 }), async (history) => {
        windowUid += 1;
        for (const [at, event] of eventsOf(history).entries()) {
          await project([event]);
          await expectLists(history.slice(0, at + 1));
        }
      }),
      { numRuns: 20, seed: seedOfRun() },
    ));

  it('get an entry that moves before the list that it left loses it', async () => {
    await project([eventOf('ada', 1, { scopes: [16] }), eventOf('bob', 2, { scopes: [17] })]);
    projection.refusesRemovals = true;
    const moves = [
      eventOf('ada', 3, { scopes: [17], leftScopes: [16] }),
      eventOf('bob', 4, { scopes: [16], leftScopes: [17] }),
    ];
    await expect(project(moves)).rejects.toMatchObject({ code: 'PROJECTION_UNAVAILABLE' });
    expect(await playersIn(16)).toEqual(['bob', 'ada']);
    expect(await playersIn(17)).toEqual(['ada', 'bob']);
    expect(marked).toEqual([2]);
    projection.refusesRemovals = false;
    await project(moves);
    expect(await playersIn(16)).toEqual(['bob']);
    expect(await playersIn(17)).toEqual(['ada']);
    expect(marked).toEqual([2, 4]);
  });

  it('rank guilds among guilds alone', async () => {
    const entry = { score: 12, columns: [], achievedAtMs: 2000 };
    await project([{ ...eventOf('red', 1, { entry }), isGuild: true }, eventOf('red', 2, { scopes: [16] })]);
    const { entries, total } = await projection.page(listOf(GUILDS_SCOPE), 0, 10, 'ordinal');
    expect(entries).toEqual([{ rank: 1, playerId: 'red', ...entry }]);
    expect(total).toBe(1);
    const everybody = await projection.page(listOf(GLOBAL_SCOPE), 0, 10, 'ordinal');
    expect(everybody.entries).toMatchObject([{ playerId: 'red', score: 2 }]);
    await project([{ ...eventOf('red', 3, { entry: null }), isGuild: true }]);
    expect(await playersIn(GUILDS_SCOPE)).toEqual([]);
    expect(await playersIn(GLOBAL_SCOPE)).toEqual(['red']);
  });
});

describe('the keys of windows', () => {
  const keysOf = (): Promise<string[]> => plain.keys(`{${board.uid}.${windowUid}.*`);

  it('are never made again once their time is over', async () => {
    // By more than the clock of a process that asks nobody is unsure of.
    const over = Date.now() - 1000;
    endsAtMs.set(windowUid, over - 3_600_000);
    const guild = { ...eventOf('red', 2, { keepUntilMs: over }), isGuild: true as const };
    await project([eventOf('ada', 1, { keepUntilMs: over, scopes: [16], leftScopes: [17] }), guild]);
    expect(await keysOf()).toEqual([]);
    expect(projection.applies).toBe(0);
    expect(marked).toEqual([2]);
  });

  it('live as long as the window ends now, where an event is from before its end was moved', async () => {
    // By more than the clock of a process that asks nobody is unsure of.
    const over = Date.now() - 1000;
    endsAtMs.set(windowUid, Date.now() + DAY_MS);
    await project([eventOf('ada', 1, { keepUntilMs: over, scopes: [16] })]);
    expect(await playersIn(16)).toEqual(['ada']);
    const keys = await keysOf();
    expect(keys.length).toBeGreaterThan(5);
    for (const key of keys) expect(await plain.pexpiretime(key)).toBe(endsAtMs.get(windowUid)! + 3_600_000);
  });

  it('live as long as the latest event says, where the window is known as it was', async () => {
    const now = Date.now();
    endsAtMs.set(windowUid, now + 1000);
    const later = now + 30 * DAY_MS;
    await project([
      eventOf('ada', 1, { keepUntilMs: now + DAY_MS, scopes: [16] }),
      eventOf('bob', 2, { keepUntilMs: later, scopes: [16] }),
    ]);
    for (const key of await plain.keys(`{${board.uid}.${windowUid}.16.*`)) {
      expect(await plain.pexpiretime(key)).toBe(later);
    }
  });
});
