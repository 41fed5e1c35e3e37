import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import { register } from 'prom-client';
import { SERVER_LIMITS } from '../http/connection-limits.js';
import type { MetricsCollection } from './metrics-collection.js';

/** Serves the process's metrics on a port of their own: they are for operators, not for clients. */
export class MetricsServer {
  private readonly log = new Logger('metrics');
  private readonly server: Server;

  /** @param collection reads gauges that are computed for each scrape */
  constructor(private readonly collection?: MetricsCollection) {
    this.server = createServer(SERVER_LIMITS, (request, response) => {
      if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      void this.answer(response);
    });
  }

  /** @returns the port that it listens on, which is chosen where 0 was asked for */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      // Not shared with the processes beside it: each answers for itself.
      this.server.listen({ port, host, exclusive: true }, () => resolve((this.server.address() as AddressInfo).port));
    });
  }

  private async answer(response: ServerResponse): Promise<void> {
    try {
      await this.collection?.collect();
      const text = await register.metrics();
      response.writeHead(200, { 'Content-Type': register.contentType }).end(text);
    } catch (error) {
      this.log.error({ err: error }, 'the metrics cannot be read');
      response.writeHead(500, { 'Content-Type': 'text/plain' }).end('The metrics cannot be read; the log says why.\n');
    }
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.server.listening) return resolve();
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }
}
