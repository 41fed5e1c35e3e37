import { assertAdmin, type Identity } from '@laddercast/identity';
import { validationFailed } from '@laddercast/domain';
import { CurrentIdentity, QueryPipe } from '@laddercast/leaderboard';
import { AuditLog, type ListedAuditRecord } from '@laddercast/ledger';
import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { AuditParameters } from '../http/parameters.js';

const PAGE_DEFAULT = 50;
const CURSOR = /^[1-9]\d{0,14}$/;

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
    assertAdmin(identity);
    if (cursor !== undefined && !CURSOR.test(cursor)) {
      throw validationFailed([{ pointer: '?cursor', message: 'is not a cursor of this list' }]);
    }
    const acts = await this.audit.list(filter, limit + 1, cursor === undefined ? null : Number(cursor));
    const page = acts.slice(0, limit);
    return { acts: page, next: acts.length > limit ? String(page.at(-1)!.auditId) : null };
  }
}
