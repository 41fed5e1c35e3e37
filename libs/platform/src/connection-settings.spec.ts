import { describe, expect, it } from 'vitest';
import { loadEnvironment } from './environment.js';
import { redactorOf } from './telemetry/redaction.js';

const LEAST = { DATABASE_URL: 'postgres://127.0.0.1/ladder', REDIS_URL: 'redis://127.0.0.1:6379' };
const SASL = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'ladder', KAFKA_SASL_PASSWORD: 'kafka-secret-1' };
const NO_CERTIFICATE = new URL(import.meta.url).pathname;

describe('what is said of TLS and users', () => {
  it.each([
    [{ KAFKA_TLS_CA_FILE: '/nowhere' }, 'KAFKA_TLS_CA_FILE needs KAFKA_TLS=true'],
    [{ KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: '/nowhere' }, 'KAFKA_TLS_CA_FILE (/nowhere) cannot be read: there is no'],
    [{ KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: NO_CERTIFICATE }, 'holds no certificate in PEM'],
    [{ KAFKA_TLS: 'true', KAFKA_TLS_CERT_FILE: '/nowhere' }, 'KAFKA_TLS_CERT_FILE needs its key'],
    [{ KAFKA_TLS: 'true', KAFKA_TLS_KEY_FILE: NO_CERTIFICATE }, 'KAFKA_TLS_KEY_FILE needs its certificate'],
    [{ ...SASL, KAFKA_SASL_MECHANISM: '' }, 'KAFKA_SASL_USERNAME needs KAFKA_SASL_MECHANISM'],
    [
      { ...SASL, KAFKA_SASL_PASSWORD: '' },
      'KAFKA_SASL_PASSWORD is not set: it is needed with KAFKA_SASL_MECHANISM=plain',
    ],
    [{ ...SASL, KAFKA_SASL_MECHANISM: 'oauthbearer' }, 'KAFKA_SASL_PASSWORD means nothing with'],
    [{ ...SASL, KAFKA_SASL_MECHANISM: 'gssapi' }, 'KAFKA_SASL_MECHANISM must be one of'],
    [{ DATABASE_CA_FILE: '/nowhere' }, 'DATABASE_CA_FILE (/nowhere) cannot be read'],
    [{ DATABASE_URL: 'postgres://db/ladder?sslmode=prefer' }, 'sslmode must be disable, require, verify-ca or'],
    [
      { DATABASE_URL: 'postgres://db/ladder?sslrootcert=/nowhere' },
      'DATABASE_URL: sslrootcert (/nowhere) cannot be read',
    ],
    [{ DATABASE_URL: 'postgres://db/ladder?sslmode=verify-ca' }, 'sslmode=verify-ca needs a CA'],
    [{ DATABASE_URL: 'postgres://db/ladder?sslmode=disable', DATABASE_CA_FILE: '/x' }, 'checks nothing'],
    [{ REDIS_CA_FILE: '/nowhere' }, 'REDIS_CA_FILE needs rediss:// or rediss-sentinel:// in REDIS_URL'],
    [{ REDIS_URL: 'rediss://one,redis://two' }, 'REDIS_URL has both redis:// and rediss://'],
    [{ REDIS_READ_FROM: 'replica' }, 'REDIS_READ_FROM=replica needs REDIS_REPLICA_URL, or redis-sentinel://'],
    [{ REDIS_READ_FROM: 'slave' }, 'REDIS_READ_FROM must be one of'],
    [
      { REDIS_URL: 'redis://one,redis://two', REDIS_READ_FROM: 'replica', REDIS_REPLICA_URL: 'redis://three' },
      'REDIS_READ_FROM=replica is for one master with replicas, and REDIS_URL names a cluster',
    ],
    [{ REDIS_REPLICA_URL: 'redis://two' }, 'REDIS_REPLICA_URL means nothing without REDIS_READ_FROM=replica'],
    [
      { REDIS_READ_FROM: 'replica', REDIS_REPLICA_URL: 'redis://two,redis://three' },
      'REDIS_REPLICA_URL must be one address',
    ],
    [{ REDIS_READ_FROM: 'replica', REDIS_REPLICA_URL: 'redis://:a/b@two' }, 'REDIS_REPLICA_URL: this is no address'],
  ])('%o is refused', (settings, sentence) => {
    expect(() => loadEnvironment({ ...LEAST, ...settings })).toThrow(sentence);
  });

  it('takes a replica by its address, or of the sentinels, and keeps its password out of what is logged', () => {
    const near = { REDIS_READ_FROM: 'replica', REDIS_REPLICA_URL: 'rediss://:replica-secret@two:6380' };
    expect(redactorOf(loadEnvironment({ ...LEAST, ...near }))('as replica-secret')).toBe('as ***');
    expect(
      loadEnvironment({ ...LEAST, REDIS_URL: 'redis-sentinel://one/main', REDIS_READ_FROM: 'replica' })
        .REDIS_REPLICA_URL,
    ).toBeUndefined();
  });

  it('is refused with all faults together', () => {
    const faults = { KAFKA_TLS_CA_FILE: '/nowhere', REDIS_CA_FILE: '/nowhere', KAFKA_SASL_PASSWORD: 'kafka-secret-1' };
    for (const name of Object.keys(faults))
      expect(() => loadEnvironment({ ...LEAST, ...faults })).toThrow(new RegExp(`[:;] ${name} needs`));
  });

  it('keeps the password of Kafka out of what is logged', () => {
    const environment = loadEnvironment({ ...LEAST, ...SASL, KAFKA_SASL_MECHANISM: 'SCRAM-SHA-256' });
    expect(environment.KAFKA_SASL_MECHANISM).toBe('scram-sha-256');
    expect(redactorOf(environment)('refused: kafka-secret-1')).toBe('refused: ***');
  });
});
