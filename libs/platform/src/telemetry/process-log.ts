import { hostname } from 'node:os';
import { pino, stdTimeFunctions, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import type { Environment } from '../environment.js';
import { describeError } from './error-for-log.js';
import { redactorOf, redactSecrets } from './redaction.js';
import { VERSION } from './version.js';

let program = 'laddercast';
let output: DestinationStream | null = null;

/** From here on each log line of this process says that it is of this program, such as `api`. */
export function nameProgram(name: string): void {
  program = name;
}

/**
 * The log of this process: one JSON object a line on standard output, with an ISO time, the level as a word, the program and
 * its version. Whatever a line says, secrets are taken out of it on its way out: no call has to think of that.
 */
export const processLog = (environment: Environment): Logger => pino(optionsOf(environment), standardOutput());

/**
 * Ends the process with 1 and a last line that says why, whatever LOG_LEVEL is; what is in hand is not finished.
 * @param environment null where the settings could not be read
 */
export function endProcess(reason: string, environment: Environment | null): never {
  // Before pino returns from a fatal line it has written that line, and all that waited.
  pino({ ...optionsOf(environment), level: 'fatal' }, standardOutput()).fatal(reason);
  process.exit(1);
}

/** One for every logger of the process, so that lines stand in the order in which they were logged. */
const standardOutput = (): DestinationStream => (output ??= pino.destination(1));

function optionsOf(environment: Environment | null): LoggerOptions {
  return {
    level: environment?.LOG_LEVEL ?? 'info',
    base: { app: program, version: VERSION, pid: process.pid, hostname: hostname() },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: (error: unknown) => describeError(error) },
    hooks: { streamWrite: environment === null ? redactSecrets : redactorOf(environment) },
  };
}
