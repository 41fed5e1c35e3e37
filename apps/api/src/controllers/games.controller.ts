import { gamesOfBatch, parseGame, RecordGamesCommand, type GameBody, type GameResult } from '@laddercast/commands';
import { assertScope, type Identity } from '@laddercast/identity';
import { LadderError, type Problem } from '@laddercast/domain';
import { CurrentIdentity, FailureLog } from '@laddercast/leaderboard';
import { Body, Controller, Headers, HttpCode, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { waitSecondsOf } from '../http/parameters.js';

/** Where games of rating pools come in. */
@Controller('v1/games')
export class GamesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly failures: FailureLog,
  ) {}

  @Post()
  @ApiOperation({ operationId: 'recordGames' })
  @HttpCode(200)
  async record(
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
    @Headers('prefer') prefer: string | undefined,
    @Req() request: FastifyRequest,
  ): Promise<GameResult | { results: (GameResult | { problem: Problem })[] }> {
    assertScope(identity, 'scores:write');
    const batch = gamesOfBatch(body);
    const games = batch === null ? [parseGame(body)] : batch.map(parsed);
    const results = await this.commands.execute(new RecordGamesCommand(identity, games, waitSecondsOf(prefer)));
    if (batch === null) return resultOf(results[0]!);
    const path = request.url.split('?')[0];
    for (const result of results) if (result instanceof LadderError) this.failures.note(request, result);
    return {
      results: results.map((result, index) =>
        result instanceof LadderError ? { problem: result.toProblem(`${path}#/games/${index}`) } : result,
      ),
    };
  }
}

function parsed(item: unknown): GameBody | LadderError {
  try {
    return parseGame(item);
  } catch (error) {
    if (error instanceof LadderError) return error;
    throw error;
  }
}

function resultOf(result: GameResult | LadderError): GameResult {
  if (result instanceof LadderError) throw result;
  return result;
}
