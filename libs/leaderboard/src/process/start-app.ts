import type { IncomingMessage } from 'node:http';
import { BoardCatalog } from '@laddercast/ledger';
import {
  endProcess,
  Environment,
  loadEnvironment,
  nameProgram,
  requestIdOf,
  startTracing,
  stopTracing,
  tellReady,
} from '@laddercast/platform';
import { createLiveAdapter } from '@laddercast/realtime';
import { Logger, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { MicroserviceOptions } from '@nestjs/microservices';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { SagaServer } from '@laddercast/sagas';
import { CONNECTION_LIMITS } from '../http/connection-limits.js';
import { answerFrameworkError } from '../http/framework-errors.js';
import { guardRequests } from '../http/guard-requests.js';
import { GracefulStop } from './graceful-stop.js';
import type { Role } from '../roles.js';
import { measureRequests } from '../metrics/metrics-requests.js';
import { ProcessMetrics } from '../metrics/process-metrics.js';
import { watchRequests } from '../http/request-scope.js';
import { ServiceLog } from './service-log.js';
import { startFailure } from './start-failure.js';

/** The longest path parameter: 128 bytes of UTF-8, percent-encoded. */
const PATH_PARAMETER_LENGTH_MAX = 3 * 128;
const OTHER_HISTORY =
  'PostgreSQL went back to an earlier state (a restored back-up, a stand-by without the last commits), and this process ' +
  'knows what is not there any more. Start it again.';

export interface AppDescription {
  /** For the log: api, projector, gateway or standalone. */
  name: string;
  roles: readonly Role[];
  /** The root module, made once the settings are known to be good. */
  module(environment: Environment): Type<object>;
  /** Called before the port opens; for what an app adds to its HTTP server. */
  prepare?(app: NestFastifyApplication, environment: Environment): Promise<void> | void;
}

/** Runs one process of the service until a signal ends it; a failure to start ends it with a log line that says why. */
export async function startApp(description: AppDescription): Promise<void> {
  nameProgram(description.name);
  let environment: Environment | null = null;
  try {
    environment = loadEnvironment();
    await start(description, environment);
  } catch (error) {
    endProcess(startFailure(description.name, error, environment), environment);
  }
}

async function start(description: AppDescription, environment: Environment): Promise<void> {
  await startTracing(environment, description.name);
  const app = await createApp(description, environment);
  const metrics = new ProcessMetrics(app, description.roles);
  const stop = new GracefulStop(environment);
  stop.attach(app);
  stop.onSignal(async () => {
    await metrics.stop();
    await app.close();
    await stopTracing();
  });
  // All that it remembers goes at once, and whoever starts it again has it read what is there.
  app.get(BoardCatalog).onOtherHistory(() => endProcess(`${description.name} ends: ${OTHER_HISTORY}`, environment));
  await app.init();
  metrics.start();
  await app.startAllMicroservices();
  await app.listen(environment.PORT, environment.HOST);
  const metricsPort = await metrics.listen(environment.METRICS_PORT, environment.HOST);
  Logger.log(`${description.name} listens on ${await app.getUrl()}, with its metrics on port ${metricsPort}`);
  tellReady();
}

/** The application of one process, not started: for {@link startApp}, and for tests that run it beside themselves. */
export async function createApp(
  description: AppDescription,
  environment: Environment,
): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    ...CONNECTION_LIMITS,
    bodyLimit: environment.BODY_BYTES_MAX,
    requestIdHeader: false,
    genReqId: ({ headers }: IncomingMessage) => requestIdOf(headers),
    frameworkErrors: answerFrameworkError,
    routerOptions: { maxParamLength: PATH_PARAMETER_LENGTH_MAX },
    forceCloseConnections: 'idle',
    // What arrives while the process stops is still answered; the listener closes, so nothing new comes.
    return503OnClosing: false,
  });
  const app = await NestFactory.create<NestFastifyApplication>(description.module(environment), adapter, {
    logger: new ServiceLog(environment),
    abortOnError: false,
  });
  watchRequests(app.getHttpAdapter().getInstance());
  measureRequests(adapter.getInstance());
  guardRequests(app, environment);
  await description.prepare?.(app, environment);
  if (description.roles.includes('gateway')) app.useWebSocketAdapter(createLiveAdapter(app));
  if (description.roles.includes('projector')) {
    app.connectMicroservice<MicroserviceOptions>({ strategy: app.get(SagaServer) });
  }
  return app;
}
