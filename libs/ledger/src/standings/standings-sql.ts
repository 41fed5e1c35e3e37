import { GLOBAL_SCOPE, GUILDS_SCOPE, isPerRun, NEVER_USED_SCOPE, type BoardDefinition } from '@laddercast/domain';
import type { EditionKind } from '../catalogs/edition-catalog.js';
import { entryOrderSql, valueOrderSql } from '../entries/entry-order-sql.js';
import { joinRunOfEntrySql } from '../entries/entry-run-sql.js';
import { playerOfAnyKeySql, playerOfKeySql } from '../entries/run-keys-sql.js';
import { joinStandingRunSql, type EntryTax } from '../entries/taxed-entries-sql.js';
import { guildScoreSql } from '../entries/guild-aggregate.js';

/** The most lists that a preview shows. */
export const PREVIEW_SCOPES_MAX = 100;
const PREVIEW_ROWS = 10;

const ENTRY = `e.player_id, e.score, e.columns, e.achieved_at_ms, e.metadata, e.scopes, NULL::float8 AS raw_score,
    NULL::int AS patch_uid`;
const TAXED_ENTRY = `e.player_id, t.score, t.columns, t.achieved_at_ms, t.metadata, e.scopes, t.raw_score, t.patch_uid`;

/** An entry as it is stored, or, on a board with decay, the run that stands under the tax. */
const entryColumns = (tax: EntryTax | null): string => (tax ? TAXED_ENTRY : ENTRY);

const joinTaxed = (tax: EntryTax | null): string => (tax ? joinStandingRunSql(tax, 'e.patch_runs') : '');

/** What standings keep of the run that an entry rests on, and where that comes from; boards without runs are not asked. */
const runOf = ({ runs, entriesPer }: BoardDefinition, tax: EntryTax | null): { kept: string; join: string } =>
  runs
    ? {
        kept: 'run.verified, run.proof',
        join: joinRunOfEntrySql(
          playerOfKeySql('e.player_id', isPerRun({ entriesPer })),
          tax ? 't.position' : undefined,
        ),
      }
    : { kept: 'NULL::boolean AS verified, NULL::text AS proof', join: '' };

/** The entries of window `$1` as they are. */
const entriesNow = (definition: BoardDefinition, tax: EntryTax | null): string => {
  const { kept, join } = runOf(definition, tax);
  return `SELECT ${entryColumns(tax)}, ${kept} FROM ranked_entries e ${joinTaxed(tax)} ${join} WHERE e.window_uid = $1`;
};

/**
 * The entries of window `$1` at its freeze: what a change after it saved stands in for the entry. Who is sanctioned is
 * looked at as it is now.
 */
const entriesFrozen = (definition: BoardDefinition, tax: EntryTax | null): string => {
  const { kept, join } = runOf(definition, tax);
  return `
    SELECT ${entryColumns(tax)}, ${kept}
    FROM ranked_entries e LEFT JOIN frozen_entries f USING (window_uid, player_id) ${joinTaxed(tax)} ${join}
    WHERE e.window_uid = $1 AND f.player_id IS NULL
    UNION ALL
    SELECT ${entryColumns(tax)}, ${kept}
    FROM (
      SELECT f.*, n.board_uid, n.unranked FROM frozen_entries f JOIN entries n USING (window_uid, player_id)) AS e
    ${joinTaxed(tax)} ${join}
    WHERE e.window_uid = $1 AND e.present AND NOT e.unranked`;
};

/** The entries of window `$1` as they are, without what only the lists of an archive show. */
const PLACES_NOW = `
  SELECT player_id, score, columns, achieved_at_ms, NULL::text AS metadata, '{}'::int[] AS scopes,
    NULL::float8 AS raw_score, NULL::int AS patch_uid, NULL::boolean AS verified, NULL::text AS proof
  FROM ranked_entries WHERE window_uid = $1`;

/** A key may be that of a run's entry. */
const JOIN_RUN_OF_ENTRY = joinRunOfEntrySql(playerOfAnyKeySql('e.player_id'));

