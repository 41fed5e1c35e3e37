import {
  drainMsOf,
  endProcess,
  onWatcherGone,
  sleep,
  STOP_SIGNALS,
  STOP_WITHIN_MS,
  type Environment,
} from '@laddercast/platform';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

const READY_PATH = '/health/ready';

/**
 * Ends a process so that no request is lost: from the signal on it says that it is not ready, and asks its clients to
 * open no further request on their connections, while it still answers everything; when load balancers have had the time
 * to notice, it closes its ports, finishes what is in hand, and exits with 0.
 */
export class GracefulStop {
  private readonly drainMs: number;
  private isStopping = false;

  constructor(private readonly environment: Environment) {
    this.drainMs = drainMsOf(environment);
  }

  /** Makes the server say so once the stop has begun; before it listens. */
  attach(app: NestFastifyApplication): void {
    const server = app.getHttpAdapter().getInstance();
    server.addHook('onRequest', (request, reply, done) => {
      if (!this.isStopping) return done();
      void reply.header('Connection', 'close');
      if (request.url.split('?')[0] !== READY_PATH) return done();
      void reply.status(503).send({ status: 'stopping', missing: [] });
    });
    // A request that was on its way when the signal came has its answer yet.
    server.addHook('onSend', (_request, reply, payload, done) => {
      if (this.isStopping) void reply.header('Connection', 'close');
      done(null, payload);
    });
  }

  /**
   * Runs `stop` after the drain, once, when a signal comes, and without one when the process that watches over this one
   * is gone; ends the process with 1 where it takes too long.
   */
  onSignal(stop: () => Promise<void>): void {
    for (const signal of STOP_SIGNALS) process.on(signal, () => void this.begin(stop, this.drainMs));
    onWatcherGone(() => void this.begin(stop, 0));
  }

  private async begin(stop: () => Promise<void>, drainMs: number): Promise<void> {
    if (this.isStopping) return;
    this.isStopping = true;
    await sleep(drainMs);
    const tooLong = `The stop takes longer than ${STOP_WITHIN_MS / 1000} s: ended.`;
    setTimeout(() => endProcess(tooLong, this.environment), STOP_WITHIN_MS).unref();
    try {
      await stop();
    } catch (error) {
      endProcess(`The stop failed: ${error instanceof Error ? error.message : String(error)}`, this.environment);
    }
    process.exit(0);
  }
}
