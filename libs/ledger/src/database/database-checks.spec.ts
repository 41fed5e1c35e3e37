import { describe, expect, it } from 'vitest';
import { faultOfServer } from './database-checks.js';

const good = {
  text: 'PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc, 64-bit',
  number: 150018,
  isStandby: false,
  encoding: 'UTF8',
  spread: [],
};

describe('a server of PostgreSQL', () => {
  it('is fit from version 15', () => {
    expect(faultOfServer(good)).toBeNull();
    expect(faultOfServer({ ...good, number: 180001 })).toBeNull();
    expect(faultOfServer({ ...good, number: 140019 })).toMatch(/version 14: 15 or newer/);
  });

  it.each([
    'PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 16.0.6, 64-bit',
    'PostgreSQL 15.2-YB-2.25.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 17.0.6, 64-bit',
    'CockroachDB CCL v24.3.10 (x86_64-pc-linux-gnu, built 2025/04/09, go1.22.8)',
  ])('is unfit where it is another product: %s', (text) => {
    expect(faultOfServer({ ...good, text })).toMatch(/spreads rows over nodes.*DATABASE_URL needs PostgreSQL itself/);
  });

  it('is unfit as a standby, and where Citus spreads its tables', () => {
    expect(faultOfServer({ ...good, isStandby: true })).toMatch(/is a standby.*name the primary/);
    expect(faultOfServer({ ...good, spread: ['entries'] })).toMatch(/Citus spreads entries over nodes/);
  });

  it.each(['LATIN1', 'SQL_ASCII'])('is unfit with a database in %s', (encoding) => {
    expect(faultOfServer({ ...good, encoding })).toMatch(`is in ${encoding}, and ids and names need UTF-8`);
  });
});