/** The entry of one player, or key, `k.player_id`, in window `$1`, as editions count it, with what they keep of its run. */
export const ENTRY_OF_PLAYER = `
    SELECT ${ENTRY}, run.verified, run.proof FROM ranked_entries e ${JOIN_RUN_OF_ENTRY}
    WHERE e.window_uid = $1 AND e.player_id = k.player_id LIMIT 1`;
export const FROZEN_ENTRY_OF_PLAYER = `
    SELECT ${ENTRY}, run.verified, run.proof
    FROM (
      SELECT f.*, n.board_uid, n.unranked FROM frozen_entries f JOIN entries n USING (window_uid, player_id)
      WHERE f.window_uid = $1 AND f.player_id = k.player_id) AS e ${JOIN_RUN_OF_ENTRY}
    WHERE e.present AND NOT e.unranked
    UNION ALL
    SELECT ${ENTRY}, run.verified, run.proof FROM ranked_entries e ${JOIN_RUN_OF_ENTRY}
    WHERE e.window_uid = $1 AND e.player_id = k.player_id
      AND NOT EXISTS (SELECT FROM frozen_entries WHERE window_uid = $1 AND player_id = k.player_id)
    LIMIT 1`;

/** The lists of patches are not kept in standings. */
const OF_CIRCLES = `WHERE u.scope_uid > ${NEVER_USED_SCOPE}`;

/** The source of each kind of edition. That of a day has no scopes, and so only the global list. */
const COUNTED: Record<EditionKind, (definition: BoardDefinition, tax: EntryTax | null) => string> = {
  final: entriesNow,
  frozen: entriesFrozen,
  kept: entriesNow,
  day: () => PLACES_NOW,
};

/**
 * The guilds of window `$1`: members by the scopes of their entries, and what leavers left; at the freeze `$2`, what had
 * been left until then.
 */
const guildRows = (definition: BoardDefinition, kind: EditionKind): string => `
  UNION ALL
  SELECT ${GUILDS_SCOPE}, substr(name, 7), ${guildScoreSql(definition)}, '{}'::float8[], max(achieved_at_ms),
    NULL, '{}'::int[], NULL::float8, NULL::int, NULL::boolean, NULL, count(*)::int
  FROM (
    SELECT s.name, c.player_id, c.score, c.achieved_at_ms
    FROM counted c CROSS JOIN LATERAL unnest(c.scopes) AS u (scope_uid)
    JOIN scopes s ON s.scope_uid = u.scope_uid AND s.name LIKE 'guild:%'
    UNION ALL
    SELECT 'guild:' || guild_id, player_id, score, achieved_at_ms
    FROM ranked_guild_kept WHERE window_uid = $1 AND present ${kind === 'frozen' ? 'AND left_at < $2' : ''}) AS part
  GROUP BY name`;

/**
 * Every row of a window's lists with its ranks:
 * `$1` the window, `$2` the moment.
 */
function rankedSql(definition: BoardDefinition, kind: EditionKind, tax: EntryTax | null): string {
  return `
    WITH counted AS (${COUNTED[kind](definition, tax)}),
    listed (scope_uid, player_id, score, columns, achieved_at_ms, metadata, scopes, raw_score, patch_uid, verified, proof,
      members) AS (
      SELECT ${GLOBAL_SCOPE}, c.*, NULL::int FROM counted c
      UNION ALL
      SELECT u.scope_uid, c.*, NULL FROM counted c CROSS JOIN LATERAL unnest(c.scopes) AS u (scope_uid)
      ${tax ? OF_CIRCLES : ''}
      ${definition.scopes.includes('guild') && kind !== 'day' ? guildRows(definition, kind) : ''}),
    ranked AS (
      SELECT *, count(*) OVER (PARTITION BY scope_uid) AS total,
        rank() OVER by_value AS competition, dense_rank() OVER by_value AS dense,
        row_number() OVER (PARTITION BY scope_uid ORDER BY ${entryOrderSql(definition)}) AS ordinal
      FROM listed
      -- Where nothing is frozen this alone says what type the moment has.
      WHERE $2::timestamptz IS NOT NULL
      WINDOW by_value AS (PARTITION BY scope_uid ORDER BY ${valueOrderSql(definition)}))`;
}

