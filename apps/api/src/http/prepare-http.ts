import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { RouteTable } from './route-table.js';

/** What the API adds to the HTTP server before its routes are made. */
export function prepareHttp(app: NestFastifyApplication): void {
  const routes = app.get(RouteTable, { strict: false });
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRoute', ({ method, url }) => routes.add(method, url));
}
