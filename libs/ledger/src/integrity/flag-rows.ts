import type { FlagRaised } from '@laddercast/domain';
import { metrics } from '@laddercast/platform';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { takeLane } from '../lanes/lane-locks.js';
import type { Place } from '../lanes/lanes.js';
import { flagIdOf, type FlaggedRun, type StandingDecision, type Suspect } from './flag.js';

const INSERT_FLAGS = prepared(`
  WITH raised AS (
    INSERT INTO flags (flag_id, rule, severity, board_uid, player_id, subject, key, run_count, summary, details, is_of_held)
    SELECT f.id, f.rule, f.severity, f.board, f.player, f.subject, f.key, f.runs, f.summary, f.details::jsonb, $13::boolean
    FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::text[], $7::text[], $8::int[], $9::text[],
      $10::text[]) AS f (id, rule, severity, board, player, subject, key, runs, summary, details)
    ON CONFLICT (flag_id) DO NOTHING RETURNING flag_id),
  told AS (
    INSERT INTO outbox (lane, position, topic, key, payload)
    SELECT $11::smallint, nextval('ladder_position'), 'flag-raised', coalesce(e.player, e.id), e.payload
    FROM unnest($1::text[], $5::text[], $12::text[]) AS e (id, player, payload) JOIN raised ON flag_id = e.id),
  listed AS (
    INSERT INTO flag_runs (board_uid, player_id, position, rule, flag_id, submission_id)
    SELECT r.board, r.player, r.position, r.rule, r.flag, r.submission
    FROM unnest($14::int[], $15::text[], $16::bigint[], $17::text[], $18::text[], $19::text[])
      AS r (board, player, position, rule, flag, submission)
    JOIN raised ON raised.flag_id = r.flag
    ON CONFLICT DO NOTHING)
  SELECT flag_id AS "flagId" FROM raised`);

const INSERT_RUNS = prepared(`
  INSERT INTO flag_runs (board_uid, player_id, position, rule, flag_id, submission_id)
  SELECT r.board, r.player, r.position, r.rule, r.flag, r.submission
  FROM unnest($1::int[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[])
    AS r (board, player, position, rule, flag, submission)
  ON CONFLICT DO NOTHING`);

/**
 * Raises flags, each of runs that no flag of its rule has, in a transaction that holds the lane: in the group commit those of
 * held runs. One statement, so that it can be sent with the commit. What was raised already is left as it is, decided or not.
 * @param isOfHeld whether their runs wait for the decision
 */
export async function insertFlags(
  transaction: SqlRunner,
  lane: number,
  suspects: readonly Suspect[],
  isOfHeld: boolean,
): Promise<void> {
  if (suspects.length === 0) return;
  const ids = suspects.map(flagIdOf);
  const of = <Value>(value: (suspect: Suspect, index: number) => Value): Value[] => suspects.map(value);
  const runs = suspects.flatMap((suspect, index) =>
    suspect.runs.map((run) => ({ ...run, boardUid: suspect.boardUid, rule: suspect.rule, flagId: ids[index]! })),
  );
  const rows = await transaction.query<{ flagId: string }>(INSERT_FLAGS, [
    ids,
    of(({ rule }) => rule),
    of(({ severity }) => severity),
    of(({ boardUid }) => boardUid),
    of(({ playerId }) => playerId),
    of(({ subject }) => subject),
    of(({ key }) => key),
    of(({ runs }) => runs.length),
    of(({ summary }) => summary),
    of(({ details }) => JSON.stringify(details)),
    lane,
    of((suspect, index) => JSON.stringify(eventOf(suspect, ids[index]!))),
    isOfHeld,
    ...columnsOf(runs),
  ]);
  const raised = new Set(rows.map(({ flagId }) => flagId));
  suspects.forEach(({ rule, severity }, index) => {
    if (raised.has(ids[index]!)) metrics.flagsRaised.inc({ rule, severity });
  });
}

type RunOfFlag = FlaggedRun & { boardUid: number; rule: string; flagId: string };

async function insertRuns(transaction: SqlRunner, runs: readonly RunOfFlag[]): Promise<void> {
  await transaction.query(INSERT_RUNS, columnsOf(runs));
}

const columnsOf = (runs: readonly RunOfFlag[]): unknown[] => [
  runs.map(({ boardUid }) => boardUid),
  runs.map(({ playerId }) => playerId),
  runs.map(({ position }) => position),
  runs.map(({ rule }) => rule),
  runs.map(({ flagId }) => flagId),
  runs.map(({ submissionId }) => submissionId),
];

const eventOf = ({ rule, severity, boardUid, playerId, summary }: Suspect, flagId: string): FlagRaised => ({
  ...{ type: 'flag-raised', flagId, rule, severity, boardUid, playerId, summary },
});

const TAKE_SUBJECT = prepared(`SELECT pg_advisory_xact_lock(${ADVISORY_LOCKS.flags}, hashtext($1))`);

const FLAGGED = prepared(`
  SELECT f.player_id AS "playerId", f.position FROM flag_runs f
  JOIN unnest($3::text[], $4::bigint[]) AS r (player, position) ON f.player_id = r.player AND f.position = r.position
  WHERE f.board_uid = $1 AND f.rule = $2`);

const OPEN_FLAG = prepared(`
  SELECT flag_id AS "flagId" FROM flags
  WHERE board_uid = $1 AND rule = $2 AND subject = $3 AND key = $4 AND is_open
  ORDER BY flag_number DESC LIMIT 1 FOR UPDATE`);

const ADD_RUNS = prepared('UPDATE flags SET run_count = run_count + $2 WHERE flag_id = $1');

