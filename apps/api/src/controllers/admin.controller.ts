import {
  boardNow,
  CloseWindowCommand,
  CreateApiKeyCommand,
  parseBody,
  parseFields,
  PutBoardCommand,
  ResetBoardCommand,
  RestateWindowCommand,
  RevokeApiKeyCommand,
  RotateApiKeyCommand,
  type ClosedWindow,
  type RestatedStandings,
} from '@laddercast/commands';
import { assertAdmin, type Identity } from '@laddercast/identity';
import { LadderError } from '@laddercast/domain';
import { CurrentIdentity, QueryPipe, TakesNothing } from '@laddercast/leaderboard';
import {
  ApiKeyStore,
  assertTagMatches,
  BoardCatalog,
  entityTagOf,
  type CreatedApiKey,
  type ListedApiKey,
  type RotatedApiKey,
} from '@laddercast/ledger';
import { cutPage, ProposeBoundariesQuery, type BoundariesProposal } from '@laddercast/queries';
import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { boardBodyOf, type BoardBody } from './boards.controller.js';
import { endMsOf, KeyRotationBody, NewApiKeyBody, ShardsToBoundBody, WindowToCloseBody } from '../http/bodies.js';
import { assertCursor } from '../http/list-cursor.js';
import { RestatementBody, RestatementParameters } from '../http/moderation-bodies.js';
import { DryRunParameters, isDryRun, PageParameters } from '../http/parameters.js';
import { NamedIdPipe } from '../http/path-parameters.js';

const KEYS_PAGE_DEFAULT = 50;
/** What key ids are made of; other text may not even be storable. */
const KEY_ID = /^[\w-]{1,64}$/;

@Controller('v1/admin')
export class AdminController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly boards: BoardCatalog,
    private readonly keys: ApiKeyStore,
  ) {}

  @Post('boards/:board/reset')
  @ApiOperation({ operationId: 'resetBoard' })
  @TakesNothing()
  @HttpCode(200)
  async reset(
    @Param('board', NamedIdPipe) boardId: string,
    @CurrentIdentity() identity: Identity,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BoardBody> {
    const board = await this.commands.execute(new ResetBoardCommand(identity, boardId));
    void reply.header('ETag', entityTagOf(board));
    return boardBodyOf(board);
  }

  @Post('boards/:board/close-window')
  @ApiOperation({ operationId: 'closeWindow' })
  @HttpCode(200)
  closeWindow(
    @Param('board', NamedIdPipe) boardId: string,
    @Query(QueryPipe) asked: DryRunParameters,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
  ): Promise<ClosedWindow> {
    assertAdmin(identity);
    const { window } = parseFields(WindowToCloseBody, body);
    return this.commands.execute(new CloseWindowCommand(identity, boardId, window, isDryRun(asked)));
  }

  @Post('boards/:board/restate')
  @ApiOperation({ operationId: 'restateWindow' })
  async restateWindow(
    @Param('board', NamedIdPipe) boardId: string,
    @Query(QueryPipe) { window }: RestatementParameters,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RestatedStandings> {
    assertAdmin(identity);
    const { reason = null } = body === undefined ? {} : parseBody(RestatementBody, body);
    const restated = await this.commands.execute(new RestateWindowCommand(identity, boardId, window, reason));
    // 202: a projector goes on.
    void reply.status(restated.outcome === 'restating' ? 202 : 200);
    return restated;
  }

  @Post('boards/:board/boundaries')
  @ApiOperation({ operationId: 'proposeBoundaries' })
  @HttpCode(200)
  async proposeBoundaries(
    @Param('board', NamedIdPipe) boardId: string,
    @Query(QueryPipe) asked: DryRunParameters,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<BoundariesProposal & { dryRun: boolean }> {
    assertAdmin(identity);
    const { window, shards } = parseFields(ShardsToBoundBody, body);
    const dryRun = isDryRun(asked);
    // What becomes the new definition is the one of now, also where another process put it a moment ago.
    if (!dryRun) await this.boards.refresh();
    const board = await boardNow(this.boards, boardId);
    if (!dryRun) assertTagMatches(boardId, entityTagOf(board), ifMatch ?? null);
    const proposal = await this.queries.execute(new ProposeBoundariesQuery(boardId, window, shards));
    if (!dryRun) {
      const definition = { ...board.definition, sharding: proposal.sharding };
      await this.commands.execute(new PutBoardCommand(identity, boardId, definition, entityTagOf(board), false));
    }
    return { ...proposal, dryRun };
  }

  @Post('api-keys')
  @ApiOperation({ operationId: 'createApiKey' })
  async createKey(@Body() body: unknown, @CurrentIdentity() identity: Identity): Promise<CreatedApiKey> {
    assertAdmin(identity);
    const { name, scopes, expiresAt } = parseFields(NewApiKeyBody, body);
    const key = { name, scopes: [...new Set(scopes)], expiresAtMs: endMsOf(expiresAt) };
    return this.commands.execute(new CreateApiKeyCommand(identity, key));
  }

  @Post('api-keys/:key/rotate')
  @ApiOperation({ operationId: 'rotateApiKey' })
  @HttpCode(200)
  async rotateKey(
    @Param('key') keyId: string,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
  ): Promise<RotatedApiKey> {
    assertAdmin(identity);
    const { overlapSeconds, expiresAt } = parseBody(KeyRotationBody, body, 'must be an object');
    const rotation = { overlapSeconds, expiresAtMs: endMsOf(expiresAt) };
    return this.commands.execute(new RotateApiKeyCommand(identity, keyOf(keyId), rotation));
  }

  @Get('api-keys')
  @ApiOperation({ operationId: 'listApiKeys' })
  async listKeys(
    @Query(QueryPipe) { limit = KEYS_PAGE_DEFAULT, cursor }: PageParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<{ keys: ListedApiKey[]; next: string | null }> {
    assertAdmin(identity);
    assertCursor(cursor, (text) => KEY_ID.test(text));
    const found = await this.keys.list(limit + 1, cursor ?? '');
    const { page: keys, next } = cutPage(found, limit, ({ keyId }) => keyId);
    return { keys, next };
  }

  @Delete('api-keys/:key')
  @ApiOperation({ operationId: 'revokeApiKey' })
  @TakesNothing()
  @HttpCode(204)
  async revokeKey(@Param('key') keyId: string, @CurrentIdentity() identity: Identity): Promise<void> {
    assertAdmin(identity);
    await this.commands.execute(new RevokeApiKeyCommand(identity, keyOf(keyId)));
  }
}

/** The `{key}` of a path. */
function keyOf(keyId: string): string {
  if (!KEY_ID.test(keyId)) throw new LadderError('API_KEY_NOT_FOUND', 'There is no API key with this id.');
  return keyId;
}
