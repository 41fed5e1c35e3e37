import { PostgresDatabase } from '@laddercast/ledger';
import { RedisConnection } from '@laddercast/projections';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** Whether each thing that a process needs answers now. */
@Controller('health')
export class HealthController {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly redis: RedisConnection,
  ) {}

  @Get('live')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('ready')
  async ready(
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ status: 'ok' | 'missing'; missing: string[] }> {
    const postgres = await this.database.query('SELECT 1').then(
      () => true,
      () => false,
    );
    const missing = [...(postgres ? [] : ['postgresql']), ...(this.redis.isReady ? [] : ['redis'])];
    if (missing.length > 0) void reply.status(503);
    return { status: missing.length > 0 ? 'missing' : 'ok', missing };
  }
}
