import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Editions say by which order of patches they are taxed: in those that are written, the one that held at their moment. */
const NAME_TAX = `
  UPDATE editions e SET rules = e.rules || jsonb_build_object('taxOrder', coalesce((
    SELECT max((o ->> 'number')::int) FROM jsonb_array_elements(f.orders) AS o
    WHERE (o ->> 'sinceMs')::float8 < extract(epoch FROM least(e.as_of, w.ends_at)) * 1000), 0))
  FROM windows w JOIN boards b USING (board_uid) JOIN patch_families f USING (family_uid)
  WHERE e.window_uid = w.window_uid AND e.rules IS NOT NULL`;

export class TaxOfEditions1763787500000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(NAME_TAX);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`UPDATE editions SET rules = rules - 'taxOrder' WHERE rules ? 'taxOrder'`);
  }
}
