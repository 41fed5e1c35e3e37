// Real: Nest's microservice around the sagas, the command bus, PostgreSQL with the log. The projection's command
// handlers are replaced by ones that write down what they get.
import { setTimeout as delay } from 'node:timers/promises';
import {
  encodeSortKey,
  LadderError,
  withBoardDefaults,
  type Board,
  type LadderEvent,
  firstLayouts,
} from '@laddercast/domain';
import { PostgresEventLog, type LogBatch, type LogRecord, type Topic } from '@laddercast/event-log';
import { BoardCatalog, Lanes, LedgerClock, PostgresDatabase, WindowCatalog } from '@laddercast/ledger';
import {
  AnnounceCommand,
  ApplyEntriesCommand,
  CommittedPositions,
  DropBoardCommand,
  KeepWindowsCommand,
  MarkLaneCommand,
} from '@laddercast/projections';
import {
  BoardSaga,
  ConsumesLog,
  PlayerSaga,
  SagaFailureFilter,
  SagaServer,
  ScoreSaga,
  WindowSaga,
} from '@laddercast/sagas';
import { clockOfThisProcess, createTestDatabase, OutboxWriter, type TestDatabase } from '@laddercast/testing';
import { Controller, Module, UseFilters, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CommandHandler, CqrsModule, type ICommandHandler } from '@nestjs/cqrs';
import type { MicroserviceOptions } from '@nestjs/microservices';
import { delay as later, of, tap, type Observable } from 'rxjs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const LANES = 2;
const BOARD_UID = 7;

let testDatabase: TestDatabase;
let database: PostgresDatabase;
let log: PostgresEventLog;
let writer: OutboxWriter;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = new PostgresDatabase({ url: testDatabase.url });
  await database.open({ migrate: true });
  writer = new OutboxWriter(database);
});

beforeEach(async () => {
  await database.query('TRUNCATE outbox, log_offsets, dead_letters');
  log = new PostgresEventLog(database, { lanes: new Lanes(LANES), log: () => undefined });
});

afterEach(() => log.close());

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

async function serve(module: Type<unknown>): Promise<{ close(): Promise<void> }> {
  const app = await NestFactory.createMicroservice<MicroserviceOptions>(module, {
    strategy: new SagaServer(log, null),
    logger: false,
  });
  await app.listen();
  return app;
}

const parked = (): Promise<{ position: number; cause: string }[]> =>
  database.query('SELECT position, cause FROM dead_letters ORDER BY position');
const playersOf = ({ records }: LogBatch): string[] => records.map(({ key }) => key);

describe('SagaServer', () => {
  it('gives a handler its batch again after a retriable error, and parks what fails by itself', async () => {
    const handled: string[] = [];
    let failuresLeft = 2;

    @Controller()
    @UseFilters(SagaFailureFilter)
    class FailingSaga {
      @ConsumesLog({ group: 'failing', topics: ['entry-changed'] })
      async handle(batch: LogBatch): Promise<void> {
        if ((failuresLeft -= 1) >= 0) throw new LadderError('PROJECTION_UNAVAILABLE', 'Redis is away.');
        if (playersOf(batch).includes('poison')) throw new RangeError('not this one');
        handled.push(...playersOf(batch));
      }
    }
    @Module({ controllers: [FailingSaga] })
    class FailingModule {}

    const positions = await writer.write(0, BOARD_UID, ['a', 'poison', 'b']);
    const app = await serve(FailingModule);
    await expect.poll(() => log.committed('failing', 0)).toBe(positions[2]);
    expect(handled).toEqual(['a', 'b']);
    const letters = await parked();
    expect(letters.map(({ position }) => position)).toEqual([positions[1]]);
    expect(letters[0]!.cause).toMatch(/RangeError: not this one/);
    await app.close();
  });

  it('commits only when the observable that a handler returned has completed', async () => {
    let completed = false;

    @Controller()
    @UseFilters(SagaFailureFilter)
    class SlowSaga {
      @ConsumesLog({ group: 'slow', topics: ['entry-changed'] })
      handle(): Observable<string> {
        return of('done').pipe(
          later(700),
          tap(() => (completed = true)),
        );
      }
    }
    @Module({ controllers: [SlowSaga] })
    class SlowModule {}

    const app = await serve(SlowModule);
    const [position] = await writer.write(0, BOARD_UID, ['a']);
    const committedAfterCompletion = async (): Promise<number> => {
      const committed = await log.committed('slow', 0);
      if (!completed && committed === position) throw new Error('committed before the handler was done');
      return committed;
    };
    await expect.poll(committedAfterCompletion, { interval: 10 }).toBe(position);
    await app.close();
  });

  it('finishes and commits the batch in hand when it is closed', async () => {
    const handled: string[] = [];
    let inHand = false;

    @Controller()
    @UseFilters(SagaFailureFilter)
    class ClosingSaga {
      @ConsumesLog({ group: 'closing', topics: ['entry-changed'] })
      async handle(batch: LogBatch): Promise<void> {
        inHand = true;
        await delay(500);
        handled.push(...playersOf(batch));
      }
    }
    @Module({ controllers: [ClosingSaga] })
    class ClosingModule {}

    const app = await serve(ClosingModule);
    const [position] = await writer.write(0, BOARD_UID, ['a']);
    await expect.poll(() => inHand, { interval: 10 }).toBe(true);
    await app.close();
    expect(handled).toEqual(['a']);
    expect(await log.committed('closing', 0)).toBe(position);
  });

  it('does not start with two sagas in one consumer group', async () => {
    @Controller()
    class TwinSagas {
      @ConsumesLog({ group: 'twin', topics: ['entry-changed'] })
      one(): void {}

      @ConsumesLog({ group: 'twin', topics: ['board-changed'] })
      two(): void {}
    }
    @Module({ controllers: [TwinSagas] })
    class TwinModule {}

    await expect(serve(TwinModule)).rejects.toThrow(/Two sagas are consumer group "twin"/);
  });

  it.each(['kafka-relay', 'in.scores', 'Team', 'team/news', ''])(
    'does not start with a saga of group "%s"',
    async (group) => {
      @Controller()
      class MisnamedSaga {
        @ConsumesLog({ group, topics: ['entry-changed'] })
        handle(): void {}
      }
      @Module({ controllers: [MisnamedSaga] })
      class MisnamedModule {}

      await expect(serve(MisnamedModule)).rejects.toThrow(/cannot be a saga's consumer group|is no saga's pattern/);
    },
  );
});

