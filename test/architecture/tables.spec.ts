// Real: every TypeScript file of the libs, apps and examples, and the ledger's migrations.
import { describe, expect, it } from 'vitest';
import { isTest, isTypeScript, repositoryFiles, type TextFile } from './source-tree.js';
import { tablesMade, tableUses, type TableUse } from './tables.js';

/** Which libs write SQL on a table; every other asks one of them by name. */
const OWNERS: { libs: string[]; tables: string[] }[] = [
  {
    libs: ['ledger'],
    tables: [
      ...['boards', 'windows', 'scopes', 'metadata_boards', 'layout_progress', 'layout_removals'],
      ...['entries', 'frozen_entries', 'rolling_hours', 'submissions', 'attempts', 'entry_history'],
      ...['runs', 'run_bases', 'sanctions'],
      ...['editions', 'edition_scopes', 'edition_changes', 'standings', 'settlement_failures', 'revisions_due'],
      ...['players', 'guilds', 'guild_members', 'guild_leavers', 'guild_totals', 'guild_kept'],
      ...['friendships', 'follows', 'circle_members'],
      ...['pools', 'games', 'game_players', 'ratings', 'rating_changes', 'pool_events'],
      ...['restatements', 'restated_entries'],
      ...['patch_families', 'patches', 'patch_uses'],
      ...[
        'board_fills',
        'board_templates',
        'entry_feeds',
        'entry_ends',
        'last_feeds',
        'period_results',
        'rating_bases',
        'untold_ratings',
      ],
      ...['projected_positions', 'rebuilds', 'reconciliations', 'lane_maps'],
      ...['flags', 'flag_runs', 'run_acts', 'rule_examinations'],
      ...['api_keys', 'former_api_key_secrets', 'audit_log'],
    ],
  },
  { libs: ['event-log'], tables: ['log_offsets', 'dead_letters'] },
  // The ledger fills the outbox and the log reads it; the log waits for the leases of its groups; each keeps facts of its own.
  { libs: ['ledger', 'event-log'], tables: ['outbox', 'leases', 'installation'] },
];

/**
 * The files that may name `entries` or `guild_kept` in SQL, and why unranked rows are theirs, too. All others read the views
 * `ranked_entries`, `projected_entries` and `ranked_guild_kept`, so that no list forgets who is banned or shadowed.
 */
const OF_UNRANKED: Record<string, string> = {
  'entries in entries/lane-sql.ts': 'runs of the shadowed are folded as ever',
  'entries in entries/rolling-sql.ts': 'hours leave the entries of the banned, too',
  'entries in entries/frozen-entry-sql.ts': 'an entry by its key, ranked or not: of who is shown already',
  'entries in entries/run-entries.ts':
    'runs of the shadowed are folded as ever; what is shown to others leaves them out',
  'entries in reemission/entry-reemission-sql.ts': 'scopes change for the banned, too',
  'entries in limits/entry-limits-sql.ts': 'lifetimes end for the banned, too',
  'entries in standings/standings-sql.ts': 'looks whether a frozen entry is unranked now',
  'entries in sanctions/sanctioned-entries.ts': 'makes entries ranked and unranked',
  'entries in sanctions/unranked-entry.ts': 'what a shadowed player sees of itself',
  'entries in recovery/state-republisher-sql.ts': 'renumbers entries',
  'entries in runs/entry-refold-sql.ts': 'runs of the banned are voided and restored, too',
  'guild_kept in runs/entry-refold-sql.ts': 'runs of the banned are voided and restored, too',
  'guild_kept in revisions/revised-guilds.ts': 'names the guilds whose tables may differ',
  'entries in restatements/restated-entries-sql.ts': 'entries of the banned are restated, too',
  'guild_kept in restatements/restated-entries-sql.ts': 'parts of the banned are restated, too',
  'entries in runs/run-folds.ts': 'runs of the banned are folded, too',
  'entries in runs/run-list.ts': 'says which entries rest on a run',
  'entries in runs/run-pruning-sql.ts': 'runs of the banned are pruned, too',
  'entries in runs/run-rows.ts': 'entries of the banned become bases, too',
  'entries in catalogs/scopes-of-window.ts': 'names the lists that are to be removed',
  'entries in boards/board-rows.ts': 'a board with banned players alone is not empty',
  'entries in boards/board-registry.ts': 'removes what is left of boards',
  'guild_kept in people/guild-registry.ts': 'parts come and go for the banned, too',
  'guild_kept in people/guild-registry-sql.ts': 'parts come and go for the banned, too',
  'guild_kept in people/guild-totals-sql.ts': 'names the guilds that may have a total',
};

