import { assertMayReadAudit, type Identity } from '@laddercast/identity';
import { CurrentIdentity, QueryPipe } from '@laddercast/leaderboard';
import { AuditLog, type ListedAuditRecord } from '@laddercast/ledger';
import { cutPage } from '@laddercast/queries';
import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { AuditParameters } from '../http/parameters.js';
import { numberOfCursor } from '../http/list-cursor.js';

const PAGE_DEFAULT = 50;

/** What operators did. */
@Controller('v1/admin/audit')
export class AuditController {
  constructor(private readonly audit: AuditLog) {}

  @Get()
  @ApiOperation({ operationId: 'listAudit' })
  async list(
    @Query(QueryPipe) { limit = PAGE_DEFAULT, cursor, ...filter }: AuditParameters,
    @CurrentIdentity() identity: Identity,
  ): Promise<{ acts: ListedAuditRecord[]; next: string | null }> {
    assertMayReadAudit(identity, filter.subject);
    const found = await this.audit.list(filter, limit + 1, numberOfCursor(cursor));
    const { page: acts, next } = cutPage(found, limit, ({ auditId }) => String(auditId));
    return { acts, next };
  }
}
