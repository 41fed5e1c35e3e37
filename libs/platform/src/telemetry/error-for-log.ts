/** An error as a log line holds it. */
export interface DescribedError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: DescribedError;
}

const TEXT_MAX = 4000;
const CAUSES_MAX = 4;

/**
 * The loggable part of an error: name, message, code, stack and causes, each bounded. What libraries attach stays out:
 * statements with their parameters, commands with their arguments, whole requests.
 */
export function describeError(error: unknown, depth = 0): DescribedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error).slice(0, TEXT_MAX) };
  const { code } = error as { code?: unknown };
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : undefined;
  const cause = error.cause ?? first;
  return {
    type: error.name,
    message: error.message.slice(0, TEXT_MAX),
    ...((typeof code === 'string' || typeof code === 'number') && { code: String(code) }),
    ...(error.stack !== undefined && { stack: error.stack.slice(0, TEXT_MAX) }),
    ...(cause != null && depth < CAUSES_MAX && { cause: describeError(cause, depth + 1) }),
  };
}
