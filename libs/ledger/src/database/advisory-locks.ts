/**
 * Every advisory lock of the project, so that no two share a number by accident. A lock that is one of many takes its
 * number here as the first key, and which of them as the second; a lock that there is once takes it alone. Processes of
 * two versions meet on one database during an upgrade: a number never gets another meaning.
 */
export const ADVISORY_LOCKS = {
  /** The second key is the lane. */
  lanes: 7_162,
  /** Under which guilds' totals are computed; the second key is the lane of the guild's id. */
  guildTotals: 7_163,
  /** Of people's lists; the second key is a hash of whose list it is. */
  circles: 7_164,
  /** Under which days are kept. */
  days: 7_165,
  /** Under which a window's standings are kept; the second key is the window. */
  keptStandings: 7_166,
  /** Under which migrations run, so that processes which start together do them once. */
  migrations: 7_162_534,
  /** Leaves room for nobody else while it is decided whether the log has changed. */
  logChange: 7_162_535,
} as const;
