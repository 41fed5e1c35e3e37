import { isUtf8 } from 'node:buffer';
import { faultOfUnsafeName } from '@laddercast/commands';
import { LadderError, validationFailed } from '@laddercast/domain';
import { noteControllers, takesNothing } from '@laddercast/leaderboard';
import { BoardCatalog } from '@laddercast/ledger';
import { Environment } from '@laddercast/platform';
import { EntryDetails } from '@laddercast/queries';
import type { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import { serveDocs } from '../openapi/serve-docs.js';
import { answerConditionally } from './conditional-get.js';
import { allowOrigins } from './cross-origin.js';
import { BATCH_JSON_VALUES_MAX, faultOfShape, JSON_VALUES_MAX, TEMPLATE_JSON_VALUES_MAX } from './json-shape.js';
import { Callers } from './identity.guard.js';
import { RequestMeter } from './request-meter.js';
import { BATCH_ROUTES } from './request-costs.js';

/** Their own parser looks at the names of fields, so that an item of a batch is refused alone. */
const SUBMISSION_ROUTES = [...BATCH_ROUTES, '/v1/boards/:board/scores'];

/** How many values a body of a route may have. */
const VALUES_MAX = new Map([
  ...BATCH_ROUTES.map((route) => [route, BATCH_JSON_VALUES_MAX] as const),
  ['/v1/board-templates/:template', TEMPLATE_JSON_VALUES_MAX],
]);

/** What the API adds to the HTTP server before its routes are made. */
export function prepareHttp(app: NestFastifyApplication): void {
  const environment = app.get(Environment, { strict: false });
  const meter = app.get(RequestMeter, { strict: false });
  const callers = app.get(Callers, { strict: false });
  noteControllers(app);
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRequest', (request, reply, done) => meter.arrives(request, reply, done));
  // Not in a guard: those come after the body was read, and not at all where it cannot be.
  server.addHook('preParsing', (request, reply, _payload, done) => {
    const identified = meter.isByIdentity(request) ? callers.identify(request, reply) : null;
    if (identified === null) return done();
    identified.then(() => done(), done);
  });
  answerConditionally(server, app.get(BoardCatalog, { strict: false }), app.get(EntryDetails, { strict: false }));
  allowOrigins(app, environment);
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
  server.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    // Read all the same, every wrong byte would become U+FFFD, and two players one.
    if (!isUtf8(bytes)) return done(new LadderError('MALFORMED_JSON', 'The body is not UTF-8; send it as UTF-8.'));
    const text = bytes.toString();
    if (text === '' && takesNothing(request)) return done(null, undefined);
    const { url } = request.routeOptions;
    const fault = faultOfShape(text, VALUES_MAX.get(url!) ?? JSON_VALUES_MAX);
    if (fault) return done(validationFailed([fault]));
    void parseJson(request, text, (error, body) => {
      const value = error === null ? undefined : jsonOf(text);
      if (value === undefined) return done(error, body);
      // It is JSON: what the parser does not take are names of fields.
      const unsafe = SUBMISSION_ROUTES.includes(url!) ? null : faultOfUnsafeName(value);
      done(unsafe && validationFailed([unsafe]), value);
    });
  });
}

/** undefined for a text that is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
