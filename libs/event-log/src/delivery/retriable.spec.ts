import { LadderError } from '@laddercast/domain';
import { describe, expect, it } from 'vitest';
import { describeCause } from './delivery.js';
import { isRetriable } from './retriable.js';

const coded = (code: string): Error => Object.assign(new Error(code), { code });

/** By a constraint, as PostgreSQL says it. */
const refusedBy = (constraint: string): Error => Object.assign(coded('23514'), { constraint });

describe('isRetriable', () => {
  it.each([
    ['a service of ours that is away', new LadderError('PROJECTION_UNAVAILABLE', '…')],
    ['a refused connection', coded('ECONNREFUSED')],
    ['a refused connection to both addresses of a host', new AggregateError([coded('ECONNREFUSED')])],
    ['PostgreSQL shutting down', coded('57P01')],
    ['PostgreSQL through TypeORM', Object.assign(new Error('…'), { driverError: { code: '40001' } })],
    ['a partition that has its end before the next is begun', refusedBy('ends_at_5000000')],
    ['Redis loading its data', new Error('LOADING Redis is loading the dataset in memory')],
    ['a cluster without a slot', new Error('CLUSTERDOWN Hash slot not served')],
    ['Redis out of memory', new Error("OOM command not allowed when used memory > 'maxmemory'.")],
    ['Redis refusing its user a command', new Error("NOPERM User u has no permissions to run the 'set' command")],
    [
      'Redis refusing it in a script',
      new Error("ERR ACL failure in script: User u has no permissions to run the 'set'"),
    ],
    ['a certificate that has run out', coded('CERT_HAS_EXPIRED')],
    ['a replica', new Error("READONLY You can't write against a read only replica.")],
    ['a slow Redis', new Error('Command timed out')],
    ['what kafkajs calls retriable', Object.assign(new Error('…'), { retriable: true })],
    ['a retriable cause', new Error('outer', { cause: coded('ECONNRESET') })],
  ])('tries again after %s', (_what, error) => expect(isRetriable(error)).toBe(true));

  it.each([
    ['refused data', new LadderError('SCORE_OUT_OF_BOUNDS', '…')],
    [
      'refused data, whatever caused that',
      new LadderError('VALIDATION_FAILED', '…', {}, { cause: coded('ECONNRESET') }),
    ],
    ['a fault of the code', new TypeError('x is not a function')],
    ['a unique violation', coded('23505')],
    ['a check of a table', refusedBy('runs_score_check')],
    ['an error of a script', new Error('ERR user_script:3: attempt to index a nil value')],
    ['text that only mentions a prefix', new Error('the player "LOADING" has no entry')],
    ['no error at all', undefined],
  ])('does not try again after %s', (_what, error) => expect(isRetriable(error)).toBe(false));

  it('ends on causes that go round in a circle', () => {
    const error = new Error('round');
    error.cause = error;
    expect(isRetriable(error)).toBe(false);
  });
});

describe('describeCause', () => {
  it('keeps message, stack and causes, and no secrets', () => {
    const cause = new Error('postgres://ladder:hunter2@127.0.0.1/x said no, password=hunter3');
    const text = describeCause(new RangeError('outer', { cause }));
    expect(text).toMatch(/RangeError: outer\n\s+at .*[^]*caused by Error: postgres:\/\/ladder:\*\*\*@127\.0\.0\.1/);
    expect(text).not.toMatch(/hunter/);
  });

  it('is bounded', () => expect(describeCause(new Error('x'.repeat(100_000))).length).toBe(4000));
});
