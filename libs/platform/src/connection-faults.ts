import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { ConnectionSettings } from './connection-settings.js';
import { namesSentinels, sentinelAddressOf } from './sentinel-address.js';

/** The sslmodes that do not fall back to plain text: those of libpq, and the one that node-postgres adds. */
const SSL_MODES = new Set(['disable', 'require', 'verify-ca', 'verify-full', 'no-verify']);
const SSL_FILES = ['sslrootcert', 'sslcert', 'sslkey'] as const;
/** What libpq calls the certificates that the machine trusts. */
const SYSTEM = 'system';

const parametersOf = (address: string): URLSearchParams => new URLSearchParams(address.split('?').slice(1).join('?'));

export function faultOfDatabaseUrl({ DATABASE_URL, DATABASE_CA_FILE }: ConnectionSettings): string | null {
  const parameters = parametersOf(DATABASE_URL ?? '');
  const mode = parameters.get('sslmode');
  if (mode !== null && !SSL_MODES.has(mode))
    return 'DATABASE_URL: sslmode must be disable, require, verify-ca or verify-full';
  for (const name of SSL_FILES) {
    const path = parameters.get(name);
    if (path === null || (name === 'sslrootcert' && path === SYSTEM)) continue;
    const fault = name === 'sslkey' ? faultOfFile(path) : faultOfCertificates(path);
    if (fault !== null) return `DATABASE_URL: ${name} ${fault}`;
  }
  if (mode === 'verify-ca' && !parameters.has('sslrootcert') && DATABASE_CA_FILE === undefined)
    return 'DATABASE_URL: sslmode=verify-ca needs a CA: set DATABASE_CA_FILE';
  return null;
}

export function faultOfDatabaseCa({ DATABASE_URL, DATABASE_CA_FILE }: ConnectionSettings): string | null {
  const parameters = parametersOf(DATABASE_URL ?? '');
  const mode = parameters.get('sslmode');
  if (mode === 'disable' || mode === 'no-verify')
    return `DATABASE_CA_FILE is set, and sslmode=${mode} in DATABASE_URL checks nothing: leave one of them out`;
  if (parameters.has('sslrootcert'))
    return 'DATABASE_CA_FILE is set, and so is sslrootcert in DATABASE_URL: leave one of them out';
  return faultOfCertificateSetting('DATABASE_CA_FILE', DATABASE_CA_FILE);
}

export function faultOfRedisUrl({ REDIS_URL }: ConnectionSettings): string | null {
  if (namesSentinels(REDIS_URL ?? '')) {
    return sentinelAddressOf(REDIS_URL) === null
      ? 'REDIS_URL: these are no sentinels (redis-sentinel://user:password@host:port,host:port/name of the master); in user and password, write # / ? @ : , and % as %23 %2F %3F %40 %3A %2C %25'
      : null;
  }
  const addresses = (REDIS_URL ?? '').split(',');
  const withTls = addresses.filter((address) => address.startsWith('rediss://'));
  return withTls.length > 0 && withTls.length < addresses.length
    ? 'REDIS_URL has both redis:// and rediss://: the nodes of a cluster are reached in one way'
    : null;
}

/** The user and the password of sentinels, which are not those of the servers. */
export function faultOfSentinelUser(
  settings: ConnectionSettings,
  name: 'REDIS_SENTINEL_USERNAME' | 'REDIS_SENTINEL_PASSWORD',
): string | null {
  if (settings[name] === undefined) return null;
  if (!namesSentinels(settings.REDIS_URL ?? '')) return `${name} needs redis-sentinel:// in REDIS_URL`;
  return settings.REDIS_SENTINEL_PASSWORD === undefined ? `${name} needs REDIS_SENTINEL_PASSWORD` : null;
}

/** What of several masters lies where no replica of one of them can say. */
export function faultOfReadFrom({ REDIS_READ_FROM, REDIS_URL, REDIS_REPLICA_URL }: ConnectionSettings): string | null {
  if (REDIS_READ_FROM !== 'replica') return null;
  const isOfSentinels = namesSentinels(REDIS_URL ?? '');
  if (!isOfSentinels && (REDIS_URL ?? '').includes(',')) {
    return 'REDIS_READ_FROM=replica is for one master with replicas, and REDIS_URL names a cluster: leave it out';
  }
  if (isOfSentinels || REDIS_REPLICA_URL !== undefined) return null;
  return 'REDIS_READ_FROM=replica needs REDIS_REPLICA_URL, or redis-sentinel:// in REDIS_URL';
}

