import { describe, expect, it } from 'vitest';
import { loadEnvironment } from './environment.js';

const LEAST = { DATABASE_URL: 'postgres://127.0.0.1/ladder', REDIS_URL: 'redis://127.0.0.1:6379' };

describe('BOOTSTRAP_ADMIN_KEY', () => {
  it.each(['0123456789abcdef', 'lk_with-dashes_and_underscores', 'base64+with/padding==', '~'.repeat(16)])(
    'may be %s',
    (key) => {
      expect(loadEnvironment({ ...LEAST, BOOTSTRAP_ADMIN_KEY: key }).BOOTSTRAP_ADMIN_KEY).toBe(key);
    },
  );

  it.each([
    'looks.like.ajwt-token',
    'one.dot.is.one.too.many',
    '.'.repeat(16),
    'too-short',
    'with a space in it',
    'umläute-sind-keine',
  ])('may not be %s, which could not be told from a token or not be sent as one', (key) => {
    expect(() => loadEnvironment({ ...LEAST, BOOTSTRAP_ADMIN_KEY: key })).toThrow(
      /BOOTSTRAP_ADMIN_KEY must be 16 or more letters, digits or -_~\+\/=.*no dots/,
    );
  });
});

describe.each(['KAFKA_IN_SCORES_KEY', 'KAFKA_IN_GAMES_KEY'] as const)('%s', (name) => {
  const KEY = { ...LEAST, [name]: '0123456789abcdef' };

  it('needs brokers, also when the log is in PostgreSQL', () => {
    expect(() => loadEnvironment(KEY)).toThrow(new RegExp(`KAFKA_BROKERS is not set: it must be host:port.*${name}`));
    expect(loadEnvironment({ ...KEY, KAFKA_BROKERS: '127.0.0.1:9092' })[name]).toBe('0123456789abcdef');
  });

  it("may not be a player's token", () => {
    const settings = { ...KEY, KAFKA_BROKERS: '127.0.0.1:9092', [name]: 'looks.like.ajwt-token' };
    expect(() => loadEnvironment(settings)).toThrow(new RegExp(`${name} must be an API key`));
  });
});

describe('PAGE_IMAGE_HOSTS', () => {
  it.each(['cdn.example.com', '*.avatars.example.net', 'img.example.org:8443,CDN.example.com', 'a-b.c1.example'])(
    'may be %s',
    (PAGE_IMAGE_HOSTS) => {
      expect(loadEnvironment({ ...LEAST, PAGE_IMAGE_HOSTS }).PAGE_IMAGE_HOSTS).toBe(PAGE_IMAGE_HOSTS);
    },
  );

  it.each([
    '*',
    '*.com',
    'https:',
    'https://cdn.example.com',
    'cdn.example.com/avatars',
    'cdn.example.com, img.example.com',
    'cdn.example.com;script-src',
    "cdn.example.com 'unsafe-inline'",
    'cdn.example.com,',
    'localhost',
    '-a.example.com',
    'a..example.com',
    'cdn.example.com:port',
    `${'a'.repeat(40_000)}!`,
  ])('may not be %s, which would let in more than hosts, or nothing', (PAGE_IMAGE_HOSTS) => {
    expect(() => loadEnvironment({ ...LEAST, PAGE_IMAGE_HOSTS })).toThrow(/PAGE_IMAGE_HOSTS: must be hosts such as/);
  });
});

describe('PLAYER_ATTRIBUTES_SHOWN', () => {
  it.each(['*', '-', 'country', 'country,favourite-colour'])('may be %s', (PLAYER_ATTRIBUTES_SHOWN) => {
    const given = { ...LEAST, PLAYER_ATTRIBUTES_SHOWN };
    expect(loadEnvironment(given).PLAYER_ATTRIBUTES_SHOWN).toBe(PLAYER_ATTRIBUTES_SHOWN);
  });

  it.each(['country, team', '*,country', 'Country', ',', 'none!'])('may not be %s', (PLAYER_ATTRIBUTES_SHOWN) => {
    expect(() => loadEnvironment({ ...LEAST, PLAYER_ATTRIBUTES_SHOWN })).toThrow(/PLAYER_ATTRIBUTES_SHOWN must be/);
  });
});

