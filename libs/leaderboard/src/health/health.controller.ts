import { Controller, Get, Inject, Optional, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ForProbes } from '../http/access.js';
import { Readiness, type ReadinessReport } from './readiness.js';
import { Intakes } from '../process/intakes.js';

/** Whether each thing that a process needs answers now. */
@Controller('health')
@ForProbes()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    @Optional() @Inject(Intakes) private readonly intakes: Intakes | null,
  ) {}

  @Get('live')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('ready')
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<ReadinessReport & { notes?: string[] }> {
    const report = await this.readiness.look();
    if (report.missing.length > 0) void reply.status(503);
    const notes = this.notesOn(report);
    return { ...report, ...(notes.length > 0 && { notes }) };
  }

  /** What stands still, while requests are answered all the same. */
  private notesOn({ components }: ReadinessReport): string[] {
    const awaySince = components['postgresql']?.['awaySince'];
    return [
      ...(awaySince ? [`writes are refused at once: PostgreSQL has not answered since ${String(awaySince)}`] : []),
      ...(this.intakes?.stands ?? []),
      ...(components['kafka']?.state === 'missing' ? ['Kafka does not answer: ranks wait, submissions go on'] : []),
      ...(components['ranks']?.state === 'recovering' ? ['ranks are being brought back from PostgreSQL'] : []),
    ];
  }
}