export const faultOfReplicaUrl = ({ REDIS_READ_FROM, REDIS_REPLICA_URL }: ConnectionSettings): string | null =>
  REDIS_REPLICA_URL !== undefined && REDIS_READ_FROM !== 'replica'
    ? 'REDIS_REPLICA_URL means nothing without REDIS_READ_FROM=replica: leave it out, or set that'
    : null;

export function faultOfRedisCa({ REDIS_URL, REDIS_REPLICA_URL, REDIS_CA_FILE }: ConnectionSettings): string | null {
  if (![REDIS_URL, REDIS_REPLICA_URL].some((url) => /^rediss(-sentinel)?:/.test(url ?? ''))) {
    return 'REDIS_CA_FILE needs rediss:// or rediss-sentinel:// in REDIS_URL, or rediss:// in REDIS_REPLICA_URL';
  }
  return faultOfCertificateSetting('REDIS_CA_FILE', REDIS_CA_FILE);
}

export function faultOfKafkaCa({ KAFKA_TLS, KAFKA_TLS_CA_FILE }: ConnectionSettings): string | null {
  if (KAFKA_TLS === 'false') return 'KAFKA_TLS_CA_FILE needs KAFKA_TLS=true';
  return faultOfCertificateSetting('KAFKA_TLS_CA_FILE', KAFKA_TLS_CA_FILE);
}

export function faultOfKafkaCertificate(settings: ConnectionSettings): string | null {
  const { KAFKA_TLS, KAFKA_TLS_CERT_FILE: certificate, KAFKA_TLS_KEY_FILE: key } = settings;
  if (certificate === undefined)
    return key === undefined ? null : 'KAFKA_TLS_KEY_FILE needs its certificate: set KAFKA_TLS_CERT_FILE';
  if (KAFKA_TLS === 'false') return 'KAFKA_TLS_CERT_FILE needs KAFKA_TLS=true';
  return faultOfCertificateSetting('KAFKA_TLS_CERT_FILE', certificate);
}

export function faultOfKafkaKey(settings: ConnectionSettings): string | null {
  const { KAFKA_TLS_CERT_FILE: certificate, KAFKA_TLS_KEY_FILE: key } = settings;
  if (key === undefined)
    return certificate === undefined ? null : 'KAFKA_TLS_CERT_FILE needs its key: set KAFKA_TLS_KEY_FILE';
  const fault = faultOfFile(key);
  if (fault !== null) return `KAFKA_TLS_KEY_FILE ${fault}`;
  if (certificate === undefined || faultOfCertificates(certificate) !== null) return null;
  try {
    createSecureContext({ cert: readFileSync(certificate), key: readFileSync(key) });
    return null;
  } catch {
    return `KAFKA_TLS_KEY_FILE (${key}) is not the key of KAFKA_TLS_CERT_FILE, or has a password`;
  }
}

export function faultOfSasl(
  settings: ConnectionSettings,
  name: 'KAFKA_SASL_USERNAME' | 'KAFKA_SASL_PASSWORD',
): string | null {
  const mechanism = settings.KAFKA_SASL_MECHANISM;
  const isGiven = settings[name] !== undefined;
  if (mechanism === undefined)
    return isGiven ? `${name} needs KAFKA_SASL_MECHANISM: plain, scram-sha-256 or scram-sha-512` : null;
  if (mechanism === 'oauthbearer')
    return isGiven ? `${name} means nothing with KAFKA_SASL_MECHANISM=oauthbearer: leave it out` : null;
  return isGiven ? null : `${name} is needed with KAFKA_SASL_MECHANISM=${mechanism}`;
}

function faultOfCertificateSetting(name: string, path: string | undefined): string | null {
  const fault = path === undefined ? null : faultOfCertificates(path);
  return fault === null ? null : `${name} ${fault}`;
}

function faultOfCertificates(path: string): string | null {
  const fault = faultOfFile(path);
  if (fault !== null) return fault;
  try {
    new X509Certificate(readFileSync(path));
    return null;
  } catch {
    return `(${path}) holds no certificate in PEM`;
  }
}

function faultOfFile(path: string): string | null {
  try {
    readFileSync(path);
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return `(${path}) cannot be read: ${FILE_FAULTS[code ?? ''] ?? code}`;
  }
}

const FILE_FAULTS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not',
  EISDIR: 'it is a folder',
};
