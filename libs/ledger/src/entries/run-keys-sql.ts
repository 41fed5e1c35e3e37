/**
 * Whether a key names the entry of a run, and the player that it names, as `keyOfEntry` of the domain makes them. The indexes
 * `entries_of_runs`, `run_bases_of_runs` and `standings_of_runs` are of these very expressions.
 */
export const isRunKeySql = (key: string): string => `strpos(${key}, E'\\x01') > 0`;
export const playerOfRunKeySql = (key: string): string => `split_part(${key}, E'\\x01', 2)`;

/** Whether a key is that of a run of a player: as the partial indexes find it. */
export const isRunOfSql = (playerId: string, key = 'player_id'): string =>
  `${playerOfRunKeySql(key)} = ${playerId} AND ${isRunKeySql(key)}`;

/** The key of the entry of a run. */
export const runKeySql = (submissionId: string, playerId: string): string =>
  `${submissionId} || E'\\x01' || ${playerId}`;

/** The player of an entry, whose key is that of a run where `isPerRun`. */
export const playerOfKeySql = (key: string, isPerRun: boolean): string => (isPerRun ? playerOfRunKeySql(key) : key);

/** The player of an entry of whatever board. */
export const playerOfAnyKeySql = (key: string): string =>
  `CASE WHEN ${isRunKeySql(key)} THEN ${playerOfRunKeySql(key)} ELSE ${key} END`;
