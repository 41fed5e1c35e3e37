import { DecideFlagCommand, parseBody } from '@laddercast/commands';
import { assertModerate, type Identity } from '@laddercast/identity';
import { CurrentIdentity, QueryPipe } from '@laddercast/leaderboard';
import { Flags, type Flag } from '@laddercast/ledger';
import { cutPage } from '@laddercast/queries';
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { FlagDecisionBody } from '../http/bodies.js';
import { numberOfCursor } from '../http/list-cursor.js';
import { FlagsParameters } from '../http/parameters.js';
import { OpaqueIdPipe, playerOf } from '../http/path-parameters.js';

const PAGE_DEFAULT = 50;

/** What is suspicious, and what moderators decide of it. */
@Controller('v1/admin/flags')
export class FlagsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly flags: Flags,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'listFlags' })
  async list(
    @Query(QueryPipe) { limit = PAGE_DEFAULT, cursor, player, ...others }: FlagsParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<{ flags: Flag[]; next: string | null }> {
    assertModerate(identity);
    const filter = player === undefined ? others : { ...others, player: playerOf(player, identity, '?player') };
    const found = await this.flags.list(filter, limit + 1, numberOfCursor(cursor));
    const { page, next } = cutPage(found, limit, ({ number }) => String(number));
    return { flags: page.map(({ number: _number, ...flag }) => flag), next };
  }

  @Post(':flag')
  @ApiOperation({ operationId: 'decideFlag' })
  @HttpCode(200)
  decide(
    @Param('flag', OpaqueIdPipe) flagId: string,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
  ): Promise<Flag> {
    assertModerate(identity);
    const { decision, reason } = parseBody(FlagDecisionBody, body);
    return this.commands.execute(new DecideFlagCommand(identity, flagId, decision, reason));
  }
}
