import { ActOnRunCommand, parseBody, type RunActKind, type RunActResult } from '@laddercast/commands';
import { validationFailed, type Fault } from '@laddercast/domain';
import { assertMayReadRuns, assertModerate, holdsScope, type Identity } from '@laddercast/identity';
import { CurrentIdentity, QueryPipe } from '@laddercast/leaderboard';
import { ListRunsQuery, type RunsPage, type WantedRuns } from '@laddercast/queries';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { RunVerificationBody } from '../http/bodies.js';
import { numberOfCursor } from '../http/list-cursor.js';
import { NamedIdPipe, OpaqueIdPipe, playerOf } from '../http/path-parameters.js';
import { PlayerRunsParameters, RunActParameters, RunOwnerParameters, RunsParameters } from '../http/run-parameters.js';
import { timeRangeOf } from '../http/time-range.js';

const PAGE_DEFAULT = 50;

/** Runs of boards that keep them: what was accepted, and what of it counts. */
@Controller('v1/boards/:board')
export class RunsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Get('runs')
  @ApiOperation({ operationId: 'listRuns' })
  list(
    @Param('board', NamedIdPipe) boardId: string,
    @Query(QueryPipe) { player, ...parameters }: RunsParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<RunsPage> {
    assertModerate(identity);
    const ofPlayer = player === undefined ? {} : { playerId: playerOf(player, identity, '?player') };
    return this.page(boardId, { ...wantedOf(parameters), ...ofPlayer }, parameters, identity);
  }

  @Get('players/:player/runs')
  @ApiOperation({ operationId: 'listRunsOfPlayer' })
  ofPlayer(
    @Param('board', NamedIdPipe) boardId: string,
    @Param('player') player: string,
    @Query(QueryPipe) parameters: PlayerRunsParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<RunsPage> {
    const playerId = playerOf(player, identity);
    assertMayReadRuns(identity, playerId);
    return this.page(boardId, { ...wantedOf(parameters), playerId }, parameters, identity);
  }

  @Delete('submissions/:submission')
  @ApiOperation({ operationId: 'voidRun' })
  void(
    @Param('board', NamedIdPipe) boardId: string,
    @Param('submission', OpaqueIdPipe) submissionId: string,
    @Query(QueryPipe) { player, reason }: RunActParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<RunActResult> {
    return this.act({ boardId, submissionId, player, act: 'void', reason }, identity);
  }

  @Post('submissions/:submission/restore')
  @ApiOperation({ operationId: 'restoreRun' })
  @HttpCode(200)
  restore(
    @Param('board', NamedIdPipe) boardId: string,
    @Param('submission', OpaqueIdPipe) submissionId: string,
    @Query(QueryPipe) { player, reason }: RunActParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<RunActResult> {
    return this.act({ boardId, submissionId, player, act: 'restore', reason }, identity);
  }

  @Put('submissions/:submission/verification')
  @ApiOperation({ operationId: 'verifyRun' })
  verify(
    @Param('board', NamedIdPipe) boardId: string,
    @Param('submission', OpaqueIdPipe) submissionId: string,
    @Query(QueryPipe) { player }: RunOwnerParameters,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
  ): Promise<RunActResult> {
    assertModerate(identity);
    const { verified, reason } = parseBody(RunVerificationBody, body);
    return this.act({ boardId, submissionId, player, act: verified ? 'verify' : 'unverify', reason }, identity);
  }

  private act(
    asked: { boardId: string; submissionId: string; player: string | undefined; act: RunActKind; reason: string },
    identity: Identity,
  ): Promise<RunActResult> {
    assertModerate(identity);
    const { boardId, submissionId, player, act, reason } = asked;
    const playerId = player === undefined ? null : playerOf(player, identity, '?player');
    return this.commands.execute(new ActOnRunCommand(identity, boardId, submissionId, playerId, { kind: act, reason }));
  }

  private page(
    boardId: string,
    wanted: WantedRuns,
    { limit = PAGE_DEFAULT, cursor }: { limit?: number; cursor?: string },
    identity: Identity,
  ): Promise<RunsPage> {
    const page = { limit, before: numberOfCursor(cursor) };
    return this.queries.execute(new ListRunsQuery(boardId, wanted, page, holdsScope(identity, 'moderate')));
  }
}

/** @throws VALIDATION_FAILED */
function wantedOf({ state, window, sourceId, ...times }: PlayerRunsParameters): WantedRuns {
  const faults: Fault[] = [];
  const { fromMs, toMs } = timeRangeOf(times, faults);
  if (faults.length > 0) throw validationFailed(faults);
  return {
    ...(state !== undefined && { state }),
    ...(window !== undefined && { windowName: window }),
    ...(sourceId !== undefined && { sourceId }),
    ...(fromMs !== null && { fromMs }),
    ...(toMs !== null && { toMs }),
  };
}
