import { Readable } from 'node:stream';
import { assertMayRead, holdsScope, type Identity } from '@laddercast/identity';
import { validationFailed } from '@laddercast/domain';
import { CurrentIdentity, Public, QueryPipe } from '@laddercast/leaderboard';
import {
  ExportWindowQuery,
  GetEditionsQuery,
  GetWindowsQuery,
  ListResolver,
  type EditionsPage,
  type WindowsPage,
} from '@laddercast/queries';
import { Controller, Get, Param, Query, Req, Res, StreamableFile } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConditionalGet } from '../http/conditional-get.js';
import { selectionOf } from '../http/list-selection.js';
import { numberOfCursor } from '../http/list-cursor.js';
import { ExportParameters, PageParameters, WindowsParameters } from '../http/parameters.js';
import { NamedIdPipe } from '../http/path-parameters.js';

const WINDOWS_DEFAULT = 50;

/** A board's windows: which there are, and each as a whole. */
@Controller('v1/boards/:board')
export class WindowsController {
  constructor(
    private readonly queries: QueryBus,
    private readonly resolver: ListResolver,
  ) {}

  @Get('windows')
  @ApiOperation({ operationId: 'getWindows' })
  @Public()
  @ConditionalGet()
  async windows(
    @Param('board', NamedIdPipe) boardId: string,
    @Query(QueryPipe) { state, limit = WINDOWS_DEFAULT, cursor }: WindowsParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<WindowsPage> {
    assertMayRead(identity, await this.resolver.board(boardId));
    const readerId = identity.kind === 'player' ? identity.playerId : undefined;
    return this.queries.execute(new GetWindowsQuery(boardId, limit, cursor, state, readerId));
  }

  @Get('windows/:window/editions')
  @ApiOperation({ operationId: 'getEditions' })
  @Public()
  @ConditionalGet()
  async editions(
    @Param('board', NamedIdPipe) boardId: string,
    @Param('window') window: string,
    @Query(QueryPipe) { limit = WINDOWS_DEFAULT, cursor }: PageParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<EditionsPage> {
    assertMayRead(identity, await this.resolver.board(boardId));
    const seesActs = holdsScope(identity, 'moderate');
    return this.queries.execute(new GetEditionsQuery(boardId, window, limit, numberOfCursor(cursor), seesActs));
  }

  @Get('export')
  @ApiOperation({ operationId: 'exportWindow' })
  @Public()
  async export(
    @Param('board', NamedIdPipe) boardId: string,
    @Query(QueryPipe) { format = 'csv', guard, ...parameters }: ExportParameters,
    @CurrentIdentity() identity: Identity,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    const selection = selectionOf(await this.resolver.board(boardId), parameters, identity);
    if (guard !== undefined && format !== 'csv') {
      throw validationFailed([{ pointer: '?guard', message: 'is for format=csv: no spreadsheet reads the other' }]);
    }
    const isAnonymous = identity.kind === 'anonymous';
    const file = await this.queries.execute(new ExportWindowQuery(selection, format, isAnonymous, guard));
    const left = new AbortController();
    reply.raw.once('close', () => left.abort());
    // HEAD is told what GET would be, and no row is read for it.
    const content = request.method === 'HEAD' ? nothing() : await file.open(left.signal).catch(unlessLeft(left.signal));
    void reply
      .header('Content-Type', file.mediaType)
      .header('Content-Disposition', `attachment; filename="${file.fileName}"`)
      .header('Cache-Control', file.isOwn ? 'private, no-store' : 'no-cache')
      .header('Vary', 'Authorization');
    return new StreamableFile(content);
  }
}

/** No text, and no length of it either. */
const nothing = (): Readable => Readable.from([]);

/** Nobody is there to be told what failed when they left. */
const unlessLeft =
  (left: AbortSignal) =>
  (error: unknown): Readable => {
    if (left.aborted) return nothing();
    throw error;
  };