const tables = OWNERS.flatMap((owner) => owner.tables);
const files = repositoryFiles().filter(isTypeScript);
const isMigration = (path: string): boolean => path.startsWith('libs/ledger/src/database/migrations/');
/** What tests share looks into tables, as tests do. */
const isRunning = (path: string): boolean =>
  /^(libs|apps|examples)\//.test(path) && !isTest(path) && !path.startsWith('libs/testing/') && !isMigration(path);

const usesIn = (file: TextFile): UseOfLib[] => {
  const lib = /^libs\/([^/]+)\//.exec(file.path)?.[1] ?? 'none';
  return tableUses(file, tables).map((use) => ({ ...use, path: file.path, lib }));
};
type UseOfLib = TableUse & { path: string; lib: string };

/** What is wrong with the place of such a string. */
function faultOf({ path, line, lib, table }: UseOfLib): string[] {
  const owners = table === null ? ['ledger'] : OWNERS.find((owner) => owner.tables.includes(table))!.libs;
  return owners.includes(lib) ? [] : [`${path}:${line} has SQL on ${table ?? 'a table whose name is put together'}`];
}

describe('the tables of PostgreSQL', () => {
  it('have an owner each', () => {
    expect([...tables].sort()).toEqual(tablesMade(files.filter(({ path }) => isMigration(path))).sort());
  });

  const uses = files.filter(({ path }) => isRunning(path)).flatMap(usesIn);

  it('are named in SQL by their owners only', () => {
    expect(uses.flatMap(faultOf)).toEqual([]);
  });

  it('have rows of the banned and shadowed read in named files only', () => {
    const isOfUnranked = ({ table }: UseOfLib): boolean => table === 'entries' || table === 'guild_kept';
    const named = new Set(
      uses.filter(isOfUnranked).map(({ table, path }) => `${table} in ${path.replace('libs/ledger/src/', '')}`),
    );
    expect([...named].sort()).toEqual(Object.keys(OF_UNRANKED).sort());
  });

  it('are each used by every lib that owns them', () => {
    const used = new Set(uses.map(({ table, lib }) => `${table} ${lib}`));
    const owned = OWNERS.flatMap((owner) =>
      owner.libs.flatMap((lib) => owner.tables.map((table) => `${table} ${lib}`)),
    );
    expect(owned.filter((one) => !used.has(one))).toEqual([]);
  });

  it.each([
    ['libs/queries/src/a.ts', "const sql = 'SELECT 1 FROM players';", 'players'],
    ['libs/queries/src/a.ts', 'const sql = `SELECT 1 FROM boards b\n  JOIN windows USING (board_uid)`;', 'windows'],
    ['libs/projections/src/a.ts', "const sql = 'INSERT INTO installation (name) VALUES ($1)';", 'installation'],
    ['libs/ledger/src/a.ts', "const sql = 'DELETE FROM dead_letters';", 'dead_letters'],
    ['libs/event-log/src/a.ts', "const sql = 'UPDATE entries SET removed = true';", 'entries'],
    ['libs/event-log/src/a.ts', 'const sql = `SELECT 1 FROM ${table}`;', 'put together'],
    ['apps/api/src/a.ts', "const sql = 'SELECT 1 FROM leases';", 'leases'],
  ])('are refused in %s: %s', (path, text, fault) => {
    expect(usesIn({ path, text }).flatMap(faultOf)).toContainEqual(expect.stringContaining(fault));
  });

  it.each([
    ['libs/ledger/src/a.ts', 'const sql = `SELECT 1 FROM entries JOIN outbox ON true`;'],
    ['libs/event-log/src/a.ts', "const sql = 'SELECT 1 FROM outbox';"],
    ['libs/queries/src/a.ts', '// SELECT 1 FROM players\nconst entries = `read from windows and ${boards}`;'],
  ])('are allowed in %s: %s', (path, text) => {
    expect(usesIn({ path, text }).flatMap(faultOf)).toEqual([]);
  });
});
