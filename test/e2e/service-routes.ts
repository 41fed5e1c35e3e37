import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LeaderboardModule } from '@laddercast/leaderboard';
import { loadEnvironment } from '@laddercast/platform';
import { createLiveAdapter } from '@laddercast/realtime';
import { createTestDatabase, requiredService } from '@laddercast/testing';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiModule } from '../../apps/api/src/api.module.js';
import { prepareHttp } from '../../apps/api/src/http/prepare-http.js';
import { servePage } from '../../apps/standalone/src/serve-page.js';

/** `METHOD /path/{parameter}` of every route that clients may call, as the running service has them. */
export async function routesOfTheApi(): Promise<string[]> {
  return (await allRoutes()).filter(isOfTheApi);
}

/** The socket's address stands in asyncapi.json. */
const DOCUMENTS = /^\/(docs(\/.*)?|openapi\.json|asyncapi\.json|page-settings\.js|v1\/live)$/;
const PAGE_FOLDER = new URL('../../apps/standalone/public', import.meta.url);

/** Neither a document nor a file of the page; HEAD comes with every GET. */
function isOfTheApi(route: string): boolean {
  const [method, path] = route.split(' ') as [string, string];
  return method !== 'HEAD' && !DOCUMENTS.test(path) && !existsSync(`${fileURLToPath(PAGE_FOLDER)}${path}`);
}

/** All that Fastify is told, by an application wired as the standalone one. */
async function allRoutes(): Promise<string[]> {
  const database = await createTestDatabase();
  const settings = { DATABASE_URL: database.url, REDIS_URL: requiredService('TEST_REDIS_URL'), LOG_LEVEL: 'silent' };
  const environment = loadEnvironment({ ...settings, BOOTSTRAP_ADMIN_KEY: 'only-for-this-test' });
  @Module({ imports: [LeaderboardModule.forRoot({ environment, roles: ['api', 'projector', 'gateway'] }), ApiModule] })
  class WholeService {}
  const options = { logger: false, abortOnError: false } as const;
  const app = await NestFactory.create<NestFastifyApplication>(WholeService, new FastifyAdapter(), options);
  const routes: string[] = [];
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat()) routes.push(`${one} ${url.replace(/:(\w+)/g, '{$1}')}`);
    });
  prepareHttp(app);
  await servePage(app);
  app.useWebSocketAdapter(createLiveAdapter(app));
  try {
    await app.init();
    return routes;
  } finally {
    await app.close();
    await database.drop();
  }
}
