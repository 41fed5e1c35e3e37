import { describe, expect, it } from 'vitest';
import { isDatabaseUnavailable } from './postgres-errors.js';

const socketError = (code: string, more: object = {}): Error =>
  Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect', ...more });
const serverError = (code: string): Error => Object.assign(new Error('refused'), { code, severity: 'ERROR' });

describe('a database that cannot be had', () => {
  it.each([
    ['a TCP port that nobody has', socketError('ECONNREFUSED')],
    ['a Unix socket that is not there while the server restarts', socketError('ENOENT')],
    ['a machine without that address', socketError('EADDRNOTAVAIL')],
    ['a connection that broke', Object.assign(new Error('read'), { code: 'ECONNRESET', syscall: 'read' })],
    [
      'a name whose IPv6 address has no way to it, and whose IPv4 address nobody has',
      Object.assign(new AggregateError([socketError('ENETUNREACH'), socketError('ECONNREFUSED')]), {
        code: 'ENETUNREACH',
      }),
    ],
    [
      'the same, through TypeORM',
      Object.assign(new Error('failed'), {
        driverError: Object.assign(new AggregateError([socketError('ECONNREFUSED')]), { code: 'ESOMETHING' }),
      }),
    ],
    ['a client that gave up connecting', new Error('timeout expired')],
    ['a pool that gave up connecting', new Error('Connection terminated due to connection timeout')],
    ['a server that stops', serverError('57P01')],
    ['a transaction that took too long for the server', serverError('25P04')],
  ])('is %s', (_, error) => expect(isDatabaseUnavailable(error)).toBe(true));

  it.each([
    ['a row that is there', serverError('23505')],
    ['a value that is none', serverError('22P02')],
    ['a file that is not there', Object.assign(new Error('open'), { code: 'ENOENT', syscall: 'open' })],
    ['several errors of our own', new AggregateError([new Error('one'), new Error('another')])],
    ['an error with other errors', Object.assign(new Error('invalid'), { code: 'INVALID', errors: ['no', null] })],
    ['nothing', undefined],
  ])('is not %s', (_, error) => expect(isDatabaseUnavailable(error)).toBe(false));
});
