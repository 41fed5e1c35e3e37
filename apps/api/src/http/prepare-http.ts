import type { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import { serveDocs } from '../openapi/serve-docs.js';
import { answerClientErrors } from './client-errors.js';
import { RouteTable } from './route-table.js';
import { NO_SNIFFING } from './security-headers.js';
import { takesNothing } from './takes-nothing.js';

/** What the API adds to the HTTP server before its routes are made. */
export function prepareHttp(app: NestFastifyApplication): void {
  const routes = app.get(RouteTable, { strict: false });
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRoute', ({ method, url }) => routes.add(method, url));
  server.addHook('onRequest', (_request, reply, done) => {
    void reply.headers(NO_SNIFFING);
    done();
  });
  answerClientErrors(server.server);
  takeJsonOnly(app);
  serveDocs(app);
}

/**
 * Fastify reads text and Nest reads forms: here both are answered 415. Clients that call every body JSON may send none
 * to a route that takes none.
 */
function takeJsonOnly(app: NestFastifyApplication): void {
  const adapter = app.getHttpAdapter() as FastifyAdapter;
  // Nest would do so later, when nothing can be taken away any more.
  adapter.registerParserMiddleware();
  const server = adapter.getInstance();
  server.removeContentTypeParser(['text/plain', 'application/x-www-form-urlencoded', 'application/json']);
  const parseJson = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, text, done) =>
    text === '' && takesNothing(request) ? done(null, undefined) : void parseJson(request, text, done),
  );
}
