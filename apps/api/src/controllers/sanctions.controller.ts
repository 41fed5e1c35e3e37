import { LiftSanctionCommand, parseFields, PutSanctionCommand } from '@laddercast/commands';
import { assertModerate, type Identity } from '@laddercast/identity';
import { CurrentIdentity, QueryPipe, TakesNothing } from '@laddercast/leaderboard';
import { Sanctions, type Sanction } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { cutPage } from '@laddercast/queries';
import { Body, Controller, Delete, Get, Param, Put, Query, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { endMsOf } from '../http/bodies.js';
import { numberOfCursor } from '../http/list-cursor.js';
import { ReasonParameters, SanctionBody } from '../http/moderation-bodies.js';
import { PageParameters } from '../http/parameters.js';
import { playerOf } from '../http/path-parameters.js';

const PAGE_DEFAULT = 50;

/** A sanction as moderators see it. */
type SanctionView = Pick<Sanction, 'sanctionId' | 'kind' | 'reason' | 'publicReason' | 'boards' | 'putBy'> & {
  until: string | null;
  putAt: string;
  endedAt: string | null;
  endedBy: string | null;
  endReason: string | null;
  progress: { isDone: boolean; entries: number };
};

/** Banning, hiding and shadowing players. */
@Controller('v1/admin/players/:player')
export class SanctionsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly sanctions: Sanctions,
  ) {}

  @Put('sanction')
  @ApiOperation({ operationId: 'putSanction' })
  async put(
    @Param('player') player: string,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ playerId: string; sanction: SanctionView }> {
    assertModerate(identity);
    const playerId = playerOf(player, identity);
    const { until, boards, ...asked } = parseFields(SanctionBody, body);
    const sanction = { ...asked, untilMs: endMsOf(until), boards: boards && [...new Set(boards)] };
    const put = await this.commands.execute(new PutSanctionCommand(identity, playerId, sanction));
    void reply.status(statusOf(put));
    return { playerId, sanction: viewOf(put) };
  }

  @Delete('sanction')
  @ApiOperation({ operationId: 'liftSanction' })
  @TakesNothing()
  async lift(
    @Param('player') player: string,
    @Query(QueryPipe) { reason }: ReasonParameters,
    @CurrentIdentity() identity: Identity,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ playerId: string; sanction: SanctionView | null }> {
    assertModerate(identity);
    const playerId = playerOf(player, identity);
    const lifted = await this.commands.execute(new LiftSanctionCommand(identity, playerId, reason));
    void reply.status(statusOf(lifted));
    return { playerId, sanction: lifted && viewOf(lifted) };
  }

  @Get('sanctions')
  @ApiOperation({ operationId: 'listSanctions' })
  async list(
    @Param('player') player: string,
    @Query(QueryPipe) { limit = PAGE_DEFAULT, cursor }: PageParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<{ playerId: string; sanctions: SanctionView[]; next: string | null }> {
    assertModerate(identity);
    const playerId = playerOf(player, identity);
    const found = await this.sanctions.list(playerId, limit + 1, numberOfCursor(cursor));
    const { page, next } = cutPage(found, limit, ({ sanctionId }) => String(sanctionId));
    return { playerId, sanctions: page.map(viewOf), next };
  }
}

/** 202: a projector goes on with the entries that are left. */
const statusOf = (sanction: Sanction | null): number => (sanction?.pending ? 202 : 200);

function viewOf(sanction: Sanction): SanctionView {
  const { sanctionId, kind, reason, publicReason, boards, putBy, endedBy, endReason } = sanction;
  const timeOf = (ms: number | null): string | null => (ms === null ? null : toTimestamp(ms));
  return {
    ...{ sanctionId, kind, reason, publicReason, until: timeOf(sanction.untilMs), boards },
    ...{ putBy, putAt: toTimestamp(sanction.putAtMs), endedAt: timeOf(sanction.endedAtMs), endedBy, endReason },
    progress: { isDone: !sanction.pending, entries: sanction.followedEntries },
  };
}
