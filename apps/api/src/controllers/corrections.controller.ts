import {
  CorrectGamesCommand,
  parseBody,
  parseGameResult,
  parseTimestamp,
  recordedPlayer,
  type CorrectionAnswer,
} from '@laddercast/commands';
import { validationFailed } from '@laddercast/domain';
import { assertAdmin, type Identity } from '@laddercast/identity';
import { CurrentIdentity, QueryPipe } from '@laddercast/leaderboard';
import type { AskedCorrection } from '@laddercast/ledger';
import { Body, Controller, Delete, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { GameVoidBody, VoidsBody } from '../http/bodies.js';
import { DryRunParameters, isDryRun } from '../http/parameters.js';
import { NamedIdPipe, OpaqueIdPipe } from '../http/path-parameters.js';

/** Games of a pool that should not have counted, or not so. */
@Controller('v1/pools/:pool')
export class CorrectionsController {
  constructor(private readonly commands: CommandBus) {}

  @Delete('games/:game')
  @ApiOperation({ operationId: 'voidGame' })
  voidGame(
    @Param('pool', NamedIdPipe) poolId: string,
    @Param('game', OpaqueIdPipe) gameId: string,
    @Query(QueryPipe) asked: DryRunParameters,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
  ): Promise<CorrectionAnswer> {
    assertAdmin(identity);
    const { reason, mode } = parseBody(GameVoidBody, body);
    const selection = { gameIds: [gameId], playerId: null, fromMs: null, toMs: null };
    return this.correct(identity, poolId, { selection, mode: mode ?? null, reason }, asked);
  }

  @Post('voids')
  @ApiOperation({ operationId: 'voidGames' })
  @HttpCode(200)
  voidGames(
    @Param('pool', NamedIdPipe) poolId: string,
    @Query(QueryPipe) asked: DryRunParameters,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
  ): Promise<CorrectionAnswer> {
    assertAdmin(identity);
    const { reason, mode, playerId, from, to, gameIds } = parseBody(VoidsBody, body);
    if (playerId === undefined && from === undefined && to === undefined && gameIds === undefined) {
      throw validationFailed([{ pointer: '', message: 'must say which games: playerId, from, to or gameIds' }]);
    }
    const selection = {
      ...{ gameIds: gameIds ?? null, playerId: playerId ?? null },
      fromMs: from === undefined ? null : parseTimestamp(from),
      toMs: to === undefined ? null : parseTimestamp(to),
    };
    return this.correct(identity, poolId, { selection, mode: mode ?? null, reason }, asked);
  }

  @Put('games/:game/result')
  @ApiOperation({ operationId: 'correctGame' })
  correctGame(
    @Param('pool', NamedIdPipe) poolId: string,
    @Param('game', OpaqueIdPipe) gameId: string,
    @Query(QueryPipe) asked: DryRunParameters,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
  ): Promise<CorrectionAnswer> {
    assertAdmin(identity);
    const { players, reason } = parseGameResult(body);
    return this.correct(identity, poolId, { gameId, players: players.map(recordedPlayer), reason }, asked);
  }

  private correct(
    identity: Identity,
    poolId: string,
    correction: AskedCorrection,
    asked: DryRunParameters,
  ): Promise<CorrectionAnswer> {
    return this.commands.execute(new CorrectGamesCommand(identity, poolId, correction, isDryRun(asked)));
  }
}
