import {
  isPatchScope,
  patchOfScope,
  taxRateOf,
  type BoardDefinition,
  type BoardOrdering,
  type PatchOrder,
} from '@laddercast/domain';
import { entryOrderSql } from './entry-order-sql.js';

/** The tax of a board's entries at a moment. */
export interface EntryTax {
  definition: Pick<BoardDefinition, 'decay'> & BoardOrdering;
  order: PatchOrder;
}

/** How many patches the patch `patch` is behind: none that came after the order. Only numbers go into the text. */
const behindSql = ({ patches }: PatchOrder, patch: string): string =>
  patches.length === 0
    ? '0'
    : `coalesce(${patches.length} - array_position('{${patches.map(Number).join(',')}}'::int[], ${patch}), 0)`;

/**
 * A raw score so many patches behind, by the very operations of `taxedScore` in the domain: one product and one quotient of
 * float8.
 */
export function taxedScoreSql(
  { definition: { decay, order } }: Pick<EntryTax, 'definition'>,
  raw: string,
  behind: string,
): string {
  const { numerator, denominator } = taxRateOf(decay!.perPatch);
  const factor =
    order === 'asc'
      ? `(${denominator} + ${numerator} * ${behind})`
      : `greatest(0, ${denominator} - ${numerator} * ${behind})`;
  return `CASE WHEN ${behind} = 0 THEN ${raw} ELSE ${raw} * ${factor}::float8 / ${denominator}::float8 END`;
}

/** The runs in a column of `patch_runs`, as rows. */
const runsSql = (column: string): string =>
  `jsonb_to_recordset(${column}) AS r (patch int, score float8, columns float8[], "achievedAtMs" bigint, metadata text,
    position bigint)`;

/**
 * What stands in for an entry of a board with decay, as `t`: the run that `standingRun` of the domain comes to, under the
 * tax, or, in the list of a patch, the best of that patch, as it was. `patchRuns` names the column of its runs.
 */
export function joinStandingRunSql({ definition, order }: EntryTax, patchRuns: string, scope = 0): string {
  const inPatch = isPatchScope(scope);
  const behind = behindSql(order, 'r.patch');
  const score = inPatch ? 'r.score' : taxedScoreSql({ definition }, 'r.score', 'b.behind');
  // Of equal ones that of the newer patch, and of one patch the better raw one.
  const inOrder = entryOrderSql(definition, `''`);
  return `
  CROSS JOIN LATERAL (
    SELECT * FROM (
      SELECT ${score} AS score, r.columns, r."achievedAtMs" AS achieved_at_ms, r.metadata, r.score AS raw_score,
        r.patch AS patch_uid, r.position, b.behind
      FROM ${runsSql(patchRuns)} CROSS JOIN LATERAL (SELECT ${behind} AS behind OFFSET 0) AS b
      ${inPatch ? `WHERE r.patch = ${Number(patchOfScope(scope))}` : ''}) AS runs
    ORDER BY ${inOrder}, behind, raw_score ${definition.order} LIMIT 1) AS t`;
}