describe('ScoreSaga', () => {
  const definition = withBoardDefaults({ order: 'desc', operator: 'best', sharding: { count: 3 } });
  const board: Board = {
    uid: BOARD_UID,
    id: 'there',
    revision: 1,
    definitionRevision: 1,
    windowsSinceMs: {},
    definition,
    layouts: firstLayouts(definition),
  };
  const commands: (ApplyEntriesCommand | MarkLaneCommand)[] = [];
  let failuresLeft = 0;
  let looksForGone = 0;

  @CommandHandler(ApplyEntriesCommand)
  class RecordingApply implements ICommandHandler<ApplyEntriesCommand> {
    async execute(command: ApplyEntriesCommand): Promise<{ applied: number }> {
      await delay(20);
      if ((failuresLeft -= 1) >= 0) throw new LadderError('PROJECTION_UNAVAILABLE', 'Redis is away.');
      commands.push(command);
      return { applied: command.changes.length };
    }
  }

  @CommandHandler(MarkLaneCommand)
  class RecordingMark implements ICommandHandler<MarkLaneCommand> {
    async execute(command: MarkLaneCommand): Promise<void> {
      commands.push(command);
    }
  }

  @Module({
    imports: [CqrsModule.forRoot()],
    controllers: [ScoreSaga],
    providers: [
      RecordingApply,
      RecordingMark,
      { provide: LedgerClock, useValue: clockOfThisProcess() },
      { provide: WindowCatalog, useValue: { byUid: async () => undefined } },
      { provide: CommittedPositions, useValue: { drawn: async () => Number.MAX_SAFE_INTEGER } },
      {
        provide: BoardCatalog,
        useValue: {
          refresh: async () => undefined,
          byUid: async (uid: number) => {
            if (uid === BOARD_UID) return board;
            looksForGone += 1;
            return undefined;
          },
        },
      },
    ],
  })
  class ScoreModule {}

  beforeEach(() => {
    commands.length = 0;
    failuresLeft = 0;
    looksForGone = 0;
  });

  it('applies a batch shard by shard, passes over boards that are gone, and marks the lane last', async () => {
    const players = Array.from({ length: 40 }, (_, n) => `player-${n}`);
    const positions = await writer.write(1, BOARD_UID, players);
    const gone = await writer.write(1, 999, players);
    const app = await serve(ScoreModule);
    await expect.poll(() => log.committed('score', 1)).toBe(gone.at(-1));
    await app.close();
    const applies = commands.filter((command) => command instanceof ApplyEntriesCommand);
    expect(applies.map(({ shard }) => shard).sort()).toEqual([0, 1, 2]);
    expect(applies.every(({ list }) => list.boardUid === BOARD_UID && list.shards === 3)).toBe(true);
    const changes = applies.flatMap((command) => command.changes);
    expect(new Set(changes.map(({ version }) => version))).toEqual(new Set(positions));
    const one = changes.find(({ playerId }) => playerId === 'player-3')!;
    const values = { score: one.version, columns: [], achievedAtMs: 1_795_000_000_000 };
    expect(one.key).toEqual(encodeSortKey(board.definition, values, 'player-3'));
    expect(commands.at(-1)).toEqual(new MarkLaneCommand(1, gone.at(-1)!));
    expect(looksForGone).toBe(1);
  });

  it('marks nothing, and commits nothing, while a shard cannot be applied', async () => {
    failuresLeft = 3;
    const app = await serve(ScoreModule);
    const [position] = await writer.write(0, BOARD_UID, ['a']);
    await expect.poll(() => failuresLeft, { interval: 5 }).toBeLessThan(3);
    expect(commands).toEqual([]);
    expect(await log.committed('score', 0)).toBe(0);
    await expect.poll(() => log.committed('score', 0)).toBe(position);
    expect(commands.map((command) => command.constructor.name)).toEqual(['ApplyEntriesCommand', 'MarkLaneCommand']);
    expect(await parked()).toEqual([]);
    await app.close();
  });
});

