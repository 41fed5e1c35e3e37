import {
  RebuildBoardsCommand,
  ReconcileBoardCommand,
  ReplayDeadLetterCommand,
  type ReplayedLetter,
} from '@laddercast/commands';
import { assertAdmin, type Identity } from '@laddercast/identity';
import { LadderError } from '@laddercast/domain';
import { DeadLetterStore } from '@laddercast/event-log';
import { CurrentIdentity, QueryPipe, TakesNothing } from '@laddercast/leaderboard';
import { BoardRebuilds, Reconciliations } from '@laddercast/ledger';
import { cutPage, ListResolver } from '@laddercast/queries';
import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { isRowNumber, numberOfCursor } from '../http/list-cursor.js';
import { DeadLettersParameters } from '../http/parameters.js';
import { NamedIdPipe } from '../http/path-parameters.js';
import {
  bodyOfLetter,
  bodyOfRebuild,
  bodyOfReconciliation,
  type DeadLetterBody,
  type RebuildBody,
  type ReconciliationBody,
} from './recovery-bodies.js';

const LETTERS_PAGE_DEFAULT = 50;
/** Ids below 2^53. */

/** What operators do when something went wrong. */
@Controller('v1/admin')
export class RecoveryController {
  constructor(
    private readonly commands: CommandBus,
    private readonly resolver: ListResolver,
    private readonly letters: DeadLetterStore,
    private readonly rebuilds: BoardRebuilds,
    private readonly reconciliations: Reconciliations,
  ) {}

  @Get('dead-letters')
  @ApiOperation({ operationId: 'listDeadLetters' })
  async listLetters(
    @Query(QueryPipe) { limit = LETTERS_PAGE_DEFAULT, cursor, group }: DeadLettersParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<{ deadLetters: DeadLetterBody[]; next: string | null }> {
    assertAdmin(identity);
    const letters = await this.letters.list(limit + 1, numberOfCursor(cursor), group ?? null);
    const { page, next } = cutPage(letters, limit, ({ id }) => String(id));
    return { deadLetters: page.map(bodyOfLetter), next };
  }

  @Post('dead-letters/:letter/replay')
  @ApiOperation({ operationId: 'replayDeadLetter' })
  @TakesNothing()
  @HttpCode(200)
  async replay(@Param('letter') letter: string, @CurrentIdentity() identity: Identity): Promise<ReplayedLetter> {
    assertAdmin(identity);
    if (!isRowNumber(letter)) throw new LadderError('DEAD_LETTER_NOT_FOUND', 'There is no dead letter with this id.');
    return this.commands.execute(new ReplayDeadLetterCommand(identity, Number(letter)));
  }

  @Post('rebuild')
  @ApiOperation({ operationId: 'rebuildBoards' })
  @TakesNothing()
  @HttpCode(202)
  async rebuild(@CurrentIdentity() identity: Identity): Promise<RebuildBody> {
    await this.commands.execute(new RebuildBoardsCommand(identity));
    return bodyOfRebuild(await this.rebuilds.progress());
  }

  @Get('rebuild')
  @ApiOperation({ operationId: 'getRebuild' })
  async rebuildProgress(@CurrentIdentity() identity: Identity): Promise<RebuildBody> {
    assertAdmin(identity);
    return bodyOfRebuild(await this.rebuilds.progress());
  }

  @Post('boards/:board/reconcile')
  @ApiOperation({ operationId: 'reconcileBoard' })
  @TakesNothing()
  @HttpCode(202)
  async reconcile(
    @Param('board', NamedIdPipe) boardId: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<ReconciliationBody> {
    return bodyOfReconciliation(boardId, await this.commands.execute(new ReconcileBoardCommand(identity, boardId)));
  }

  @Get('boards/:board/reconcile')
  @ApiOperation({ operationId: 'getReconciliation' })
  async reconciliation(
    @Param('board', NamedIdPipe) boardId: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<ReconciliationBody> {
    assertAdmin(identity);
    return bodyOfReconciliation(boardId, await this.reconciliations.of((await this.resolver.board(boardId)).uid));
  }
}
