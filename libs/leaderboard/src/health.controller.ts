import { PostgresDatabase } from '@laddercast/ledger';
import { RedisConnection } from '@laddercast/projections';
import { sleep } from '@laddercast/platform';
import { Controller, Get, Inject, Optional, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ScoreIntakeLifecycle } from './score-intake.lifecycle.js';

const ANSWER_WITHIN_MS = 2000;

/** Whether each thing that a process needs answers now. */
@Controller('health')
export class HealthController {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly redis: RedisConnection,
    @Optional() @Inject(ScoreIntakeLifecycle) private readonly scoreIntake: ScoreIntakeLifecycle | null,
  ) {}

  @Get('live')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('ready')
  async ready(
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ status: 'ok' | 'missing'; missing: string[]; notes?: string[] }> {
    const [postgresql, redis] = await Promise.all([within(this.databaseAnswers()), within(this.redis.answers())]);
    const missing = [...(postgresql ? [] : ['postgresql']), ...(redis ? [] : ['redis'])];
    if (missing.length > 0) void reply.status(503);
    const stands = this.scoreIntake?.stands;
    const notes = stands ? { notes: [`in.scores is not read: ${stands}`] } : {};
    return { status: missing.length > 0 ? 'missing' : 'ok', missing, ...notes };
  }

  private databaseAnswers(): Promise<boolean> {
    return this.database.query('SELECT 1').then(
      () => true,
      () => false,
    );
  }
}

/** What does not answer in time counts as missing: a hung server holds its connections open. */
const within = (check: Promise<boolean>): Promise<boolean> =>
  Promise.race([check, sleep(ANSWER_WITHIN_MS).then(() => false)]);
