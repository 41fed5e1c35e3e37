import { sqlStateOf } from '@laddercast/ledger';
import { EnvironmentError, laneAddressOf, type Environment } from '@laddercast/platform';

/** What Node says of an address that a server cannot have. */
interface ListenFailure {
  code?: string;
  syscall?: string;
  hostname?: string;
  port?: number;
}

/** Why a process cannot start, in a sentence that says what to do about it. */
export function startFailure(name: string, error: unknown, environment: Environment | null): string {
  if (error instanceof EnvironmentError) return error.message;
  const reason = reasonOf(error);
  const remedy = remedyOf(error, environment);
  return `${name} cannot start: ${remedy === null ? reason : `${remedy} (${reason})`}`;
}

function remedyOf(error: unknown, environment: Environment | null): string | null {
  if (environment === null) return null;
  const { code = '', syscall, hostname } = error as ListenFailure;
  if (syscall === 'listen' || syscall === 'bind') return remedyOfPort(error as ListenFailure, environment);
  if (syscall === 'getaddrinfo' && hostname === environment.HOST) return remedyOfHost(environment);
  const state = sqlStateOf(error) ?? code;
  if (/^28/.test(state)) {
    return 'PostgreSQL refuses the user or the password of DATABASE_URL: correct them there, or in PostgreSQL';
  }
  if (state === '3D000') return 'PostgreSQL has no such database: create it, or correct DATABASE_URL';
  if (state === '42501') {
    return 'PostgreSQL does not let the user of DATABASE_URL do this: make it the owner of the database';
  }
  return null;
}

function remedyOfPort({ code, port }: ListenFailure, environment: Environment): string | null {
  const settings = settingsOf(port, environment);
  const [setting = 'PORT'] = settings;
  switch (code) {
    case 'EADDRINUSE':
      if (settings.length > 1) return `${settings.join(' and ')} are both ${port}: set one of them to another port`;
      return `port ${port} of ${setting} is in use by another program: end that one, or set ${setting} to another port`;
    case 'EACCES':
      return `this user may not open port ${port} of ${setting}: set ${setting} to one above 1023`;
    case 'EADDRNOTAVAIL':
      return remedyOfHost(environment);
    default:
      return null;
  }
}

/** The settings that name this port. */
function settingsOf(port: number | undefined, { PORT, METRICS_PORT, LANE_ADDRESS }: Environment): string[] {
  const ports: [string, number | undefined][] = [
    ['PORT', PORT],
    ['METRICS_PORT', METRICS_PORT],
    ['LANE_ADDRESS', LANE_ADDRESS === undefined ? undefined : laneAddressOf(LANE_ADDRESS).port],
  ];
  return ports.flatMap(([name, named]) => (port !== undefined && named === port ? [name] : []));
}

const remedyOfHost = ({ HOST }: Environment): string =>
  `this machine has no address ${HOST}: set HOST to one that it has, such as 127.0.0.1 or 0.0.0.0`;

/** The innermost message of an error: what went wrong, without the layers that reported it. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${reasonOf(error.cause)})` : error.message;
}
