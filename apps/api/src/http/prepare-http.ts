import type { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import { serveDocs } from '../openapi/serve-docs.js';
import { RouteTable } from './route-table.js';

/** What the API adds to the HTTP server before its routes are made. */
export function prepareHttp(app: NestFastifyApplication): void {
  const routes = app.get(RouteTable, { strict: false });
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRoute', ({ method, url }) => routes.add(method, url));
  takeJsonOnly(app);
  serveDocs(app);
}

/** Fastify reads text and Nest reads forms: here both are answered 415. */
function takeJsonOnly(app: NestFastifyApplication): void {
  const adapter = app.getHttpAdapter() as FastifyAdapter;
  // Nest would do so later, when nothing can be taken away any more.
  adapter.registerParserMiddleware();
  adapter.getInstance().removeContentTypeParser(['text/plain', 'application/x-www-form-urlencoded']);
}
