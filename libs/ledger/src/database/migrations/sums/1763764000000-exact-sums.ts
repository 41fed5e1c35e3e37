import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // The very value of a finite double: PostgreSQL's own cast keeps 15 digits of it. A double is a whole number of units of a
  // power of two (IEEE 754, binary64), and 2^-n is 5^n / 10^n.
  `CREATE FUNCTION ladder_exact(score float8) RETURNS numeric LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    DECLARE
      bits bigint := ('x' || encode(float8send(score), 'hex'))::bit(64)::bigint;
      exponent int := (bits >> 52) & 2047;
      units bigint := bits & x'fffffffffffff'::bigint;
    BEGIN
      IF exponent = 0 THEN
        exponent := 1;
      ELSE
        units := units | x'10000000000000'::bigint;
      END IF;
      IF bits < 0 THEN
        units := -units;
      END IF;
      IF exponent >= 1075 THEN
        RETURN units * 2::numeric ^ (exponent - 1075);
      END IF;
      RETURN units * 5::numeric ^ (1075 - exponent) * ('1e-' || 1075 - exponent)::numeric;
    END $$`,
  // The double nearest to total / parts, a tie to the even one, and never beyond the doubles. The cast from numeric rounds
  // once, because it reads the number's text. A quotient may never end: what lies half-way between two doubles has at most
  // 1075 decimals, so one digit behind 1076 of them tells on which side the rest lies.
  `CREATE FUNCTION ladder_nearest(total numeric, parts bigint) RETURNS float8
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
    DECLARE
      most constant numeric := 2::numeric ^ 1024 - 2::numeric ^ 971;
      shifted numeric;
      quotient numeric := total;
    BEGIN
      IF parts > 1 THEN
        shifted := total * 1e1076;
        quotient := div(shifted, parts);
        quotient := (quotient + sign(shifted - quotient * parts) * 0.5) * 1e-1076;
      END IF;
      -- The cast refuses what is nearest to 0.
      IF 2 * abs(total) <= parts * ladder_exact(5e-324) THEN
        RETURN 0;
      END IF;
      RETURN least(greatest(quotient, -most), most)::float8;
    END $$`,
];

export class ExactSums1763764000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION ladder_nearest(numeric, bigint)');
    await runner.query('DROP FUNCTION ladder_exact(float8)');
  }
}
