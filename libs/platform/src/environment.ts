import 'reflect-metadata';
import { plainToInstance, Transform } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  MinLength,
  validateSync,
} from 'class-validator';
import { faultOfProxies } from './client-address.js';
import { ConnectionSettings } from './connection-settings.js';
import { faultOfImageHosts } from './image-hosts.js';
import { faultOfLaneAddress } from './lane-address.js';
import { Agrees, asNumber, documented, Passes, Setting } from './setting.js';

/** All settings of a process. They are read once, validated together, and never change while it runs. */
export class Environment extends ConnectionSettings {
  @Setting('Port of REST, WebSocket and the live page. 0: any free port.')
  @IsInt()
  @Min(0)
  @Max(65_535)
  PORT = 3000;

  @Setting('Port of GET /metrics (Prometheus). 0: any free port, which the log names.')
  @IsInt()
  @Min(0)
  @Max(65_535)
  METRICS_PORT = 9464;

  @Setting(
    'How many processes the program api runs on PORT, for a machine with cores to spare; the other programs pass over it. Above 1 the metrics of the first are on METRICS_PORT, those of the second on METRICS_PORT + 1, and so on.',
  )
  @IsInt()
  @Min(1)
  @Max(64)
  API_PROCESSES = 1;

  @Setting('Address that the ports are bound to.')
  @IsString()
  HOST = '127.0.0.1';

  @Setting('Where npm start and npm test keep the data of the services that they start. The service itself keeps none.')
  @IsString()
  DATA_DIR = '.data';

  @Setting(
    'The first admin key, 16 or more letters, digits or -_~+/= (no dots). Without it one is made and printed at start-up, unless NODE_ENV is production.',
  )
  @IsOptional()
  // Dots would make it look like a player's token.
  @Matches(/^[\w~+/=-]{16,}$/, {
    message: 'BOOTSTRAP_ADMIN_KEY must be 16 or more letters, digits or -_~+/=, and no dots',
  })
  BOOTSTRAP_ADMIN_KEY?: string;

  @Setting(
    "Secret of the HS256 signature of players' tokens, 32 characters or more. Without it no token is taken with HS256.",
  )
  @IsOptional()
  @MinLength(32)
  JWT_SECRET?: string;

