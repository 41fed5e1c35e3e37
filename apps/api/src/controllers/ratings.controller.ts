import { parseFields } from '@laddercast/commands';
import { type Identity } from '@laddercast/identity';
import type { Prediction, Split } from '@laddercast/domain';
import { CurrentIdentity, Public, QueryPipe } from '@laddercast/leaderboard';
import {
  GetDistributionQuery,
  GetGameQuery,
  GetRatingHistoryQuery,
  GetRatingQuery,
  ListGamesQuery,
  LookupRatingsQuery,
  PredictGameQuery,
  SplitPlayersQuery,
  type GamesOfPool,
  type NewestPage,
  type PoolCaller,
  type RatingHistory,
  type ShownDistribution,
  type ShownGame,
  type ShownRating,
} from '@laddercast/queries';
import { Body, Controller, Get, Header, HttpCode, Param, Post, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { PredictionBody, RatingLookupBody, SplitBody } from '../http/bodies.js';
import { numberOfCursor } from '../http/list-cursor.js';
import { unlistedShownTo } from '../http/list-selection.js';
import { GamesParameters, RatingHistoryParameters } from '../http/parameters.js';
import { playerOf, NamedIdPipe, OpaqueIdPipe } from '../http/path-parameters.js';

const PAGE_DEFAULT = 50;
const isPosition = (text: string): boolean => /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text));

/** What is in a pool: games, and where players stand. All of it comes from PostgreSQL, as of now. */
@Controller('v1/pools/:pool')
export class RatingsController {
  constructor(private readonly queries: QueryBus) {}

  @Get('games')
  @ApiOperation({ operationId: 'listGames' })
  @Public()
  @Header('Cache-Control', 'no-store')
  games(
    @Param('pool', NamedIdPipe) poolId: string,
    @Query(QueryPipe) { limit, cursor, player }: GamesParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<GamesOfPool> {
    const playerId = player === undefined ? null : playerOf(player, identity, '?player');
    return this.queries.execute(new ListGamesQuery(callerOf(identity), poolId, playerId, pageOf(limit, cursor)));
  }

  @Get('games/:game')
  @ApiOperation({ operationId: 'getGame' })
  @Public()
  @Header('Cache-Control', 'no-store')
  game(
    @Param('pool', NamedIdPipe) poolId: string,
    @Param('game', OpaqueIdPipe) gameId: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<ShownGame> {
    return this.queries.execute(new GetGameQuery(identity, poolId, gameId));
  }

  @Get('players/:player')
  @ApiOperation({ operationId: 'getRating' })
  @Public()
  @Header('Cache-Control', 'no-store')
  rating(
    @Param('pool', NamedIdPipe) poolId: string,
    @Param('player') player: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<ShownRating> {
    return this.queries.execute(new GetRatingQuery(callerOf(identity), poolId, playerOf(player, identity)));
  }

  @Get('players/:player/history')
  @ApiOperation({ operationId: 'getRatingHistory' })
  @Public()
  @Header('Cache-Control', 'no-store')
  history(
    @Param('pool', NamedIdPipe) poolId: string,
    @Param('player') player: string,
    @Query(QueryPipe) { limit, cursor }: RatingHistoryParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<RatingHistory> {
    const playerId = playerOf(player, identity);
    return this.queries.execute(new GetRatingHistoryQuery(callerOf(identity), poolId, playerId, pageOf(limit, cursor)));
  }

  @Get('distribution')
  @ApiOperation({ operationId: 'getRatingDistribution' })
  @Public()
  @Header('Cache-Control', 'no-store')
  distribution(
    @Param('pool', NamedIdPipe) poolId: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<ShownDistribution> {
    return this.queries.execute(new GetDistributionQuery(identity, poolId));
  }

  @Post('lookups')
  @ApiOperation({ operationId: 'lookupRatings' })
  @Public()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  lookups(
    @Param('pool', NamedIdPipe) poolId: string,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
  ): Promise<{ ratings: (ShownRating | null)[] }> {
    const { playerIds } = parseFields(RatingLookupBody, body);
    return this.queries.execute(new LookupRatingsQuery(callerOf(identity), poolId, playerIds));
  }

  @Post('predictions')
  @ApiOperation({ operationId: 'predictGame' })
  @Public()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  predictions(
    @Param('pool', NamedIdPipe) poolId: string,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
  ): Promise<Prediction | Split> {
    const caller = callerOf(identity);
    if (!asksForSplit(body)) {
      return this.queries.execute(new PredictGameQuery(caller, poolId, parseFields(PredictionBody, body).sides));
    }
    const { players, sidesOf } = parseFields(SplitBody, body);
    return this.queries.execute(new SplitPlayersQuery(caller, poolId, players, sidesOf));
  }
}

const callerOf = (identity: Identity): PoolCaller => ({ identity, unlistedShown: unlistedShownTo(identity) });

const asksForSplit = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && ('players' in body || 'sidesOf' in body);

/** @throws VALIDATION_FAILED for a cursor that no page gave */
const pageOf = (limit = PAGE_DEFAULT, cursor?: string): NewestPage => ({
  limit,
  beforePosition: numberOfCursor(cursor, isPosition),
});
