import type { Environment } from '@laddercast/platform';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { sendProblem } from './problem.filter.js';
import { refusalOfRequest } from './request-limits.js';
import { RouteTable } from './route-table.js';
import { securityHeadersOf } from './security-headers.js';

/** What holds for every request, whatever the process does; to be called before routes are made. */
export function guardRequests(app: NestFastifyApplication, environment: Environment): void {
  const routes = app.get(RouteTable, { strict: false });
  const securityHeaders = securityHeadersOf(environment);
  const server = app.getHttpAdapter().getInstance();
  server.addHook('onRoute', ({ method, url }) => routes.add(method, url));
  server.addHook('onRequest', (request, reply, done) => {
    void reply.headers(securityHeaders);
    const refusal = refusalOfRequest(request);
    if (refusal) return sendProblem(reply, refusal, request.url);
    done();
  });
}
