import { createApp, LeaderboardModule } from '@laddercast/leaderboard';
import { loadEnvironment } from '@laddercast/platform';
import { Module, type DynamicModule, type Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiModule } from '../../../apps/api/src/api.module.js';
import { prepareHttp } from '../../../apps/api/src/http/prepare-http.js';

export const ADMIN_KEY = 'admin-key-of-the-example';
export const ROLES_OF_SERVICE = ['api', 'projector', 'gateway'] as const;

/** The service with teams' modules in this process, started as `apps/standalone` does it, on a free port. */
export async function startServiceOfTeams(
  {
    databaseUrl,
    redisUrl,
    settings = {},
  }: { databaseUrl: string; redisUrl: string; settings?: Record<string, string> },
  ...teams: (Type<object> | DynamicModule)[]
): Promise<NestFastifyApplication> {
  const environment = loadEnvironment({
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
    LOG_LEVEL: 'silent',
    ...settings,
  });
  const roles = ROLES_OF_SERVICE;
  @Module({ imports: [LeaderboardModule.forRoot({ environment, roles }), ApiModule, ...teams] })
  class ServiceOfTeams {}
  const description = { name: 'standalone', roles, module: () => ServiceOfTeams };
  const app = await createApp({ ...description, prepare: prepareHttp }, environment);
  try {
    await app.init();
    await app.startAllMicroservices();
    await app.listen(0, '127.0.0.1');
  } catch (error) {
    // Nothing of it runs on: the tests behind are in this process, too.
    await app.close();
    throw error;
  }
  return app;
}
