import { DeletePatchCommand, parseBody, parseTimestamp, PutPatchCommand } from '@laddercast/commands';
import { assertAdmin, type Identity } from '@laddercast/identity';
import { toTimestamp } from '@laddercast/platform';
import { CurrentIdentity, Public, QueryPipe, TakesNothing } from '@laddercast/leaderboard';
import type { ListedPatch } from '@laddercast/ledger';
import { GetPatchQuery, ListPatchesQuery } from '@laddercast/queries';
import { validationFailed } from '@laddercast/domain';
import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Put, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { mustBeNew } from '../http/conditional-get.js';
import { PatchBody, PatchListParameters, PatchParameters } from '../http/patch-parameters.js';
import { NamedIdPipe } from '../http/path-parameters.js';

/** A patch as it is read; its time is RFC 3339. */
export interface ShownPatch extends Pick<ListedPatch, 'family' | 'sameAs' | 'title' | 'behind' | 'runs' | 'status'> {
  patch: string;
  publishedAt: string;
}

function shown({ id: patch, family, publishedAtMs, sameAs, title, behind, runs, status }: ListedPatch): ShownPatch {
  return { patch, family, publishedAt: toTimestamp(publishedAtMs), sameAs, title, behind, runs, status };
}

/** Patches, by which boards with decay tax older runs. */
@Controller('v1/patches')
export class PatchesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'listPatches' })
  @Public()
  async list(
    @Query(QueryPipe) { family }: PatchListParameters,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ family: string; patches: ShownPatch[] }> {
    void reply.header('Cache-Control', 'no-store');
    return { family, patches: (await this.queries.execute(new ListPatchesQuery(family))).map(shown) };
  }

  @Get(':patch')
  @ApiOperation({ operationId: 'getPatch' })
  @Public()
  async read(
    @Param('patch', NamedIdPipe) patchId: string,
    @Query(QueryPipe) { family }: PatchParameters,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShownPatch> {
    const patch = await this.queries.execute(new GetPatchQuery(patchId, family ?? null));
    // Of what was put: it is what a PUT names by If-Match. How many runs name it is always of now.
    void reply.header('ETag', patch.entityTag).header('Cache-Control', 'no-store');
    return shown(patch);
  }

  @Put(':patch')
  @ApiOperation({ operationId: 'putPatch' })
  async put(
    @Param('patch', NamedIdPipe) patchId: string,
    @Query(QueryPipe) { family: named }: PatchParameters,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
    @Headers() headers: { 'if-match'?: string; 'if-none-match'?: string },
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShownPatch> {
    assertAdmin(identity);
    const { family, publishedAt, sameAs, title } = parseBody(PatchBody, body);
    if (named !== undefined && named !== family) {
      throw validationFailed([{ pointer: '?family', message: `must be "${family}", as in the body, or be left out` }]);
    }
    const { 'if-match': ifMatch = null, 'if-none-match': ifNoneMatch } = headers;
    const publishedAtMs = publishedAt === null ? null : parseTimestamp(publishedAt);
    const definition = { publishedAtMs, sameAs, title };
    const condition = { ifMatch, onlyCreate: mustBeNew(ifNoneMatch), familyIsNamed: named !== undefined };
    const { patch, created } = await this.commands.execute(
      new PutPatchCommand(identity, patchId, family, definition, condition),
    );
    void reply.status(created ? 201 : 200).header('ETag', patch.entityTag);
    return shown(patch);
  }

  @Delete(':patch')
  @ApiOperation({ operationId: 'deletePatch' })
  @TakesNothing()
  @HttpCode(204)
  async delete(
    @Param('patch', NamedIdPipe) patchId: string,
    @Query(QueryPipe) { family }: PatchParameters,
    @CurrentIdentity() identity: Identity,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<void> {
    await this.commands.execute(new DeletePatchCommand(identity, patchId, family ?? null, ifMatch ?? null));
  }
}
