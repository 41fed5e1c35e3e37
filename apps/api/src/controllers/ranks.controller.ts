import { parseFields } from '@laddercast/commands';
import { type Identity } from '@laddercast/identity';
import { validationFailed } from '@laddercast/domain';
import { CurrentIdentity, Public, QueryPipe } from '@laddercast/leaderboard';
import {
  GetPercentilesQuery,
  GetPlayerQuery,
  GetRankOfScoreQuery,
  ListResolver,
  LookupPlayersQuery,
  type EntriesPage,
  type ListSelection,
  type Percentiles,
  type PlayerRank,
  type PlayersLookup,
  type RankOfScore,
} from '@laddercast/queries';
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { PlayerLookupBody } from '../http/bodies.js';
import { ConditionalGet } from '../http/conditional-get.js';
import { entriesQueryOf } from '../http/entries-query.js';
import { selectionOf, unlistedShownTo } from '../http/list-selection.js';
import {
  EntriesParameters,
  PercentilesParameters,
  PlayerParameters,
  RowParameters,
  ScoreParameters,
} from '../http/parameters.js';
import { NamedIdPipe, playerOf } from '../http/path-parameters.js';
import { ScoreQueryPipe } from '../http/score-query-pipe.js';

const AROUND_DEFAULT = 5;

@Controller('v1/boards/:board')
@ConditionalGet()
export class RanksController {
  constructor(
    private readonly queries: QueryBus,
    private readonly resolver: ListResolver,
  ) {}

  @Get('entries')
  @ApiOperation({ operationId: 'getEntries' })
  @Public()
  async entries(
    @Param('board', NamedIdPipe) boardId: string,
    @Query(QueryPipe) parameters: EntriesParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<EntriesPage> {
    const selection = await this.select(boardId, parameters, identity);
    return this.queries.execute(entriesQueryOf(selection, parameters, identity));
  }

  @Get('players/:player')
  @ApiOperation({ operationId: 'getPlayer' })
  @Public()
  async player(
    @Param('board', NamedIdPipe) boardId: string,
    @Param('player') player: string,
    @Query(QueryPipe) parameters: PlayerParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<PlayerRank> {
    const selection = await this.select(boardId, parameters, identity);
    const { accuracy = 'exact', fallback } = parameters;
    if (accuracy === 'estimated') refuseNeighbours(parameters);
    const { around = accuracy === 'exact' ? AROUND_DEFAULT : 0, above = around, below = around } = parameters;
    return this.queries.execute(
      new GetPlayerQuery(
        selection,
        playerOf(player, identity),
        above,
        below,
        fallback === 'last',
        unlistedShownTo(identity),
        accuracy,
        parameters.runs === '1',
      ),
    );
  }

  @Get('rank')
  @ApiOperation({ operationId: 'getRankOfScore' })
  @Public()
  async rank(
    @Param('board', NamedIdPipe) boardId: string,
    @Query(ScoreQueryPipe) parameters: ScoreParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<RankOfScore> {
    const { score, columns = {}, accuracy, patch } = parameters;
    const selection = await this.select(boardId, parameters, identity);
    return this.queries.execute(new GetRankOfScoreQuery(selection, score, columns, accuracy, patch));
  }

  @Get('percentiles')
  @ApiOperation({ operationId: 'getPercentiles' })
  @Public()
  async percentiles(
    @Param('board', NamedIdPipe) boardId: string,
    @Query(QueryPipe) parameters: PercentilesParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<Percentiles> {
    const { at, accuracy = 'estimated' } = parameters;
    const selection = await this.select(boardId, parameters, identity);
    return this.queries.execute(new GetPercentilesQuery(selection, at, accuracy));
  }

  @Post('lookups')
  @ApiOperation({ operationId: 'lookupPlayers' })
  @Public()
  @HttpCode(200)
  async lookups(
    @Param('board', NamedIdPipe) boardId: string,
    @Query(QueryPipe) parameters: RowParameters,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
  ): Promise<PlayersLookup> {
    const selection = await this.select(boardId, parameters, identity);
    const { playerIds, ranked, accuracy } = parseFields(PlayerLookupBody, body);
    const unlistedShown = unlistedShownTo(identity);
    return this.queries.execute(new LookupPlayersQuery(selection, playerIds, ranked, unlistedShown, accuracy));
  }

  private async select(
    boardId: string,
    parameters: Partial<RowParameters>,
    identity: Identity,
  ): Promise<ListSelection> {
    return selectionOf(await this.resolver.board(boardId), parameters, identity);
  }
}

/** An estimate is one look-up: there is nothing beside the player. @throws VALIDATION_FAILED */
function refuseNeighbours({ around, above, below }: PlayerParameters): void {
  const asked = Object.entries({ around, above, below }).filter(([, places]) => places !== undefined && places > 0);
  if (asked.length === 0) return;
  const message = 'must be 0 with accuracy=estimated: neighbours are for exact ranks';
  throw validationFailed(asked.map(([name]) => ({ pointer: `?${name}`, message })));
}
