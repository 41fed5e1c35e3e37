import { DeleteBoardTemplateCommand, PutBoardTemplateCommand } from '@laddercast/commands';
import { assertAdmin, type Identity } from '@laddercast/identity';
import { faultOfNamedId, type GivenOptions, type Problem } from '@laddercast/domain';
import { CurrentIdentity, FailureLog, QueryPipe, TakesNothing } from '@laddercast/leaderboard';
import {
  entityTagOfTemplate,
  type HandChange,
  type ListedTemplate,
  type NamedBoardOfTemplate,
  type TemplateResult,
} from '@laddercast/ledger';
import { GetBoardTemplateQuery, ListBoardTemplatesQuery } from '@laddercast/queries';
import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Put, Query, Req, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { mustBeNew } from '../http/conditional-get.js';
import { assertCursor } from '../http/list-cursor.js';
import { DryRunParameters, isDryRun, isWithBoards, PageParameters, WithBoardsParameters } from '../http/parameters.js';
import { NamedIdPipe } from '../http/path-parameters.js';

const TEMPLATES_PAGE_DEFAULT = 50;

/** What a template says of one board. */
interface BoardOfTemplateBody {
  board: string;
  title: string | null;
  overrides: GivenOptions;
}

/** A template as it is read; all but `byHand` can be put again. */
interface BoardTemplateBody {
  id: string;
  definition: GivenOptions;
  boards: BoardOfTemplateBody[];
  byHand: HandChange[];
}

interface TemplateOutcomeBody {
  dryRun: boolean;
  results: { board: string; status: TemplateResult['status']; problem?: Problem }[];
  released: string[];
}

const boardBodyOf = ({ board, overrides: { title, ...overrides } }: NamedBoardOfTemplate): BoardOfTemplateBody => ({
  board,
  title: (title as string | undefined) ?? null,
  overrides,
});

/** Templates: many boards by one definition. */
@Controller('v1/board-templates')
export class BoardTemplatesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly failures: FailureLog,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'listBoardTemplates' })
  async list(
    @Query(QueryPipe) { limit = TEMPLATES_PAGE_DEFAULT, cursor = '' }: PageParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<{ templates: ListedTemplate[]; next: string | null }> {
    assertAdmin(identity);
    assertCursor(cursor, (text) => text === '' || faultOfNamedId(text) === null);
    return this.queries.execute(new ListBoardTemplatesQuery(identity, limit, cursor));
  }

  @Get(':template')
  @ApiOperation({ operationId: 'getBoardTemplate' })
  async read(
    @Param('template', NamedIdPipe) templateId: string,
    @CurrentIdentity() identity: Identity,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BoardTemplateBody> {
    const { template, byHand } = await this.queries.execute(new GetBoardTemplateQuery(identity, templateId));
    const { id, definition, boards } = template;
    // Of what was put: it is what a PUT names by If-Match. What was changed by hand is always of now.
    void reply.header('ETag', entityTagOfTemplate(template)).header('Cache-Control', 'no-store');
    return { id, definition, boards: boards.map(boardBodyOf), byHand };
  }

  @Put(':template')
  @ApiOperation({ operationId: 'putBoardTemplate' })
  async put(
    @Param('template', NamedIdPipe) templateId: string,
    @Query(QueryPipe) asked: DryRunParameters,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
    @Headers('if-match') ifMatch: string | undefined,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TemplateOutcomeBody> {
    assertAdmin(identity);
    const condition = { ifMatch: ifMatch ?? null, onlyCreate: mustBeNew(ifNoneMatch) };
    const dryRun = isDryRun(asked);
    const outcome = await this.commands.execute(
      new PutBoardTemplateCommand(identity, templateId, body, condition, dryRun),
    );
    const { revision, created, results, released } = outcome;
    if (revision !== null) {
      void reply.status(created ? 201 : 200).header('ETag', entityTagOfTemplate({ revision }));
    }
    return { dryRun, results: results.map((result, index) => this.shown(result, index, request)), released };
  }

  @Delete(':template')
  @ApiOperation({ operationId: 'deleteBoardTemplate' })
  @TakesNothing()
  @HttpCode(204)
  async delete(
    @Param('template', NamedIdPipe) templateId: string,
    @Query(QueryPipe) asked: WithBoardsParameters,
    @CurrentIdentity() identity: Identity,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<void> {
    await this.commands.execute(
      new DeleteBoardTemplateCommand(identity, templateId, ifMatch ?? null, isWithBoards(asked)),
    );
  }

  private shown(
    result: TemplateResult,
    index: number,
    request: FastifyRequest,
  ): TemplateOutcomeBody['results'][number] {
    if (result.status !== 'problem') return result;
    const { board, status, problem } = result;
    this.failures.note(request, problem);
    return { board, status, problem: problem.toProblem(`${request.url.split('?')[0]}#/boards/${index}`) };
  }
}
