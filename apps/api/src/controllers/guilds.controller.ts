import {
  DeleteGuildCommand,
  JoinGuildCommand,
  LeaveGuildCommand,
  GuildBody,
  parseBody,
  PutGuildCommand,
  type Membership,
} from '@laddercast/commands';
import {
  assertIdentified,
  assertMayLeaveGuild,
  assertMayWritePlayers,
  playerOfIdentity,
  type Identity,
} from '@laddercast/identity';
import { faultOfOpaqueId, validationFailed } from '@laddercast/domain';
import { CurrentIdentity, QueryPipe, TakesNothing } from '@laddercast/leaderboard';
import type { Guild } from '@laddercast/ledger';
import { GetGuildMembersQuery, GetGuildQuery, type GuildMembersPage } from '@laddercast/queries';
import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Fields, isWithPlayers, type Field } from '../http/fields-parameter.js';
import { unlistedShownTo } from '../http/list-selection.js';
import { PageParameters } from '../http/parameters.js';
import { assertCursor } from '../http/list-cursor.js';
import { playerOf } from '../http/path-parameters.js';

const MEMBERS_PAGE_DEFAULT = 50;

/** Query parameters of a guild's members. */
export class MembersParameters extends PageParameters {
  @Fields()
  fields?: Field[];
}

/** Guilds, and who is in them. */
@Controller('v1/guilds/:guild')
export class GuildsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'getGuild' })
  read(@Param('guild') guild: string, @CurrentIdentity() identity: Identity): Promise<Guild> {
    assertIdentified(identity);
    return this.queries.execute(new GetGuildQuery(guildOf(guild), playerOfIdentity(identity)));
  }

  @Put()
  @ApiOperation({ operationId: 'putGuild' })
  async put(
    @Param('guild') guildId: string,
    @Body() body: unknown,
    @CurrentIdentity() identity: Identity,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Guild> {
    assertMayWritePlayers(identity);
    const { displayName } = parseBody(GuildBody, body);
    const { guild, created } = await this.commands.execute(
      new PutGuildCommand(identity, guildOf(guildId), displayName),
    );
    void reply.status(created ? 201 : 200);
    return guild;
  }

  @Delete()
  @ApiOperation({ operationId: 'deleteGuild' })
  @TakesNothing()
  @HttpCode(204)
  async delete(@Param('guild') guild: string, @CurrentIdentity() identity: Identity): Promise<void> {
    assertMayWritePlayers(identity);
    await this.commands.execute(new DeleteGuildCommand(identity, guildOf(guild)));
  }

  @Get('members')
  @ApiOperation({ operationId: 'getGuildMembers' })
  members(
    @Param('guild') guild: string,
    @Query(QueryPipe) { limit = MEMBERS_PAGE_DEFAULT, cursor = '', fields = [] }: MembersParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<GuildMembersPage> {
    assertIdentified(identity);
    assertCursor(cursor, (text) => text === '' || faultOfOpaqueId(text) === null);
    const unlistedShown = unlistedShownTo(identity);
    const reader = unlistedShown === 'all' ? 'key' : { playerId: unlistedShown[0] ?? null };
    return this.queries.execute(
      new GetGuildMembersQuery(guildOf(guild), limit, cursor, reader, isWithPlayers({ fields })),
    );
  }

  @Put('members/:player')
  @ApiOperation({ operationId: 'joinGuild' })
  @TakesNothing()
  join(
    @Param('guild') guild: string,
    @Param('player') player: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<Membership> {
    assertMayWritePlayers(identity);
    return this.commands.execute(new JoinGuildCommand(identity, guildOf(guild), playerOf(player, identity)));
  }

  @Delete('members/:player')
  @ApiOperation({ operationId: 'leaveGuild' })
  @TakesNothing()
  @HttpCode(204)
  async leave(
    @Param('guild') guild: string,
    @Param('player') player: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<void> {
    const playerId = playerOf(player, identity);
    assertMayLeaveGuild(identity, playerId);
    await this.commands.execute(new LeaveGuildCommand(identity, guildOf(guild), playerId));
  }
}

/** The `{guild}` of a path. */
function guildOf(guild: string): string {
  const fault = faultOfOpaqueId(guild);
  if (fault) throw validationFailed([{ pointer: '{guild}', message: fault }]);
  return guild;
}
