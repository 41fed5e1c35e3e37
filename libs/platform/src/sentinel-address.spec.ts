import { describe, expect, it } from 'vitest';
import { loadEnvironment } from './environment.js';
import { sentinelAddressOf } from './sentinel-address.js';
import { redactorOf } from './telemetry/redaction.js';

const LEAST = { DATABASE_URL: 'postgres://127.0.0.1/ladder' };

describe('REDIS_URL with sentinels', () => {
  it('is read whole: user, password, sentinels, the name of the master, and the database', () => {
    expect(sentinelAddressOf('redis-sentinel://ladder:p%23ss%2Cword@one:26379,two:5,[::1]:7/main.ladder/3')).toEqual({
      sentinels: [
        { host: 'one', port: 26_379 },
        { host: 'two', port: 5 },
        { host: '::1', port: 7 },
      ],
      master: 'main.ladder',
      username: 'ladder',
      password: 'p#ss,word',
      database: 3,
      isTls: false,
    });
  });

  it('may leave out the user, ports and the database', () => {
    expect(sentinelAddressOf('rediss-sentinel://:secret@one,two/main')).toMatchObject({
      sentinels: [
        { host: 'one', port: 26_379 },
        { host: 'two', port: 26_379 },
      ],
      username: '',
      password: 'secret',
      database: 0,
      isTls: true,
    });
    expect(sentinelAddressOf('redis-sentinel://one/main')).toMatchObject({
      username: '',
      password: '',
      master: 'main',
    });
  });

  it.each([
    'redis-sentinel://one,two',
    'redis-sentinel://one,two/',
    'redis-sentinel://one,,two/main',
    'redis-sentinel://one:99999/main',
    'redis-sentinel://:p/ss-word@one/main',
    'redis-sentinel://:p@ss-word@one/main',
    'redis-sentinel://:ss-word%zz@one/main',
    'redis-sentinel://one/main/first',
    'redis-sentinel://one/main,redis://two',
  ])('may not be %s, which is not repeated', (REDIS_URL) => {
    const load = () => loadEnvironment({ ...LEAST, REDIS_URL });
    expect(load).toThrow(/wrong: REDIS_URL: these are no sentinels .*write # .* as %23[^;]*$/);
    expect(load).not.toThrow(/ss-word|one/);
  });

  it('is taken as it stands, and its passwords stay out of what is logged', () => {
    const environment = loadEnvironment({
      ...LEAST,
      REDIS_URL: 'redis-sentinel://:server%2Csecret@one:1,two:2/main',
      REDIS_SENTINEL_USERNAME: 'watcher',
      REDIS_SENTINEL_PASSWORD: 'sentinel-secret',
    });
    expect(redactorOf(environment)('server,secret server%2Csecret sentinel-secret')).toBe('*** *** ***');
  });

  it.each([
    [
      { REDIS_URL: 'redis://one', REDIS_SENTINEL_PASSWORD: 'secret' },
      'REDIS_SENTINEL_PASSWORD needs redis-sentinel://',
    ],
    [{ REDIS_URL: 'redis://one', REDIS_SENTINEL_USERNAME: 'me' }, 'REDIS_SENTINEL_USERNAME needs redis-sentinel://'],
    [
      { REDIS_URL: 'redis-sentinel://one/main', REDIS_SENTINEL_USERNAME: 'me' },
      'REDIS_SENTINEL_USERNAME needs REDIS_SENTINEL_PASSWORD',
    ],
    [
      { REDIS_URL: 'redis-sentinel://one/main', REDIS_CA_FILE: '/nowhere' },
      'REDIS_CA_FILE needs rediss:// or rediss-sentinel:// in REDIS_URL',
    ],
    [{ REDIS_URL: 'rediss-sentinel://one/main', REDIS_CA_FILE: '/nowhere' }, 'REDIS_CA_FILE (/nowhere) cannot be read'],
  ])('%o is refused', (settings, sentence) => {
    expect(() => loadEnvironment({ ...LEAST, ...settings })).toThrow(sentence);
  });
});
