import { Transform } from 'class-transformer';
import { IsIn, IsOptional, Matches, ValidateIf } from 'class-validator';
import { faultOfAddresses } from './address-faults.js';
import {
  faultOfDatabaseCa,
  faultOfDatabaseUrl,
  faultOfKafkaCa,
  faultOfKafkaCertificate,
  faultOfKafkaKey,
  faultOfReadFrom,
  faultOfRedisCa,
  faultOfRedisUrl,
  faultOfReplicaUrl,
  faultOfSasl,
  faultOfSentinelUser,
} from './connection-faults.js';
import { Agrees, Passes, Setting } from './setting.js';

const SASL_MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'] as const;

/** How PostgreSQL, Redis and Kafka are reached. */
export class ConnectionSettings {
  @Setting('PostgreSQL 15 or newer, the truth.', 'postgres://ladder:secret@127.0.0.1:5432/ladder')
  @Matches(/^postgres(ql)?:\/\//, { message: 'DATABASE_URL must begin with postgres://' })
  @Passes(faultOfAddresses)
  @Agrees(faultOfDatabaseUrl)
  DATABASE_URL!: string;

  @Setting(
    "The certificates (PEM) of those who may vouch for PostgreSQL; the connection is then by TLS, and the server's name is checked unless DATABASE_URL has another sslmode.",
    '/etc/laddercast/postgres-ca.pem',
  )
  @IsOptional()
  @Agrees(faultOfDatabaseCa)
  DATABASE_CA_FILE?: string;

  @Setting(
    'Redis 7 or Valkey 8 and newer; several addresses, separated by commas, are nodes of one cluster. redis-sentinel://user:password@host:port,host:port/name asks sentinels for the master of that name, with TLS rediss-sentinel://.',
    'redis://127.0.0.1:6379',
  )
  @Matches(/^(rediss?:\/\/[^,]+(,rediss?:\/\/[^,]+)*|rediss?-sentinel:\/\/.+)$/, {
    message:
      'REDIS_URL must begin with redis:// or rediss:// (cluster nodes: several, separated by commas), redis-sentinel:// or rediss-sentinel://',
  })
  @Passes(faultOfAddresses)
  @Agrees(faultOfRedisUrl)
  REDIS_URL!: string;

  @Setting(
    'The user that the sentinels of REDIS_URL know this as, where they have users of their own (ACL).',
    'laddercast',
  )
  @IsOptional()
  @Agrees((settings: ConnectionSettings) => faultOfSentinelUser(settings, 'REDIS_SENTINEL_USERNAME'))
  REDIS_SENTINEL_USERNAME?: string;

  @Setting('The password of the sentinels of REDIS_URL, where they have one: that of the servers stands in REDIS_URL.')
  @IsOptional()
  @Agrees((settings: ConnectionSettings) => faultOfSentinelUser(settings, 'REDIS_SENTINEL_PASSWORD'))
  REDIS_SENTINEL_PASSWORD?: string;

  @Setting(
    'Where that is read which says its own worth (estimates, sketches, pages asked for with from=replica): the master of REDIS_URL, or a replica of it while that is whole. Exact answers are of the master.',
  )
  @IsIn(['master', 'replica'])
  @Agrees(faultOfReadFrom)
  REDIS_READ_FROM: 'master' | 'replica' = 'master';

  @Setting(
    'The replica that REDIS_READ_FROM=replica reads: one that is near. Without it sentinels choose one of theirs.',
    'redis://127.0.0.1:6380',
  )
  @IsOptional()
  @Matches(/^rediss?:\/\/[^,]+$/, { message: 'REDIS_REPLICA_URL must be one address with redis:// or rediss://' })
  @Passes(faultOfAddresses)
  @Agrees(faultOfReplicaUrl)
  REDIS_REPLICA_URL?: string;

  @Setting(
    'The certificates (PEM) of those who may vouch for Redis and its sentinels; only with TLS in REDIS_URL. Without it those count that Node.js trusts.',
    '/etc/laddercast/redis-ca.pem',
  )
  @IsOptional()
  @Agrees(faultOfRedisCa)
  REDIS_CA_FILE?: string;

  @Setting('The log between the ledger and the projections: the outbox itself (postgres) or Kafka.')
  @IsIn(['postgres', 'kafka'])
  EVENT_LOG: 'postgres' | 'kafka' = 'postgres';

  @Setting(
    'Kafka brokers as host:port, separated by commas. Needed with EVENT_LOG=kafka, with KAFKA_IN_SCORES_KEY and with KAFKA_IN_GAMES_KEY.',
    '127.0.0.1:9092',
  )
  @ValidateIf(
    ({ EVENT_LOG, KAFKA_IN_SCORES_KEY, KAFKA_IN_GAMES_KEY }: ConnectionSettings) =>
      EVENT_LOG === 'kafka' || (KAFKA_IN_SCORES_KEY ?? KAFKA_IN_GAMES_KEY) !== undefined,
  )
  @Matches(/^[^\s,:]+:\d+(,[^\s,:]+:\d+)*$/, {
    message:
      'KAFKA_BROKERS must be host:port, several separated by commas, when EVENT_LOG is kafka, or KAFKA_IN_SCORES_KEY or KAFKA_IN_GAMES_KEY is set',
  })
  KAFKA_BROKERS?: string;

  @Setting('What topic names and consumer groups begin with, so that installations can share one Kafka.')
  @Matches(/^[a-zA-Z0-9._-]{1,64}$/)
  KAFKA_PREFIX = 'ladder';

  @Setting(
    'The API key (scope scores:write) with whose rights submissions count that others write to the Kafka topic in.scores (its name begins with KAFKA_PREFIX). Without it the topic is not read.',
  )
  @IsOptional()
  @Matches(/^[\w~+/=-]{16,}$/, {
    message: 'KAFKA_IN_SCORES_KEY must be an API key: 16 or more letters, digits or -_~+/=',
  })
  KAFKA_IN_SCORES_KEY?: string;

  @Setting(
    'The API key (scope scores:write) with whose rights games are recorded that others write to the Kafka topic in.games (its name begins with KAFKA_PREFIX). Without it the topic is not read.',
  )
  @IsOptional()
  @Matches(/^[\w~+/=-]{16,}$/, {
    message: 'KAFKA_IN_GAMES_KEY must be an API key: 16 or more letters, digits or -_~+/=',
  })
  KAFKA_IN_GAMES_KEY?: string;

  @Setting('true: brokers are reached by TLS, and their certificates are checked.')
  @IsIn(['true', 'false'])
  KAFKA_TLS: 'true' | 'false' = 'false';

  @Setting(
    'The certificates (PEM) of those who may vouch for brokers. Without it those count that Node.js trusts.',
    '/etc/laddercast/kafka-ca.pem',
  )
  @IsOptional()
  @Agrees(faultOfKafkaCa)
  KAFKA_TLS_CA_FILE?: string;

  @Setting(
    'The certificate (PEM) that this client shows to brokers, with KAFKA_TLS_KEY_FILE.',
    '/etc/laddercast/kafka.pem',
  )
  @Agrees(faultOfKafkaCertificate)
  KAFKA_TLS_CERT_FILE?: string;

  @Setting('The key (PEM, without a password) of KAFKA_TLS_CERT_FILE.', '/etc/laddercast/kafka-key.pem')
  @Agrees(faultOfKafkaKey)
  KAFKA_TLS_KEY_FILE?: string;

  @Setting(
    'How brokers learn who this is (SASL). oauthbearer takes its tokens from a class of yours, a KafkaTokens. Without it nobody is named.',
    'scram-sha-512',
  )
  // Brokers and their consoles write it in capitals.
  @Transform(({ value }) => (typeof value === 'string' ? value.toLowerCase() : (value as unknown)))
  @IsOptional()
  @IsIn(SASL_MECHANISMS)
  KAFKA_SASL_MECHANISM?: (typeof SASL_MECHANISMS)[number];

  @Setting('The user that brokers know this as, with plain and scram.', 'laddercast')
  @Agrees((settings: ConnectionSettings) => faultOfSasl(settings, 'KAFKA_SASL_USERNAME'))
  KAFKA_SASL_USERNAME?: string;

  @Setting('The password of KAFKA_SASL_USERNAME.')
  @Agrees((settings: ConnectionSettings) => faultOfSasl(settings, 'KAFKA_SASL_PASSWORD'))
  KAFKA_SASL_PASSWORD?: string;
}