  @Setting(
    "Where the key set (JWKS) is that players' tokens are signed with by RS256 or ES256. Without it no token is taken with those. https, or http on this machine.",
    'https://id.example.com/.well-known/jwks.json',
  )
  @IsOptional()
  @Matches(/^(https:\/\/[^\s@]+|http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/[^\s@]*)?)$/, {
    message: 'JWT_JWKS_URL must begin with https:// (or http://127.0.0.1), without a name or password',
  })
  JWT_JWKS_URL?: string;

  @Setting("What the iss of players' tokens must be. Without it iss is not looked at.", 'https://id.example.com/')
  @IsOptional()
  @MinLength(1)
  JWT_ISSUER?: string;

  @Setting("What the aud of players' tokens must be or hold. Without it aud is not looked at.", 'leaderboards')
  @IsOptional()
  @MinLength(1)
  JWT_AUDIENCE?: string;

  @Setting(
    "How many seconds the clock of who makes players' tokens may be off: their exp and nbf count so much later and earlier.",
  )
  @IsInt()
  @Min(0)
  @Max(300)
  JWT_CLOCK_TOLERANCE_SECONDS = 0;

  @Setting(
    'Lanes of the ledger and partitions of the log, for a new installation. Later they are raised by PUT /v1/admin/lanes, while it serves; any number that there was may stand here.',
  )
  @IsInt()
  @Min(1)
  @Max(64)
  LEDGER_LANES = 2;

  @Setting(
    'host:port at which the api takes writes of the other processes for the lanes that it owns, as they reach it; the port is opened on HOST. Without it only processes of the same machine hand theirs over, by a free port of 127.0.0.1. With API_PROCESSES the second process has the port that follows, and so on.',
    'api-1.internal:7400',
  )
  @IsOptional()
  @Matches(/^[^\s,/:]+:([1-9]\d{0,4})$/, { message: 'LANE_ADDRESS must be host:port' })
  @Agrees(faultOfLaneAddress)
  LANE_ADDRESS?: string;

  @Setting(
    'false: an api that owns no lanes, and hands its writes to those that do. For one that is far from PostgreSQL: a commit of its own would hold the lane for the way there and back.',
  )
  @IsIn(['true', 'false'])
  LANE_OWNER: 'true' | 'false' = 'true';

  @Setting('The most submissions that may wait in one lane; beyond, they are answered 503 OVERLOADED.')
  @IsInt()
  @Min(512)
  @Max(1_000_000)
  LANE_QUEUE_MAX = 20_000;

  @Setting(
    'How many entries an api process remembers, over all lanes, so that PostgreSQL need not be asked for them at the next submission; about 500 bytes each.',
  )
  @IsInt()
  @Min(1)
  @Max(10_000_000)
  LANE_MEMORY_MAX = 100_000;

  @Setting('The most events that may wait in the outbox; beyond, submissions are answered 503 OUTBOX_FULL.')
  @IsInt()
  @Min(1000)
  OUTBOX_EVENTS_MAX = 10_000_000;

  @Setting('How many rating pools a projector rates at once.')
  @IsInt()
  @Min(1)
  @Max(16)
  RATING_POOLS_AT_ONCE = 2;

  @Setting(
    'The most games that one void or corrected result may compute again; beyond, it is answered 409 RECOMPUTE_TOO_LARGE.',
  )
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  RECOMPUTE_GAMES_MAX = 100_000;

  @Setting('How many days a submission id is remembered.')
  @IsInt()
  @Min(1)
  @Max(365)
  SUBMISSION_ID_DAYS = 7;

  @Setting('How many days a dead letter is kept, at most 100,000 of them.')
  @IsInt()
  @Min(1)
  @Max(365)
  DEAD_LETTER_DAYS = 30;

  @Setting('How often a part of the ranks is compared with PostgreSQL, in seconds.')
  @IsInt()
  @Min(1)
  @Max(86_400)
  RECONCILE_EVERY_SECONDS = 60;

  @Setting('The most subscriptions of one socket.')
  @IsInt()
  @Min(1)
  @Max(10_000)
  SOCKET_SUBSCRIPTIONS_MAX = 50;

  @Setting('The most sockets of one player in each gateway process.')
  @IsInt()
  @Min(1)
  @Max(20_000)
  SOCKETS_PER_PLAYER_MAX = 20;

  @Setting('The most sockets of one API key in each gateway process.')
  @IsInt()
  @Min(1)
  @Max(20_000)
  SOCKETS_PER_KEY_MAX = 10_000;

  @Setting('The most sockets of one address without identity in each gateway process.')
  @IsInt()
  @Min(1)
  @Max(20_000)
  SOCKETS_PER_ADDRESS_MAX = 2000;

  @Setting(
    'The most subscriptions of one player, over all its sockets in a gateway process; an API key, and an address without identity, have 100 times as many.',
  )
  @IsInt()
  @Min(1)
  @Max(10_000)
  SUBSCRIPTIONS_PER_PLAYER_MAX = 200;

  @Setting('The most sockets of shadowed players in each gateway process: their lists are read for them alone.')
  @IsInt()
  @Min(0)
  @Max(20_000)
  SHADOW_SOCKETS_MAX = 1000;

  @Setting(
    'Requests and submissions a second of one API key, over all processes (a batch counts each of its submissions; look-ups and standings count one for every 25 players or boards). 0: no limit.',
  )
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  RATE_LIMIT_KEY_PER_SECOND = 50_000;

  @Setting('Requests, submissions and subscriptions a second of one player, over all processes. 0: no limit.')
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  RATE_LIMIT_PLAYER_PER_SECOND = 50;

  @Setting(
    'Requests without identity, new sockets and their subscriptions a second of one address (IPv6: one /64), over all processes. 0: no limit.',
  )
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  RATE_LIMIT_ADDRESS_PER_SECOND = 500;

  @Setting('Wrong keys and tokens a second of one address, over all processes. 0: no limit.')
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  RATE_LIMIT_FAILED_IDENTITY_PER_SECOND = 20;

  @Setting('How many seconds’ worth of each rate limit may come at once.')
  @IsInt()
  @Min(1)
  @Max(60)
  RATE_LIMIT_WINDOW_SECONDS = 4;

  @Setting(
    'Proxies in front, as addresses and networks separated by commas: only theirs is an X-Forwarded-For believed. Without it an address is that of the connection.',
    '10.0.0.0/8,fd00::/8',
  )
  @Passes(faultOfProxies)
  TRUSTED_PROXIES = '';

  @Setting(
    'Origins whose pages may call the API and open sockets, separated by commas; * is any. Without it no other page may call, and the Origin of sockets is not looked at.',
    'https://game.example',
  )
  @Matches(/^(|\*|https?:\/\/[^\s,/]+(,https?:\/\/[^\s,/]+)*)$/, {
    message: 'CORS_ORIGINS must be *, or origins such as https://game.example without a path, separated by commas',
  })
  CORS_ORIGINS = '';

  @Setting(
    'Hosts from which the live page may show images, such as avatars, beside its own server, separated by commas; https always. Without it none: a host that serves avatars sees who looks.',
    'cdn.example.com,*.avatars.example.net',
  )
  @Passes(faultOfImageHosts)
  PAGE_IMAGE_HOSTS = '';

  @Setting(
    "Attributes of players' profiles that rows of lists show who ask for fields=player, by name, separated by commas; * is all of them, - none. On public boards anybody reads them.",
    'country,team',
  )
  @Matches(/^(\*|-|[a-z][a-z0-9_-]{0,31}(,[a-z][a-z0-9_-]{0,31})*)$/, {
    message: 'PLAYER_ATTRIBUTES_SHOWN must be *, -, or names of attributes separated by commas',
  })
  PLAYER_ATTRIBUTES_SHOWN = '*';

  @Setting(
    'For how many seconds browsers shall insist on TLS (Strict-Transport-Security). Only where TLS is in front. 0: it is not said.',
  )
  @IsInt()
  @Min(0)
  @Max(63_072_000)
  HSTS_SECONDS = 0;

  @Setting('The largest request body, in bytes.')
  @IsInt()
  @Min(1024)
  @Max(64 * 1024 * 1024)
  BODY_BYTES_MAX = 2 * 1024 * 1024;

  @Setting(
    'How long a process that is told to stop still takes requests, while /health/ready already answers 503: as long as load balancers need to notice, in milliseconds. Default: 5000 with NODE_ENV=production, else 0. The stop itself takes at most 20 s more.',
  )
  // There is no default that would tell that this is a number.
  @Transform(({ value }) => asNumber(value))
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(60_000)
  STOP_DRAIN_MS?: number;

  @Setting('How many boards are filled anew at once, after a patch was published, or because they are rebuilt.')
  @IsInt()
  @Min(1)
  @Max(20)
  RETAX_BOARDS_AT_ONCE = 2;

  @Setting(
    'How many entries a second are ranked anew after a patch was published, all boards together. 0: as fast as it goes.',
  )
  @IsInt()
  @Min(0)
  @Max(10_000_000)
  RETAX_ROWS_PER_SECOND = 0;

  @Setting('What is logged: fatal, error, warn, info, debug or trace.')
  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  LOG_LEVEL = 'info';

  @Setting(
    'production: no admin key is ever made up, a PostgreSQL that may forget commits is refused, and a stop drains requests for 5 s (DATABASE_MAY_FORGET, STOP_DRAIN_MS).',
  )
  @IsString()
  NODE_ENV = 'development';

  @Setting(
    'true: start on a PostgreSQL that may forget commits in a crash (fsync, full_page_writes or synchronous_commit off). Else such a server is refused in production, and elsewhere warned of.',
  )
  @IsIn(['true', 'false'])
  DATABASE_MAY_FORGET: 'true' | 'false' = 'false';

  @Setting(
    'Where traces go: the address of an OpenTelemetry collector (OTLP over HTTP, JSON), without /v1/traces. Without it nothing is traced.',
    'http://127.0.0.1:4318',
  )
  @IsOptional()
  @Matches(/^https?:\/\/[^\s?#]+$/, { message: 'OTEL_EXPORTER_OTLP_ENDPOINT must begin with http:// or https://' })
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;

  @Setting('How many of the requests without a traceparent are traced, 0 to 1; one with a traceparent says it itself.')
  @IsNumber()
  @Min(0)
  @Max(1)
  OTEL_TRACES_SAMPLER_ARG = 0.01;
}

/** Thrown when settings are wrong; its message lists every fault. */
export class EnvironmentError extends Error {}

/**
 * Reads and validates the settings.
 * @throws EnvironmentError with all faults together
 */
export function loadEnvironment(source: Record<string, string | undefined> = process.env): Environment {
  const given: Record<string, unknown> = {};
  const defaults = new Environment() as unknown as Record<string, unknown>;
  for (const { name } of documented) {
    const text = source[name];
    if (text === undefined || text === '') continue;
    given[name] = typeof defaults[name] === 'number' ? asNumber(text) : text;
  }
  const settings = plainToInstance(Environment, given);
  const faults = validateSync(settings).flatMap(({ property, value, constraints = {} }) =>
    Object.values(constraints).map((text) => (value === undefined ? ofMissing(property, text) : text)),
  );
  if (faults.length > 0)
    throw new EnvironmentError(
      `These settings are wrong: ${faults.join('; ')}. docs/reference/settings.md has them all.`,
    );
  return settings;
}

const ofMissing = (name: string, fault: string): string =>
  fault.startsWith(`${name} `) ? `${name} is not set: it ${fault.slice(name.length + 1)}` : fault;

/** The text of `.env.example`. */
export function describeEnvironment(): string {
  const defaults = new Environment() as unknown as Record<string, unknown>;
  const lines = documented.map(({ name, doc, example }) => {
    const value = defaults[name];
    const isSet = value !== undefined && value !== '';
    return isSet ? `# ${doc}\n${name}=${String(value)}` : `# ${doc}\n# ${name}=${example}`;
  });
  return `# Generated from libs/platform/src/environment.ts by npm run generate.\n\n${lines.join('\n\n')}\n`;
}