/**
 * Raises a flag, or adds to the one that is open of this subject and key. Runs that a flag of the rule has already, decided or
 * not, raise nothing. To be called in a transaction that holds no lane: it takes one where it raises a flag.
 * @param place the lane of the player or, without one, any that is always the same for the subject
 * @returns whether it wrote anything
 */
export async function raiseFlag(transaction: SqlRunner, place: Place, suspect: Suspect): Promise<boolean> {
  const { boardUid, rule, subject, key, runs } = suspect;
  await transaction.query(TAKE_SUBJECT, [JSON.stringify([boardUid, rule, subject])]);
  const known = await transaction.query<{ playerId: string; position: number }>(FLAGGED, [
    boardUid,
    rule,
    runs.map(({ playerId }) => playerId),
    runs.map(({ position }) => position),
  ]);
  const positions = new Set(known.map(({ position }) => position));
  const fresh = runs.filter(({ position }) => !positions.has(position));
  if (fresh.length === 0) return false;
  const [open] = await transaction.query<{ flagId: string }>(OPEN_FLAG, [boardUid, rule, subject, key]);
  if (!open) {
    await takeLane(transaction, place);
    await insertFlags(transaction, place.lane, [{ ...suspect, runs: fresh }], false);
    return true;
  }
  await insertRuns(
    transaction,
    fresh.map((run) => ({ ...run, boardUid, rule, flagId: open.flagId })),
  );
  await transaction.query(ADD_RUNS, [open.flagId, fresh.length]);
  return true;
}

const DECIDE_HELD = prepared(`
  UPDATE flags SET is_open = false, stood = decision, decision = $4, reason = $5, decided_by = $6, decided_at = ladder_now()
  FROM flag_runs r
  WHERE r.board_uid = $1 AND r.player_id = $2 AND r.position = $3 AND r.flag_id = flags.flag_id
    AND flags.is_of_held AND (flags.is_open OR flags.decision = 'void' AND $4 <> 'void') RETURNING flags.flag_id AS "flagId"`);

/** Not where its run was verified by its id before. */
const MARK_ACCEPTED = prepared(`
  UPDATE flag_runs r SET has_verified = true FROM runs k
  WHERE r.board_uid = $1 AND r.player_id = $2 AND r.position = $3 AND r.flag_id = ANY ($4::text[])
    AND k.board_uid = $1 AND k.player_id = $2 AND k.position = $3
    AND (NOT k.verified OR EXISTS (SELECT FROM flag_runs o
      WHERE o.board_uid = $1 AND o.player_id = $2 AND o.position = $3 AND o.has_verified))`);

const UNMARK = prepared(`
  UPDATE flag_runs SET has_verified = false
  WHERE board_uid = $1 AND player_id = $2 AND position = $3 AND has_verified IS DISTINCT FROM false`);

/** What somebody decided of a run by its id or by another flag, which decides the flag that holds it. */
export interface HeldRunDecision {
  boardUid: number;
  playerId: string;
  position: number;
  decision: Exclude<StandingDecision, 'ban'>;
  /** Who: the id of a key, or `clock`. */
  actor: string;
  reason: string;
}

/**
 * Decides the open flag of a run that was held when it came, in the transaction of the act on that run, which holds its lane and
 * writes the audit record. To be called before the run is changed.
 * @returns the ids of the flags that it decided; none: there is none that is open
 */
export async function decideFlagOfHeld(transaction: SqlRunner, decided: HeldRunDecision): Promise<string[]> {
  const { boardUid, playerId, position, decision, reason, actor } = decided;
  const rows = await transaction.query<{ flagId: string }>(DECIDE_HELD, [
    ...[boardUid, playerId, position],
    ...[decision, reason, actor],
  ]);
  const flagIds = rows.map(({ flagId }) => flagId);
  if (decision === 'accept' && flagIds.length > 0) {
    await transaction.query(MARK_ACCEPTED, [boardUid, playerId, position, flagIds]);
  }
  return flagIds;
}

/** A run is verified no more: by no flag either. */
export async function unmarkVerified(
  transaction: SqlRunner,
  { boardUid, playerId, position }: Pick<HeldRunDecision, 'boardUid' | 'playerId' | 'position'>,
): Promise<void> {
  await transaction.query(UNMARK, [boardUid, playerId, position]);
}

/** What the flag of a run that waits for a moderator says: its rule is the check that holds it, or `held`: the board does. */
export interface FlaggedHold extends FlaggedRun, Pick<Suspect, 'rule' | 'boardUid'> {
  why: string;
  score: number | null;
  columns: readonly number[];
}

/** A run that waits for a moderator, as its flag says it. */
export const suspectOfHeld = ({
  rule,
  why,
  boardUid,
  playerId,
  position,
  submissionId,
  score,
  columns,
}: FlaggedHold): Suspect => ({
  ...{ rule, severity: 'medium', boardUid, playerId, subject: playerId, key: String(position) },
  summary: why,
  details: { score, columns },
  runs: [{ playerId, position, submissionId }],
});

const REOPEN_HELD = prepared(`
  UPDATE flags SET is_open = true, acted_to = NULL FROM flag_runs r
  WHERE r.board_uid = $1 AND r.player_id = $2 AND r.position = $3 AND r.flag_id = flags.flag_id AND flags.is_of_held
  RETURNING flags.flag_id AS "flagId"`);

/**
 * Has a run that waits again be among the open flags, in the transaction of the act on it, which holds its lane and writes the
 * audit record: by the flag that held it before, or, where it had none, by one of its own.
 */
export async function flagHeldAgain(transaction: SqlRunner, lane: number, run: FlaggedHold): Promise<void> {
  const reopened = await transaction.query(REOPEN_HELD, [run.boardUid, run.playerId, run.position]);
  if (reopened.length > 0) return;
  await insertFlags(transaction, lane, [suspectOfHeld(run)], true);
}
