import { CurrentIdentity, defineBoard, EntryEnricher, GetEntriesQuery } from '@laddercast/leaderboard';
import { LeaderboardModule, LogSaga, QueryBus, SubmissionCheck, TeamDatabase } from '@laddercast/leaderboard';
import type { Board, CheckedSubmission, CheckVerdict, Identity } from '@laddercast/leaderboard';
import type { MigrationRunner, SagaBatch } from '@laddercast/leaderboard';
import { Controller, Get, Injectable, Module } from '@nestjs/common';

const BOARD = 'trail';
const NOTE = `INSERT INTO runners VALUES ($1, 1, $2) ON CONFLICT (player) DO UPDATE
  SET changes = runners.changes + 1, position = $2 WHERE runners.position < $2`;

class MakeRunners1764100000000 {
  up(runner: MigrationRunner): Promise<unknown> {
    return runner.query('CREATE TABLE runners (player text PRIMARY KEY, changes int, position bigint)');
  }
}

@Injectable()
class NoBots extends SubmissionCheck {
  readonly boards = [BOARD];
  async check(_board: Board, { playerId }: CheckedSubmission): Promise<CheckVerdict> {
    return playerId.startsWith('bot-') ? { verdict: 'reject', reason: 'Bots do not run here.' } : { verdict: 'accept' };
  }
}

@Injectable()
class BibNames extends EntryEnricher {
  async decorate(playerIds: readonly string[]) {
    return new Map(playerIds.map((id) => [id, { displayName: `Runner ${id}` }]));
  }
}

@Injectable()
class RunnersSaga extends LogSaga<'entry-changed'> {
  readonly group = 'trail.runners';
  readonly topics = ['entry-changed'] as const;
  constructor(private readonly database: TeamDatabase) {
    super();
  }
  async handle({ events }: SagaBatch<'entry-changed'>): Promise<void> {
    for (const { board, playerId, position } of events) {
      if (board === BOARD && playerId !== undefined) await this.database.query(NOTE, [playerId, position]);
    }
  }
}

@Controller('trail')
class TrailController {
  constructor(private readonly queries: QueryBus) {}
  @Get('podium')
  async podium(@CurrentIdentity() caller: Identity) {
    const { entries } = await this.queries.execute(new GetEntriesQuery({ boardId: BOARD }, 0, 3));
    return { shownTo: caller.kind, podium: entries.map(({ displayName }) => displayName) };
  }
}

const feature = LeaderboardModule.forFeature({
  boards: [defineBoard({ id: BOARD, order: 'asc', operator: 'best', windows: ['alltime', 'daily'] })],
  extensions: [NoBots, BibNames, RunnersSaga],
  database: { schema: 'trail', migrations: [MakeRunners1764100000000] },
});

@Module({ imports: [feature], controllers: [TrailController] })
export class TrailModule {}
