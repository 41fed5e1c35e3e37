/**
 * Every advisory lock of the project, so that no two share a number by accident. A lock of a family has its number here
 * as the first key, and its member as the second; a single lock has only the number. During an upgrade processes of two
 * versions share one database, so a number never gets another meaning.
 */
export const ADVISORY_LOCKS = {
  /** The second key is the lane. */
  lanes: 7_162,
  /** Held while guilds' totals are computed; the second key is the lane of the guild's id. */
  guildTotals: 7_163,
  /** Held while somebody's friends, follows or circle change; the second key is a hash of whose. */
  circles: 7_164,
  /** Held while days are recorded. */
  days: 7_165,
  /** Held while a window's standings are kept; the second key is the window. */
  keptStandings: 7_166,
  /** Held while a pool's games are rated; the second key is the pool. */
  pools: 7_167,
  /** Held while old changes of a pool are deleted; the second key is the pool. */
  ratingHistory: 7_168,
  /** Held while a flag is raised; the second key is a hash of what it is about. */
  flags: 7_169,
  /** Held while migrations run, so that processes that start together run them once. */
  migrations: 7_162_534,
  /** Held while it is decided whether the log has changed. */
  logChange: 7_162_535,
} as const;
