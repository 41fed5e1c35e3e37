import { processLog, type Environment } from '@laddercast/platform';
import { Logger, PinoLogger } from 'nestjs-pino';

/** Parts of Nest that tell each step of a start, and its failure, which `startApp` tells in one sentence. */
const STARTING = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'WebSocketsController',
  'NestMicroservice',
  'NestApplication',
  'ExceptionHandler',
]);

/** Writes what Nest's loggers are told into the log of the process; what Nest says of its own start, at level debug. */
export class ServiceLog extends Logger {
  constructor(environment: Environment) {
    super(new PinoLogger({ pinoHttp: { logger: processLog(environment), wrapSerializers: false } }), {});
  }

  override log(message: unknown, ...rest: unknown[]): void {
    if (STARTING.has(String(rest.at(-1)))) super.debug(message, ...rest);
    else super.log(message, ...rest);
  }

  override error(message: unknown, ...rest: unknown[]): void {
    if (STARTING.has(String(rest.at(-1)))) super.debug(message, ...rest);
    else super.error(message, ...rest);
  }
}
