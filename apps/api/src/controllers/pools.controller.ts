import { DeletePoolCommand, parsePoolDefinition, PutPoolCommand } from '@laddercast/commands';
import { assertAdmin, type Identity } from '@laddercast/identity';
import { faultOfNamedId, periodAt } from '@laddercast/domain';
import { toTimestamp } from '@laddercast/platform';
import { CurrentIdentity, Public, QueryPipe, TakesNothing } from '@laddercast/leaderboard';
import {
  entityTagOfPool,
  RatingAlgorithms,
  type Pool,
  type PoolDefinition,
  type PoolProgress,
} from '@laddercast/ledger';
import { GetPoolQuery, ListPoolsQuery } from '@laddercast/queries';
import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Put, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { mustBeNew } from '../http/conditional-get.js';
import { PageParameters } from '../http/parameters.js';
import { assertCursor } from '../http/list-cursor.js';
import { NamedIdPipe } from '../http/path-parameters.js';

const POOLS_PAGE_DEFAULT = 50;

/** A definition as it is read. */
export type PoolBody = { id: string } & PoolDefinition;

type ShownProgress = Pick<PoolProgress, 'ratedPosition' | 'pending' | 'players' | 'games' | 'refunded'> & {
  historyFrom: string | null;
};

/** The running period of a pool that rates by periods; times are RFC 3339. */
interface PeriodBody {
  period: string;
  startsAt: string;
  endsAt: string;
  closesAt: string;
}

const bodyOf = ({ id, definition }: Pool): PoolBody => {
  const { title, algorithm, parameters, update, periods, sides, results, provisional, rankable } = definition;
  const { onVoid, history, boards, visibility } = definition;
  return {
    ...{ id, title, algorithm, parameters, update, periods, sides, results },
    ...{ provisional, rankable, onVoid, history, boards, visibility },
  };
};

function runningPeriod({ periods }: PoolDefinition, nowMs: number): PeriodBody | null {
  if (periods === null) return null;
  const { id, startsAtMs, endsAtMs, closesAtMs } = periodAt(periods, nowMs);
  const [startsAt, endsAt, closesAt] = [startsAtMs, endsAtMs, closesAtMs].map(toTimestamp) as [string, string, string];
  return { period: id, startsAt, endsAt, closesAt };
}

/** What rating pools are. */
@Controller('v1/pools')
export class PoolsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly algorithms: RatingAlgorithms,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'listPools' })
  @Public()
  async list(
    @Query(QueryPipe) { limit = POOLS_PAGE_DEFAULT, cursor = '' }: PageParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<{ pools: PoolBody[]; next: string | null }> {
    assertCursor(cursor, (text) => text === '' || faultOfNamedId(text) === null);
    const { pools, next } = await this.queries.execute(new ListPoolsQuery(identity, limit, cursor));
    return { pools: pools.map(bodyOf), next };
  }

  @Get(':pool')
  @ApiOperation({ operationId: 'getPool' })
  @Public()
  async read(
    @Param('pool', NamedIdPipe) poolId: string,
    @CurrentIdentity() identity: Identity,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PoolBody & ShownProgress & { period: PeriodBody | null }> {
    const pool = await this.queries.execute(new GetPoolQuery(identity, poolId));
    const { definition, nowMs, ratedPosition, pending, players, games, refunded, historyFromMs } = pool;
    const period = runningPeriod(definition, nowMs);
    // Of the definition: it is what a PUT names by If-Match. How far the ratings are is always of now.
    void reply.header('ETag', entityTagOfPool(pool)).header('Cache-Control', 'no-store');
    const historyFrom = historyFromMs === null ? null : toTimestamp(historyFromMs);
    return { ...bodyOf(pool), ratedPosition, pending, players, games, refunded, historyFrom, period };
  }

  @Put(':pool')
  @ApiOperation({ operationId: 'putPool' })
  async put(
    @Param('pool', NamedIdPipe) poolId: string,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
    @Headers('if-match') ifMatch: string | undefined,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PoolBody> {
    assertAdmin(identity);
    const definition = parsePoolDefinition(body, poolId, this.algorithms.all);
    const { pool, created } = await this.commands.execute(
      new PutPoolCommand(identity, poolId, definition, ifMatch ?? null, mustBeNew(ifNoneMatch)),
    );
    void reply.status(created ? 201 : 200).header('ETag', entityTagOfPool(pool));
    return bodyOf(pool);
  }

  @Delete(':pool')
  @ApiOperation({ operationId: 'deletePool' })
  @TakesNothing()
  @HttpCode(204)
  async delete(
    @Param('pool', NamedIdPipe) poolId: string,
    @CurrentIdentity() identity: Identity,
    @Headers('if-match') ifMatch: string | undefined,
  ): Promise<void> {
    await this.commands.execute(new DeletePoolCommand(identity, poolId, ifMatch ?? null));
  }
}
