import { parseFields, RaiseLanesCommand } from '@laddercast/commands';
import { assertAdmin, type Identity } from '@laddercast/identity';
import { CurrentIdentity } from '@laddercast/leaderboard';
import { PostgresDatabase, readLaneMaps, type LaneMap } from '@laddercast/ledger';
import { Body, Controller, Get, Put } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { LanesBody } from '../http/bodies.js';

/** The number of lanes, and each number that there was since which log position. */
interface LanesAnswer {
  lanes: number;
  maps: { lanes: number; since: number }[];
}

/** The lanes of the ledger. */
@Controller('v1/admin/lanes')
export class LanesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly database: PostgresDatabase,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'getLanes' })
  async read(@CurrentIdentity() identity: Identity): Promise<LanesAnswer> {
    assertAdmin(identity);
    return answerOf(await readLaneMaps(this.database));
  }

  @Put()
  @ApiOperation({ operationId: 'raiseLanes' })
  async raise(@Body() body: unknown, @CurrentIdentity() identity: Identity): Promise<LanesAnswer> {
    assertAdmin(identity);
    const { lanes } = parseFields(LanesBody, body);
    return answerOf(await this.commands.execute(new RaiseLanesCommand(identity, lanes)));
  }
}

const answerOf = (maps: readonly LaneMap[]): LanesAnswer => ({
  lanes: maps.at(-1)!.count,
  maps: maps.map(({ count, since }) => ({ lanes: count, since })),
});
