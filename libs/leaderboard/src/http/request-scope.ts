import { isTracing, startRequestSpan, traceIdOf, type OpenSpan } from '@laddercast/platform';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** What names a request in logs. */
export interface RequestNames {
  requestId: string;
  /** Where the request is traced. */
  traceId?: string;
}

const spans = new WeakMap<FastifyRequest, OpenSpan>();

/** The id of a request, as its answer carries it, and that of its trace. */
export function namesOf(request: FastifyRequest): RequestNames {
  const traceparent = isTracing() ? spans.get(request)?.traceparents[0] : undefined;
  return { requestId: request.id, ...(traceparent !== undefined && { traceId: traceIdOf(traceparent) }) };
}

/** Puts `X-Request-Id` on every answer, and makes a span of every request while traces are on. */
export function watchRequests(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    void reply.header('X-Request-Id', request.id);
    done();
  });
  if (isTracing()) traceRequests(server);
}

function traceRequests(server: FastifyInstance): void {
  server.addHook('onRequest', (request, _reply, done) => {
    const { url } = request.routeOptions;
    if (url?.startsWith('/health/')) return done();
    // The route, not the path: that may hold whom somebody looks at.
    const route = url ?? 'no route';
    const { traceparent } = request.headers;
    const span = startRequestSpan(
      `${request.method} ${route}`,
      typeof traceparent === 'string' ? traceparent : undefined,
    );
    if (span !== null) {
      span.set({ 'http.request.method': request.method, 'http.route': route, 'laddercast.request_id': request.id });
      spans.set(request, span);
    }
    done();
  });
  // After the body was read: what comes from the socket is not in the span's context any more.
  server.addHook('preHandler', (request, _reply, done) => {
    const span = spans.get(request);
    if (span === undefined) done();
    else span.around(done);
  });
  server.addHook('onResponse', (request, reply, done) => {
    const span = spans.get(request);
    span?.set({ 'http.response.status_code': reply.statusCode });
    span?.end(reply.statusCode >= 500 ? new Error(`HTTP ${reply.statusCode}`) : undefined);
    spans.delete(request);
    done();
  });
  // Nobody waits for the answer any more: there will be none.
  server.addHook('onRequestAbort', (request, done) => {
    spans.get(request)?.end();
    spans.delete(request);
    done();
  });
}
