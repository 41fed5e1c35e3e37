import { distrustIn } from '@laddercast/platform';

/** SQLSTATE classes and codes (PostgreSQL manual, appendix A) after which the same statement can succeed later: the server is away, busy or set up wrongly, and the data are not at fault. */
const RETRIABLE_SQLSTATE = /^(08|57P|53|55P03|40001|40P01|57014|58|28|3D000|42501|25P0[34]|25006|XX000)/;
const RETRIABLE_SOCKET = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
]);
const RETRIABLE_MESSAGE =
  /Connection terminated|timeout exceeded|timeout expired|Query read timeout|not queryable|Client was closed|is not established|already released/i;

/** SQLSTATE of a row whose key is there already. */
export const UNIQUE_VIOLATION = '23505';

const CHECK_VIOLATION = '23514';
/** Says where a partition ends, as `PositionPartitions` names it. Rows from there on have their place once the next is begun. */
const END_OF_PARTITION = /^ends_at_\d+$/;

/** SQLSTATE of a constraint, and the like, that is not there. */
export const UNDEFINED_OBJECT = '42704';

interface DriverError {
  code?: string;
  /** Of a socket's error: what failed. */
  syscall?: string;
  /** Of a name with several addresses: what each came to. Node gives the whole the code of the first. */
  errors?: unknown[];
  message?: string;
  constraint?: string;
  driverError?: DriverError;
  cause?: unknown;
}

/** The SQLSTATE or socket code of a database error, through TypeORM's wrapping. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code, driverError } = (error ?? {}) as DriverError;
  return driverError?.code ?? code;
}

function constraintOf(error: unknown): string | undefined {
  const { constraint, driverError } = (error ?? {}) as DriverError;
  return driverError?.constraint ?? constraint;
}

/**
 * Whether PostgreSQL itself refused a statement: what was sent behind it in its transaction was not done. A pooler speaks in the
 * same form, of a connection that is lost (class 08): what it was sent may be done.
 */
export function isServersAnswer(error: unknown): boolean {
  const { severity } = (error ?? {}) as { severity?: unknown };
  return typeof severity === 'string' && !sqlStateOf(error)?.startsWith('08');
}

/** Whether the database could not be reached or is busy, as opposed to refusing these data. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const code = sqlStateOf(error) ?? '';
  if (code === 'LEDGER_UNAVAILABLE') return true;
  const { message = '', syscall, errors, driverError } = (error ?? {}) as DriverError;
  // Whatever the reason: a Unix socket that is not there, say.
  if (syscall === 'connect' || driverError?.syscall === 'connect') return true;
  const ofAddresses = driverError?.errors ?? errors;
  if (code !== '' && Array.isArray(ofAddresses) && ofAddresses.some(isDatabaseUnavailable)) return true;
  if (code === CHECK_VIOLATION && END_OF_PARTITION.test(constraintOf(error) ?? '')) return true;
  if (RETRIABLE_SOCKET.has(code) || RETRIABLE_SQLSTATE.test(code) || RETRIABLE_MESSAGE.test(message)) return true;
  // An expired certificate will be replaced.
  return distrustIn(error) !== null;
}