/** What was noted and is seen by the statement needs no revision: of editions that follow acts. */
const SEEN: Record<EditionKind, string> = {
  final: 'DELETE FROM revisions_due WHERE window_uid = $1 RETURNING audit_id',
  frozen: 'DELETE FROM revisions_due WHERE window_uid = $1 RETURNING audit_id',
  kept: 'SELECT NULL::bigint AS audit_id WHERE false',
  day: 'SELECT NULL::bigint AS audit_id WHERE false',
};

/**
 * Writes the rows and totals of edition `$3`, of each list the first `$4` (null: all), and answers the acts that were noted
 * of the window: what the statement sees of entries and what it sees of notes is of one moment.
 */
export const writeStandingsSql = (definition: BoardDefinition, kind: EditionKind, tax: EntryTax | null): string => `
  ${rankedSql(definition, kind, tax)},
  totals AS (
    INSERT INTO edition_scopes (edition_uid, scope_uid, total)
    SELECT $3::int, scope_uid, max(total) FROM ranked GROUP BY scope_uid),
  rows AS (
    INSERT INTO standings (edition_uid, scope_uid, ordinal, competition, dense, player_id, score, columns, achieved_at_ms,
      metadata, scopes, raw_score, patch_uid, verified, proof, members)
    SELECT $3::int, scope_uid, ordinal, competition, dense, player_id, score, columns, achieved_at_ms, metadata, scopes,
      raw_score, patch_uid, verified, proof, members
    FROM ranked WHERE $4::int IS NULL OR ordinal <= $4),
  seen AS (${SEEN[kind]})
  SELECT DISTINCT audit_id AS act FROM seen WHERE audit_id IS NOT NULL ORDER BY audit_id`;

/** The lists of a preview in their order: everybody, guilds, then the longest first. */
const PLACE = `row_number() OVER (ORDER BY scope_uid > ${GUILDS_SCOPE}, CASE WHEN scope_uid > ${GUILDS_SCOPE} THEN -total END,
  scope_uid) AS place`;

const NAME = `coalesce(s.name, CASE scope_uid WHEN ${GLOBAL_SCOPE} THEN 'global' ELSE 'guilds' END) AS scope`;

/** The first rows and the total of each list, by the name of its scope. */
export const previewStandingsSql = (definition: BoardDefinition, tax: EntryTax | null): string => `
  ${rankedSql(definition, 'final', tax)},
  lists AS (SELECT scope_uid, ${PLACE} FROM ranked WHERE ordinal = 1)
  SELECT ${NAME}, total::int, ${definition.rankStyle}::int AS rank, player_id, score
  FROM ranked JOIN lists USING (scope_uid) LEFT JOIN scopes s USING (scope_uid)
  WHERE ordinal <= ${PREVIEW_ROWS} AND place <= ${PREVIEW_SCOPES_MAX}
  ORDER BY place, ordinal`;

/** The same of the written edition `$1`, its ranks in the style `$2`, of at most `$3` lists. */
export const READ_EDITION_START = `
  SELECT ${NAME}, total, t.rank, t.player_id, t.score
  FROM (
    SELECT scope_uid, total, ${PLACE} FROM edition_scopes WHERE edition_uid = $1 ORDER BY place LIMIT $3) AS lists
  LEFT JOIN scopes s USING (scope_uid)
  LEFT JOIN LATERAL (
    SELECT ordinal, CASE $2::text WHEN 'ordinal' THEN ordinal WHEN 'dense' THEN dense ELSE competition END AS rank, player_id, score
    FROM standings WHERE edition_uid = $1 AND scope_uid = lists.scope_uid AND ordinal <= ${PREVIEW_ROWS}) AS t ON true
  ORDER BY place, t.ordinal`;
