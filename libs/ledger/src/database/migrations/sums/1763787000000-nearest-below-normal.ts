import type { MigrationInterface, QueryRunner } from 'typeorm';

const PARAMETERS = '(total numeric, parts bigint) RETURNS float8 LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE';

const QUOTIENT = `
  IF parts > 1 THEN
    shifted := total * 1e1076;
    quotient := div(shifted, parts);
    quotient := (quotient + sign(shifted - quotient * parts) * 0.5) * 1e-1076;
  END IF;
  -- The cast refuses what is nearest to 0.
  IF 2 * abs(total) <= parts * ladder_exact(5e-324) THEN
    RETURN 0;
  END IF;`;
const CAST = 'RETURN least(greatest(quotient, -most), most)::float8;';

const nearest = (
  declared: string,
  steps: string,
): string => `CREATE OR REPLACE FUNCTION ladder_nearest${PARAMETERS} AS $$
DECLARE
  most constant numeric := 2::numeric ^ 1024 - 2::numeric ^ 971;
  shifted numeric;
  quotient numeric := total;${declared}
BEGIN${steps}
END $$`;

/**
 * Below 2^-1022 the cast from numeric misses some doubles by one (the strtod of glibc 2.36 does): there the double is counted
 * out, as a whole number of the least ones.
 */
export class NearestBelowNormal1763787000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const counted = `
  IF abs(quotient) < 2.2250738585072014e-308 THEN
    units := abs(quotient) * 2::numeric ^ 1074;
    whole := trunc(units);
    IF units - whole > 0.5 OR (units - whole = 0.5 AND mod(whole, 2) = 1) THEN
      whole := whole + 1;
    END IF;
    RETURN sign(total)::float8 * whole::float8 * 5e-324::float8;
  END IF;
  ${CAST}`;
    await runner.query(nearest('\n  units numeric;\n  whole numeric;', QUOTIENT + counted));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(nearest('', `${QUOTIENT}\n  ${CAST}`));
  }
}
