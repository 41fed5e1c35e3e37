import {
  DeleteBoardCommand,
  OverrideEntryCommand,
  type OverrideResult,
  parseBoardDefinition,
  parseBody,
  PutBoardCommand,
} from '@laddercast/commands';
import { assertAdmin, assertMayRead, mayReadPrivateBoards, type Identity } from '@laddercast/identity';
import { faultOfNamedId, type Board, type BoardDefinition } from '@laddercast/domain';
import { CurrentIdentity, Public, QueryPipe, TakesNothing } from '@laddercast/leaderboard';
import { BoardCatalog, entityTagOf } from '@laddercast/ledger';
import { cutPage, ListResolver } from '@laddercast/queries';
import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Put, Query, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { EntryOverrideBody } from '../http/bodies.js';
import { matchesTag, mustBeNew } from '../http/conditional-get.js';
import { PageParameters } from '../http/parameters.js';
import { assertCursor } from '../http/list-cursor.js';
import { NamedIdPipe, playerOf } from '../http/path-parameters.js';

const BOARDS_PAGE_DEFAULT = 50;

/** A board as it is read. */
export type BoardBody = { id: string; template: string | null } & BoardDefinition;

export const boardBodyOf = ({ id, template, definition }: Board): BoardBody => ({
  id,
  template: template ?? null,
  ...definition,
});

@Controller('v1/boards')
export class BoardsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly boards: BoardCatalog,
    private readonly resolver: ListResolver,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'listBoards' })
  @Public()
  list(
    @Query(QueryPipe) { limit, cursor }: PageParameters,
    @CurrentIdentity() identity: Identity,
  ): { boards: BoardBody[]; next: string | null } {
    assertCursor(cursor, (text) => faultOfNamedId(text) === null);
    const size = limit ?? BOARDS_PAGE_DEFAULT;
    const seesAll = mayReadPrivateBoards(identity);
    const after = this.boards
      .all()
      .filter(({ id, definition }) => id > (cursor ?? '') && (seesAll || definition.visibility === 'public'));
    const { page, next } = cutPage(after, size, ({ id }) => id);
    return { boards: page.map(boardBodyOf), next };
  }

  @Get(':board')
  @ApiOperation({ operationId: 'getBoard' })
  @Public()
  async read(
    @Param('board', NamedIdPipe) boardId: string,
    @CurrentIdentity() identity: Identity,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BoardBody | undefined> {
    const board = await this.resolver.board(boardId);
    assertMayRead(identity, board);
    void reply.header('ETag', entityTagOf(board)).header('Cache-Control', 'no-cache');
    if (matchesTag(ifNoneMatch, entityTagOf(board))) {
      void reply.status(304);
      return undefined;
    }
    return boardBodyOf(board);
  }

  @Put(':board')
  @ApiOperation({ operationId: 'putBoard' })
  async put(
    @Param('board', NamedIdPipe) boardId: string,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
    @Headers('if-match') ifMatch: string | undefined,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BoardBody> {
    assertAdmin(identity);
    const definition = parseBoardDefinition(body, boardId, await this.templateOf(boardId, body));
    const { board, created } = await this.commands.execute(
      new PutBoardCommand(identity, boardId, definition, ifMatch ?? null, mustBeNew(ifNoneMatch)),
    );
    void reply.status(created ? 201 : 200).header('ETag', entityTagOf(board));
    return boardBodyOf(board);
  }

  /** The template of a board, also where another process made it a moment ago. */
  private async templateOf(boardId: string, body: unknown): Promise<string | undefined> {
    const named = (body as { template?: unknown } | null | undefined)?.template ?? undefined;
    if (named !== undefined && this.boards.byId(boardId)?.template !== named) await this.boards.refresh();
    return this.boards.byId(boardId)?.template;
  }

  @Delete(':board')
  @ApiOperation({ operationId: 'deleteBoard' })
  @TakesNothing()
  @HttpCode(204)
  async delete(
    @Param('board', NamedIdPipe) boardId: string,
    @CurrentIdentity() identity: Identity,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<void> {
    await this.commands.execute(new DeleteBoardCommand(identity, boardId, ifMatch ?? null));
  }

  @Put(':board/players/:player')
  @ApiOperation({ operationId: 'setEntry' })
  setEntry(
    @Param('board', NamedIdPipe) boardId: string,
    @Param('player') player: string,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
  ): Promise<OverrideResult> {
    assertAdmin(identity);
    const { score, columns, reason } = parseBody(EntryOverrideBody, body);
    return this.commands.execute(
      new OverrideEntryCommand(identity, boardId, playerOf(player, identity), { score, columns }, reason),
    );
  }

  @Delete(':board/players/:player')
  @ApiOperation({ operationId: 'removeEntry' })
  @TakesNothing()
  removeEntry(
    @Param('board', NamedIdPipe) boardId: string,
    @Param('player') player: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<OverrideResult> {
    return this.commands.execute(new OverrideEntryCommand(identity, boardId, playerOf(player, identity), null, null));
  }
}
