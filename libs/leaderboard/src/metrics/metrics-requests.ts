import { metrics } from '@laddercast/platform';
import type { FastifyInstance } from 'fastify';

interface Child {
  observe(seconds: number): void;
}

/** Routes are as many as the code has, statuses those that it answers; more than this would be a fault, and is one row. */
const CHILDREN_MAX = 2000;

/** Notes how long each request took, from its first line to the end of its answer; to be called before routes are made. */
export function measureRequests(server: FastifyInstance): void {
  const children = new Map<string, Child>();
  server.addHook('onResponse', (request, reply, done) => {
    // Never the address that was asked for, which anybody may make up.
    const route = request.routeOptions.url ?? 'none';
    const { method } = request;
    const key = `${method} ${route} ${reply.statusCode}`;
    let child = children.get(key);
    if (!child) {
      const isKnown = children.size < CHILDREN_MAX;
      child = metrics.requestSeconds.labels(
        route === 'none' ? 'any' : method,
        isKnown ? route : 'other',
        String(reply.statusCode),
      );
      if (isKnown) children.set(key, child);
    }
    child.observe(reply.elapsedTime / 1000);
    done();
  });
}