describe('DATABASE_URL and REDIS_URL', () => {
  it.each([
    'postgres://user:p%23ss@127.0.0.1:5432/ladder',
    'postgresql:///ladder?host=/var/run/postgresql',
    'postgresql://user:p%23ss@/ladder?host=/var/run/postgresql',
    'postgres://user:with,comma@[::1]/ladder',
  ])('DATABASE_URL may be %s', (DATABASE_URL) => {
    expect(loadEnvironment({ ...LEAST, DATABASE_URL }).DATABASE_URL).toBe(DATABASE_URL);
  });

  it.each([
    { DATABASE_URL: 'postgres://user:p#ss-word@127.0.0.1/ladder' },
    { DATABASE_URL: 'postgres://user:ss-word%zz@127.0.0.1/ladder' },
    { DATABASE_URL: 'postgres://127.0.0.1:99999/ladder' },
    { REDIS_URL: 'redis://:p/ss-word@127.0.0.1' },
    { REDIS_URL: 'redis://127.0.0.1:6379,redis://[bad' },
  ])('may not be %j, which cannot be read, and is not repeated', (given) => {
    const load = () => loadEnvironment({ ...LEAST, ...given });
    expect(load).toThrow(/wrong: (DATABASE|REDIS)_URL: this is no address .*write # .* as %23[^;]*$/);
    expect(load).not.toThrow(/ss-word|bad/);
  });

  it('are told once when they are missing', () => {
    expect(() => loadEnvironment({})).toThrow(
      /wrong: DATABASE_URL is not set: it must begin with postgres:\/\/; REDIS_URL is not set: it must begin with [^;]*$/,
    );
    expect(() => loadEnvironment({ ...LEAST, DATABASE_URL: 'mysql://127.0.0.1' })).toThrow(
      /wrong: DATABASE_URL must begin with postgres:\/\//,
    );
  });
});

describe('JWT_JWKS_URL', () => {
  it.each([
    'https://id.example.com/.well-known/jwks.json',
    'https://id.example.com:8443/keys?tenant=a',
    'http://127.0.0.1:8080/keys',
    'http://localhost/keys',
    'http://[::1]:8080',
  ])('may be %s', (url) => {
    expect(loadEnvironment({ ...LEAST, JWT_JWKS_URL: url }).JWT_JWKS_URL).toBe(url);
  });

  it.each([
    'http://id.example.com/keys',
    'http://127.0.0.1.example.com/keys',
    'http://localhost@example.com/keys',
    'https://name:password@id.example.com/keys',
    'file:///etc/keys.json',
    'id.example.com',
  ])('may not be %s, whose keys another could choose', (url) => {
    expect(() => loadEnvironment({ ...LEAST, JWT_JWKS_URL: url })).toThrow(/JWT_JWKS_URL must begin with https/);
  });
});

describe('LANE_OWNER', () => {
  it('is true where nothing is said', () => {
    expect(loadEnvironment(LEAST).LANE_OWNER).toBe('true');
    expect(loadEnvironment({ ...LEAST, LANE_OWNER: 'false' }).LANE_OWNER).toBe('false');
  });

  it.each([
    [{ LANE_OWNER: 'no' }, 'LANE_OWNER must be one of'],
    [{ LANE_OWNER: 'false', LANE_ADDRESS: 'api-1.internal:7400' }, 'LANE_ADDRESS means nothing with LANE_OWNER=false'],
    [{ LANE_ADDRESS: 'api-1.internal:70000' }, 'LANE_ADDRESS needs the ports to 70000, and there is none above 65535'],
    [{ LANE_ADDRESS: 'api-1:65535', API_PROCESSES: '2' }, 'LANE_ADDRESS needs the ports to 65536'],
  ])('%o is refused', (settings, sentence) => {
    expect(() => loadEnvironment({ ...LEAST, ...settings })).toThrow(sentence);
  });
});
