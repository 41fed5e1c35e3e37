import { hostname } from 'node:os';
import { pino, stdTimeFunctions, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import type { Environment } from '../environment.js';
import { describeError } from './error-for-log.js';
import { redactorOf, redactSecrets } from './redaction.js';
import { VERSION } from './version.js';

let program = 'laddercast';
let output: DestinationStream | null = null;

/** From here on each log line of this process names the program, such as `api`. */
export function nameProgram(name: string): void {
  program = name;
}

/**
 * The log of this process: one JSON object a line on standard output, with an ISO time, the level as a word, the
 * program and its version. Secrets are removed from every line as it is written, so no call has to think of that.
 */
export const processLog = (environment: Environment): Logger => pino(optionsOf(environment), standardOutput());

/**
 * Ends the process with exit code 1 and a last line that says why, whatever LOG_LEVEL is. Work in hand is not finished.
 * @param environment null where the settings could not be read
 */
export function endProcess(reason: string, environment: Environment | null): never {
  // pino writes a fatal line, and all that waited before it, synchronously.
  pino({ ...optionsOf(environment), level: 'fatal' }, standardOutput()).fatal(reason);
  process.exit(1);
}

/** One for all loggers of the process, so that lines stand in the order in which they were logged. */
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
