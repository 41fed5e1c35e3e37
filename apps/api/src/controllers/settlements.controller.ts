import { assertAdmin, type Identity } from '@laddercast/identity';
import { CurrentIdentity, QueryPipe } from '@laddercast/leaderboard';
import { SettlementFailures, type SettlementFailure } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { cutPage } from '@laddercast/queries';
import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { PageParameters } from '../http/parameters.js';
import { numberOfCursor } from '../http/list-cursor.js';

const PAGE_DEFAULT = 50;

interface SettlementFailureBody {
  board: string;
  window: string;
  kind: string;
  closedAt: string | null;
  failures: number;
  error: string;
  failedAt: string;
  retryAt: string;
}

/** Windows whose standings could not be written. */
@Controller('v1/admin/settlement-failures')
export class SettlementsController {
  constructor(private readonly failures: SettlementFailures) {}

  @Get()
  @ApiOperation({ operationId: 'listSettlementFailures' })
  async list(
    @Query(QueryPipe) { limit = PAGE_DEFAULT, cursor }: PageParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<{ settlementFailures: SettlementFailureBody[]; next: string | null }> {
    assertAdmin(identity);
    const found = await this.failures.list(limit + 1, numberOfCursor(cursor) ?? 0);
    const { page, next } = cutPage(found, limit, ({ windowUid }) => String(windowUid));
    return { settlementFailures: page.map(bodyOf), next };
  }
}

const bodyOf = (failure: SettlementFailure): SettlementFailureBody => ({
  board: failure.boardId,
  window: failure.windowId,
  kind: failure.kind,
  closedAt: failure.closedAtMs === null ? null : toTimestamp(failure.closedAtMs),
  failures: failure.failures,
  error: failure.error,
  failedAt: toTimestamp(failure.failedAtMs),
  retryAt: toTimestamp(failure.retryAtMs),
});
