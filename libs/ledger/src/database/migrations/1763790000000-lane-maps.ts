import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ADVISORY_LOCKS } from '../advisory-locks.js';

/** How many lanes there are, and were: the first start writes the first row. */
const MAPS = `
  CREATE TABLE lane_maps (
    number smallint PRIMARY KEY,
    count smallint NOT NULL,
    since bigint NOT NULL)`;

/**
 * Takes a lane for somebody who was placed there by a map. The look at the maps is a statement of its own behind the lock, and so
 * sees what the last holder committed.
 */
const TAKE_LANE = `
  CREATE FUNCTION ladder_take_lane(lane integer, map integer) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock(${ADVISORY_LOCKS.lanes}, lane);
    IF (SELECT coalesce(max(m.number), 0) FROM lane_maps AS m) <> map THEN
      RAISE EXCEPTION 'lanes were raised' USING ERRCODE = 'LC002';
    END IF;
  END $$`;

/** The same by a slot, for work that is too dear to be refused: a lane that is not that of the slot any more is held as well. */
const TAKE_LANE_OF = `
  CREATE FUNCTION ladder_take_lane_of(slot integer) RETURNS integer LANGUAGE plpgsql AS $$
  DECLARE
    lanes integer;
    known integer;
  BEGIN
    SELECT max(count) INTO lanes FROM lane_maps;
    LOOP
      known := lanes;
      PERFORM pg_advisory_xact_lock(${ADVISORY_LOCKS.lanes}, slot % known);
      SELECT max(count) INTO lanes FROM lane_maps;
      EXIT WHEN lanes = known;
    END LOOP;
    RETURN slot % lanes;
  END $$`;

/** Lane 0 first: who holds it reads how many others there are. */
const TAKE_ALL_LANES = `
  CREATE FUNCTION ladder_take_all_lanes() RETURNS SETOF lane_maps LANGUAGE plpgsql AS $$
  DECLARE
    last_lane integer;
  BEGIN
    PERFORM pg_advisory_xact_lock(${ADVISORY_LOCKS.lanes}, 0);
    SELECT max(count) - 1 INTO last_lane FROM lane_maps;
    FOR lane IN 1..coalesce(last_lane, 0) LOOP
      PERFORM pg_advisory_xact_lock(${ADVISORY_LOCKS.lanes}, lane);
    END LOOP;
    RETURN QUERY SELECT * FROM lane_maps ORDER BY number;
  END $$`;

const countUndeclared = (refusal: string): string => `
  CREATE OR REPLACE FUNCTION ladder_count_undeclared() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    ${refusal}PERFORM nextval('undeclared_writes');
    RETURN NULL;
  END $$`;

/** A release that knows one number of lanes would write under other locks than this one. */
const REFUSAL = `IF (SELECT count(*) FROM lane_maps) > 1 THEN
      RAISE EXCEPTION 'lanes were raised: a process of an earlier release must not write any more';
    END IF;
    `;

export class LaneMaps1763790000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [MAPS, TAKE_LANE, TAKE_LANE_OF, TAKE_ALL_LANES]) await runner.query(statement);
    await runner.query(countUndeclared(REFUSAL));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(countUndeclared(''));
    await runner.query('DROP FUNCTION ladder_take_all_lanes()');
    await runner.query('DROP FUNCTION ladder_take_lane_of(integer)');
    await runner.query('DROP FUNCTION ladder_take_lane(integer, integer)');
    await runner.query('DROP TABLE lane_maps');
  }
}
