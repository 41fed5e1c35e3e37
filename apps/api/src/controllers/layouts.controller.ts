import { RebuildBoardCommand } from '@laddercast/commands';
import { assertAdmin, type Identity } from '@laddercast/identity';
import type { Layout, Sharding } from '@laddercast/domain';
import { CurrentIdentity, TakesNothing } from '@laddercast/leaderboard';
import { BoardLayouts } from '@laddercast/ledger';
import { ListResolver } from '@laddercast/queries';
import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { NamedIdPipe } from '../http/path-parameters.js';

/** One generation of a board's lists, as operators see it. */
interface GenerationBody {
  generation: number;
  state: 'serving' | 'filling' | 'proving' | 'retiring' | 'removing';
  sharding: Sharding;
  dense: boolean;
  /** Of one that is being filled: what the present scan has read, and how many scans were begun. */
  entriesRead?: number;
  scans?: number;
}

/** How the lists of boards are kept in the projection, and making them anew. */
@Controller('v1/admin/boards')
export class LayoutsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly resolver: ListResolver,
    private readonly layouts: BoardLayouts,
  ) {}

  @Post(':board/rebuild')
  @ApiOperation({ operationId: 'rebuildBoard' })
  @TakesNothing()
  @HttpCode(202)
  async rebuild(
    @Param('board', NamedIdPipe) boardId: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<{ board: string; generation: number }> {
    const { generation } = await this.commands.execute(new RebuildBoardCommand(identity, boardId));
    return { board: boardId, generation };
  }

  @Get(':board/layout')
  @ApiOperation({ operationId: 'getBoardLayout' })
  async read(
    @Param('board', NamedIdPipe) boardId: string,
    @CurrentIdentity() identity: Identity,
  ): Promise<{ board: string; generations: GenerationBody[] }> {
    assertAdmin(identity);
    const { uid, layouts } = await this.resolver.board(boardId);
    const { serving, opening, retiring } = layouts;
    const [progress, removals] = await Promise.all([this.layouts.progressOf(uid), this.layouts.removalsOf(uid)]);
    const generations = [bodyOf(serving, 'serving')];
    if (opening) {
      const isBegun = progress?.generation === opening.generation;
      const { step, rowsScanned, scans } = isBegun ? progress : { step: 'filling' as const, rowsScanned: 0, scans: 0 };
      generations.push({ ...bodyOf(opening, step), entriesRead: rowsScanned, scans });
    }
    for (const layout of removals) {
      if (layout.generation === serving.generation) continue;
      generations.push(bodyOf(layout, layout.generation === retiring?.generation ? 'retiring' : 'removing'));
    }
    return { board: boardId, generations: generations.sort((a, b) => a.generation - b.generation) };
  }
}

const bodyOf = ({ generation, sharding, dense }: Layout, state: GenerationBody['state']): GenerationBody => ({
  generation,
  state,
  sharding,
  dense,
});
