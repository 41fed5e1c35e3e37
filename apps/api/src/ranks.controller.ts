import { unknownFields, type Identity } from '@laddercast/commands';
import { faultOfOpaqueId, validationFailed } from '@laddercast/domain';
import {
  GetEntriesQuery,
  GetPlayerQuery,
  GetRankOfScoreQuery,
  ListResolver,
  LookupPlayersQuery,
  type EntriesPage,
  type ListSelection,
  type PlayerRank,
  type PlayersLookup,
  type RankOfScore,
} from '@laddercast/queries';
import { Body, Controller, Get, HttpCode, Param, Post, Query, UseInterceptors } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { ConditionalGetInterceptor } from './http/conditional-get.interceptor.js';
import { CurrentIdentity } from './http/identity.guard.js';
import { selectionOf, unlistedShownTo } from './http/list-selection.js';
import {
  BoardIdPipe,
  EntriesParameters,
  ListParameters,
  PlayerParameters,
  playerOf,
  QueryPipe,
  ScoreParameters,
} from './http/parameters.js';

const ENTRIES_DEFAULT = 50;
const AROUND_DEFAULT = 5;
const LOOKUPS_MAX = 500;

@Controller('v1/boards/:board')
@UseInterceptors(ConditionalGetInterceptor)
export class RanksController {
  constructor(
    private readonly queries: QueryBus,
    private readonly resolver: ListResolver,
  ) {}

  @Get('entries')
  @ApiOperation({ operationId: 'getEntries' })
  entries(
    @Param('board', BoardIdPipe) boardId: string,
    @Query(QueryPipe) parameters: EntriesParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<EntriesPage> {
    const selection = this.select(boardId, parameters, identity);
    return this.queries.execute(
      new GetEntriesQuery(selection, parameters.offset ?? 0, parameters.limit ?? ENTRIES_DEFAULT),
    );
  }

  @Get('players/:player')
  @ApiOperation({ operationId: 'getPlayer' })
  player(
    @Param('board', BoardIdPipe) boardId: string,
    @Param('player') player: string,
    @Query(QueryPipe) parameters: PlayerParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<PlayerRank> {
    const selection = this.select(boardId, parameters, identity);
    const { around = AROUND_DEFAULT, above = around, below = around, fallback } = parameters;
    return this.queries.execute(
      new GetPlayerQuery(
        selection,
        playerOf(player, identity),
        above,
        below,
        fallback === 'last',
        unlistedShownTo(identity),
      ),
    );
  }

  @Get('rank')
  @ApiOperation({ operationId: 'getRankOfScore' })
  rank(
    @Param('board', BoardIdPipe) boardId: string,
    @Query(QueryPipe) parameters: ScoreParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<RankOfScore> {
    const { score, columns = {} } = parameters;
    return this.queries.execute(new GetRankOfScoreQuery(this.select(boardId, parameters, identity), score, columns));
  }

  @Post('lookups')
  @ApiOperation({ operationId: 'lookupPlayers' })
  @HttpCode(200)
  lookups(
    @Param('board', BoardIdPipe) boardId: string,
    @Query(QueryPipe) parameters: ListParameters,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
  ): Promise<PlayersLookup> {
    const selection = this.select(boardId, parameters, identity);
    const { playerIds, ranked } = parseLookup(body);
    return this.queries.execute(new LookupPlayersQuery(selection, playerIds, ranked, unlistedShownTo(identity)));
  }

  private select(boardId: string, parameters: ListParameters, identity: Identity): ListSelection {
    return selectionOf(this.resolver.board(boardId), parameters, identity);
  }
}

function parseLookup(body: unknown): { playerIds: string[]; ranked: boolean } {
  const {
    playerIds,
    ranked = false,
    ...unknown
  } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const faults = unknownFields(unknown);
  if (!Array.isArray(playerIds) || playerIds.length < 1 || playerIds.length > LOOKUPS_MAX) {
    faults.push({ pointer: '/playerIds', message: `must be an array of 1-${LOOKUPS_MAX} player ids` });
  } else {
    for (const [index, playerId] of playerIds.entries()) {
      const fault = typeof playerId === 'string' ? faultOfOpaqueId(playerId) : 'must be a string';
      if (fault) faults.push({ pointer: `/playerIds/${index}`, message: fault });
    }
  }
  if (typeof ranked !== 'boolean') faults.push({ pointer: '/ranked', message: 'must be true or false' });
  if (faults.length > 0) throw validationFailed(faults);
  return { playerIds: playerIds as string[], ranked: ranked as boolean };
}
