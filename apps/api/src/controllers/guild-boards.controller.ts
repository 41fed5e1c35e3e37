import type { Identity } from '@laddercast/identity';
import { CurrentIdentity, Public, QueryPipe } from '@laddercast/leaderboard';
import { ListResolver, type EntriesPage } from '@laddercast/queries';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation, OmitType } from '@nestjs/swagger';
import { ConditionalGet } from '../http/conditional-get.js';
import { entriesQueryOf } from '../http/entries-query.js';
import { selectionOf } from '../http/list-selection.js';
import { EntriesParameters } from '../http/parameters.js';
import { NamedIdPipe } from '../http/path-parameters.js';

/** Query parameters of the list of guilds: it has no scopes, and its rows no faces. */
export class GuildsParameters extends OmitType(EntriesParameters, ['scope', 'fields'] as const) {}

/** Guilds ranked by their members' scores. */
@Controller('v1/boards/:board/guilds')
@ConditionalGet()
export class GuildBoardsController {
  constructor(
    private readonly queries: QueryBus,
    private readonly resolver: ListResolver,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'getGuilds' })
  @Public()
  async guilds(
    @Param('board', NamedIdPipe) boardId: string,
    @Query(QueryPipe) parameters: GuildsParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<EntriesPage> {
    const selection = { ...selectionOf(await this.resolver.board(boardId), parameters, identity), ofGuilds: true };
    return this.queries.execute(entriesQueryOf(selection, parameters, identity));
  }
}