describe('the sagas that tell and clear', () => {
  type Order = AnnounceCommand | DropBoardCommand | KeepWindowsCommand;
  const ordered: Order[] = [];

  const recorderOf = (Command: typeof AnnounceCommand | typeof DropBoardCommand | typeof KeepWindowsCommand) => {
    @CommandHandler(Command)
    class Recorder implements ICommandHandler<AnnounceCommand> {
      async execute(command: Order): Promise<void> {
        ordered.push(command);
      }
    }
    return Recorder;
  };

  @Module({
    imports: [CqrsModule.forRoot()],
    controllers: [BoardSaga, PlayerSaga, WindowSaga],
    providers: [recorderOf(AnnounceCommand), recorderOf(DropBoardCommand), recorderOf(KeepWindowsCommand)],
  })
  class TellingModule {}

  beforeEach(() => {
    ordered.length = 0;
  });

  const batchOf = (events: readonly LadderEvent[]): LogBatch => ({
    lane: 0,
    records: events.map((event, at): LogRecord => ({
      topic: event.type as Topic,
      lane: 0,
      position: at + 1,
      writtenAtMs: at + 1,
      key: 'key',
      event,
    })),
  });

  it('tell of players and guilds apart, each once a batch, and of every window that closed', async () => {
    const app = await NestFactory.createApplicationContext(TellingModule, { logger: false });
    const changed = (playerId: string, isGuild?: true): LadderEvent => ({
      type: 'player-changed',
      playerId,
      ...(isGuild && { isGuild }),
    });
    await app.get(PlayerSaga).tell(batchOf([changed('ada'), changed('red', true), changed('bob'), changed('ada')]));
    await app.get(PlayerSaga).tell(batchOf([changed('red', true)]));
    const closed = {
      type: 'window-closed',
      boardUid: 3,
      windowUid: 9,
      windowId: 'daily:2026-11-20',
      version: 1,
    } as const;
    await app.get(WindowSaga).tell(batchOf([closed, { ...closed, windowUid: 10 }]));
    await app.close();
    expect(ordered.map((command) => (command as AnnounceCommand).announcement)).toEqual([
      { kind: 'players', ids: ['ada', 'bob'], isGuild: false },
      { kind: 'players', ids: ['red'], isGuild: true },
      { kind: 'players', ids: ['red'], isGuild: true },
      { kind: 'window-closed', boardUid: 3, windowUid: 9 },
      { kind: 'window-closed', boardUid: 3, windowUid: 10 },
    ]);
  });

  it('drop boards that are gone, and keep the windows of the others, each board once a batch', async () => {
    const app = await NestFactory.createApplicationContext(TellingModule, { logger: false });
    const changed = (boardUid: number, boardId: string | null): LadderEvent => ({
      type: 'board-changed',
      boardUid,
      boardId,
      revision: 1,
    });
    await app.get(BoardSaga).follow(batchOf([changed(1, 'a'), changed(2, null), changed(3, 'c'), changed(1, 'a')]));
    await app.get(BoardSaga).follow(batchOf([changed(4, null)]));
    await app.close();
    expect(ordered).toEqual([new DropBoardCommand(2), new KeepWindowsCommand([1, 3]), new DropBoardCommand(4)]);
  });

  it('are consumer groups of their own', async () => {
    const [position] = await writer.write(0, BOARD_UID, ['a']);
    await writer.writeBoardChanged(0, 5);
    const app = await serve(TellingModule);
    await expect.poll(() => ordered).toEqual([new DropBoardCommand(5)]);
    for (const group of ['player', 'window', 'board']) {
      await expect.poll(() => log.committed(group, 0)).toBeGreaterThan(position!);
    }
    await app.close();
  });
});
