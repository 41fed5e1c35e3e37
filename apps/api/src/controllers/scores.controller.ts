import {
  parseBatch,
  parseBatchedSubmission,
  parseSubmission,
  SubmitScoreCommand,
  SubmitScoresCommand,
  type BoardSubmission,
  type SubmissionBody,
  type SubmissionResult,
} from '@laddercast/commands';
import { assertIdentified, type Identity } from '@laddercast/identity';
import { faultOfOpaqueId, LadderError, validationFailed, type Problem } from '@laddercast/domain';
import { CurrentIdentity, FailureLog } from '@laddercast/leaderboard';
import { Body, Controller, Headers, HttpCode, Param, Post, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { waitSecondsOf } from '../http/parameters.js';
import { NamedIdPipe } from '../http/path-parameters.js';

@Controller('v1')
export class ScoresController {
  constructor(
    private readonly commands: CommandBus,
    private readonly failures: FailureLog,
  ) {}

  @Post('boards/:board/scores')
  @ApiOperation({ operationId: 'submitScore' })
  @HttpCode(200)
  submit(
    @Param('board', NamedIdPipe) boardId: string,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
    @Headers('idempotency-key') idempotencyKey: string | undefined,
    @Headers('prefer') prefer: string | undefined,
  ): Promise<SubmissionResult> {
    assertIdentified(identity);
    const submission = { boardId, body: withIdempotencyKey(parseSubmission(body), idempotencyKey) };
    return this.commands.execute(new SubmitScoreCommand(identity, submission, waitSecondsOf(prefer)));
  }

  @Post('scores')
  @ApiOperation({ operationId: 'submitScores' })
  @HttpCode(200)
  async submitBatch(
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
    @Headers('idempotency-key') idempotencyKey: string | undefined,
    @Headers('prefer') prefer: string | undefined,
    @Req() request: FastifyRequest,
  ): Promise<{ results: (SubmissionResult | { problem: Problem })[] }> {
    assertIdentified(identity);
    if (idempotencyKey !== undefined) throw refusalOfBatchKey();
    const submissions = parseBatch(body).map(parsed);
    const results = await this.commands.execute(new SubmitScoresCommand(identity, submissions, waitSecondsOf(prefer)));
    const path = request.url.split('?')[0];
    for (const result of results) if (result instanceof LadderError) this.failures.note(request, result);
    return {
      results: results.map((result, index) =>
        result instanceof LadderError ? { problem: result.toProblem(`${path}#/submissions/${index}`) } : result,
      ),
    };
  }
}

/** One key for many runs: a retry of a part of them would count as the whole, or as nothing. */
const refusalOfBatchKey = (): LadderError =>
  validationFailed([
    {
      pointer: '',
      message: 'the Idempotency-Key header is not for a batch: give each of its submissions a submissionId of its own',
    },
  ]);

function parsed(item: unknown): BoardSubmission | LadderError {
  try {
    const { board, ...body } = parseBatchedSubmission(item);
    return { boardId: board, body };
  } catch (error) {
    if (error instanceof LadderError) return error;
    throw error;
  }
}

const ASCII = /^[\x20-\x7e]*$/;

function withIdempotencyKey(body: SubmissionBody, key: string | undefined): SubmissionBody {
  if (key === undefined) return body;
  // What other bytes mean nothing says: the same id in a header and in a body would be two.
  const fault = ASCII.test(key) ? faultOfOpaqueId(key) : 'must be ASCII: send any other id as submissionId';
  if (fault) throw validationFailed([{ pointer: '', message: `the Idempotency-Key header ${fault}` }]);
  if (body.submissionId !== undefined && body.submissionId !== key) {
    throw validationFailed([
      { pointer: '/submissionId', message: 'differs from the Idempotency-Key header; send one of them' },
    ]);
  }
  return { ...body, submissionId: key };
}
