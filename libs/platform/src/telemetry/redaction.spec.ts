import { describe, expect, it } from 'vitest';
import { describeError } from './error-for-log.js';
import { loadEnvironment } from '../environment.js';
import { redactorOf, redactSecrets } from './redaction.js';

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl';
const KEY = `lk_${'k'.repeat(43)}`;

describe('redactSecrets', () => {
  it.each([
    ['a password in an address', 'connect postgres://ladder:s3cr3t-p%40ss@db:5432/ladder failed', 's3cr3t'],
    ['one without a user', 'redis://:hunter2222@cache:6379', 'hunter2222'],
    ['a header', 'authorization: Bearer abc.def-ghi', 'abc.def'],
    ['a subprotocol', 'offered ladder.v1, bearer.opaque-token-1', 'opaque-token-1'],
    ['a token in a query', 'GET /v1/live?token=opaque-token-2&x=1', 'opaque-token-2'],
    ['any query', '"url":"/v1/boards/b/players/ada?around=5"', 'around'],
    ["a player's token", `got ${JWT}`, 'eyJzdWIi'],
    ['a key', `key ${KEY} is unknown`, 'kkkk'],
    ['a member of JSON', '{"body":{"secret":"opaque-3","n":1}}', 'opaque-3'],
    ['JSON within a text', '{"msg":"{\\"password\\":\\"opaque-4\\"}"}', 'opaque-4'],
  ])('takes %s out', (_what, line, secret) => {
    expect(redactSecrets(line)).not.toContain(secret);
    expect(redactSecrets(line)).toContain('***');
  });

  it('leaves JSON as it was, but for the secrets', () => {
    const line = JSON.stringify({
      msg: `Bearer ${JWT} at /v1/live?token=${KEY}`,
      err: { stack: 'Error: x\n  at y:1' },
      n: 1,
    });
    expect(JSON.parse(redactSecrets(line))).toEqual({
      msg: 'Bearer *** at /v1/live?***',
      err: { stack: 'Error: x\n  at y:1' },
      n: 1,
    });
  });

  it('leaves alone what is no secret', () => {
    const line = '{"msg":"Which board? None. The bearers; tokens: two at http://127.0.0.1:3000/docs"}';
    expect(redactSecrets(line)).toBe(line);
  });

  it('leaves the key that a development start-up prints for its reader', () => {
    const line = `No BOOTSTRAP_ADMIN_KEY is set: the development admin key is ${KEY}`;
    expect(redactSecrets(line)).toBe(line);
  });
});

describe('redactorOf', () => {
  it('takes the secrets of the settings out, however they stand', () => {
    const redact = redactorOf(
      loadEnvironment({
        DATABASE_URL: 'postgres://ladder:p%40ssw0rd-1@db/ladder',
        REDIS_URL: 'redis://:cache-password@one:1,redis://:other-password@two:2',
        BOOTSTRAP_ADMIN_KEY: 'plain-looking-words',
        JWT_SECRET: 'thirty-two "letters" and more of them',
      }),
    );
    const line = JSON.stringify({
      msg: 'AUTH cache-password, AUTH other-password, p@ssw0rd-1 and plain-looking-words',
      secretive: 'thirty-two "letters" and more of them',
    });
    expect(JSON.parse(redact(line))).toEqual({ msg: 'AUTH ***, AUTH ***, *** and ***', secretive: '***' });
  });

  it.each([
    'postgresql://ladder:of%40socket@/ladder?host=/var/run/postgresql',
    'postgresql:///ladder?host=/var/run/postgresql&user=ladder&password=of%40socket',
  ])('takes the password of %s out', (DATABASE_URL) => {
    const redact = redactorOf(loadEnvironment({ DATABASE_URL, REDIS_URL: 'redis://one:1' }));
    expect(redact('one of%40socket, one of@socket')).toBe('one ***, one ***');
  });
});

describe('describeError', () => {
  it('keeps name, code and causes, and nothing that hangs on them beside', () => {
    const cause = Object.assign(new Error('no'), { code: 'ECONNREFUSED', command: { args: ['AUTH', 'secret'] } });
    const error = Object.assign(new Error('outer', { cause }), { query: 'SELECT 1', parameters: ['ada'] });
    expect(describeError(error)).toEqual({
      type: 'Error',
      message: 'outer',
      stack: error.stack,
      cause: { type: 'Error', message: 'no', code: 'ECONNREFUSED', stack: cause.stack },
    });
  });

  it('is bounded', () => {
    let error = new Error('x'.repeat(100_000));
    for (let i = 0; i < 100; i += 1) error = new Error('x'.repeat(100_000), { cause: error });
    expect(JSON.stringify(describeError(error)).length).toBeLessThan(50_000);
  });
});
