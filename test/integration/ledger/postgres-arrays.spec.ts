// Real: PostgreSQL reads what is written.
import { withoutNegativeZero } from '@laddercast/domain';
import { boolArray, byteaArray, float8Array, int4Array, int8Array, textArray } from '@laddercast/ledger';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';

let testDatabase: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  client = new pg.Client({ connectionString: testDatabase.url });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await testDatabase?.drop();
});

const listOf = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(item, { maxLength: 20 });
/** PostgreSQL takes any text but that with U+0000 in it. */
const anyText = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', ''));

it.each([
  ['int', int4Array, listOf(fc.integer())],
  ['bigint', int8Array, listOf(fc.maxSafeInteger())],
  ['float8', float8Array, listOf(fc.double({ noNaN: true, noDefaultInfinity: true }).map(withoutNegativeZero))],
  ['boolean', boolArray, listOf(fc.boolean())],
  ['bytea', byteaArray, listOf(fc.uint8Array().map((bytes) => Buffer.from(bytes)))],
  ['text', textArray, listOf(fc.option(anyText))],
] as [string, (values: unknown[]) => Buffer, fc.Arbitrary<unknown[]>][])(
  'an array of %s is the same as in text',
  (type, arrayOf, anyValues) =>
    fc.assert(
      fc.asyncProperty(anyValues, async (values) => {
        const sql = `SELECT $1::${type}[] AS binary, $2::${type}[] AS text, cardinality($1::${type}[]) AS count`;
        const { rows } = await client.query<Record<string, unknown>>(sql, [arrayOf(values), values]);
        expect(rows[0]!['binary']).toEqual(rows[0]!['text']);
        expect(rows[0]!['count']).toBe(values.length);
      }),
    ),
);
