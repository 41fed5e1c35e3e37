import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from './call.js';
import type { FaultyApp } from './installation.js';

const ASK_EVERY_MS = 100;
const ANSWER_WITHIN_MS = 5000;
const READY_WITHIN_MS = 120_000;

interface Backend {
  app: FaultyApp;
  agent: Agent;
  isReady: boolean;
}

/**
 * What stands before the processes in production, as small as it can be: requests and sockets go round among those
 * whose `/health/ready` answers 200, over connections that are kept; a request that fails is not tried again.
 */
export class LoadBalancer {
  /** Requests that got no answer from the process they were sent to. */
  readonly failures: string[] = [];
  private readonly server = createServer((request, response) => this.forward(request, response));
  private readonly sockets = new Set<Socket>();
  private readonly asking: Promise<void>[] = [];
  private isClosed = false;
  private turn = 0;

  private constructor(private readonly backends: readonly Backend[]) {
    this.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) =>
      this.tunnel(request, socket, head),
    );
  }

  static async before(apps: readonly FaultyApp[]): Promise<LoadBalancer> {
    const balancer = new LoadBalancer(
      apps.map((app) => ({ app, agent: new Agent({ keepAlive: true }), isReady: false })),
    );
    await Promise.all(balancer.backends.map((backend) => balancer.ask(backend)));
    balancer.asking.push(...balancer.backends.map((backend) => balancer.keepAsking(backend)));
    balancer.server.listen(0, '127.0.0.1');
    await once(balancer.server, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Resolves once requests go to the process, at once where it is none of those behind this one. */
  async uses(app: FaultyApp): Promise<void> {
    const endsAtMs = Date.now() + READY_WITHIN_MS;
    while (this.backends.some((backend) => backend.app === app && !backend.isReady)) {
      if (Date.now() > endsAtMs) throw new Error(`${app.url} is not ready after ${READY_WITHIN_MS} ms`);
      await sleep(ASK_EVERY_MS);
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.asking);
    for (const socket of this.sockets) socket.destroy();
    for (const { agent } of this.backends) agent.destroy();
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async keepAsking(backend: Backend): Promise<void> {
    while (!this.isClosed) {
      await sleep(ASK_EVERY_MS);
      await this.ask(backend);
    }
  }

  private async ask(backend: Backend): Promise<void> {
    const { status } = await call(`${backend.app.url}/health/ready`, { timeoutMs: ANSWER_WITHIN_MS });
    backend.isReady = status === 200;
  }

  private next(): Backend | null {
    const ready = this.backends.filter(({ isReady }) => isReady);
    return ready.length === 0 ? null : ready[(this.turn += 1) % ready.length]!;
  }

  private forward(request: IncomingMessage, response: ServerResponse): void {
    const backend = this.next();
    if (!backend) {
      this.failures.push(`${request.method} ${request.url}: nobody is ready`);
      response.writeHead(502).end();
      return;
    }
    const { method, headers } = request;
    // The connections on both sides are each their own.
    const { connection: _connection, ...passed } = headers;
    const onward = httpRequest(backend.app.url + request.url!, { method, headers: passed, agent: backend.agent });
    onward.on('response', (answer) => {
      const { connection: _closing, 'keep-alive': _keepAlive, ...given } = answer.headers;
      response.writeHead(answer.statusCode!, given);
      answer.pipe(response);
    });
    onward.on('error', (error) => {
      this.failures.push(`${request.method} ${request.url} at ${backend.app.url}: ${error.message}`);
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
    request.pipe(onward);
  }

  private tunnel(request: IncomingMessage, client: Socket, head: Buffer): void {
    const backend = this.next();
    if (!backend) return void client.destroy();
    const { hostname, port } = new URL(backend.app.url);
    const service = connect(Number(port), hostname);
    const lines = request.rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
    service.write(`${request.method} ${request.url} HTTP/1.1\r\n${lines}\r\n`);
    service.write(head);
    for (const [from, to] of [
      [client, service],
      [service, client],
    ] as const) {
      this.sockets.add(from);
      from.pipe(to);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
    }
  }
}
