import { Logger } from '@nestjs/common';

/** Where the log writes what an operator should know. */
export type LogLine = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  details?: Record<string, unknown>,
) => void;

/** The message of an error, short enough for a log line. */
export const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, 500);

/** Writes the lines of the event log into the log of the process. */
export const writeLogLine: LogLine = (level, message, details) => {
  const logger = new Logger('event-log');
  const line = { msg: message, ...details };
  if (level === 'error') logger.error(line);
  else if (level === 'warn') logger.warn(line);
  else if (level === 'info') logger.log(line);
  else logger.debug(line);
};
