import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  // open: runs enter | closed: none does, the standings are not written yet | settled: they are.
  `ALTER TABLE windows
    ADD COLUMN freeze_at timestamptz,
    ADD COLUMN state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed', 'settled')),
    ADD COLUMN closed_at timestamptz`,
  `CREATE INDEX windows_to_settle ON windows (ends_at) WHERE state <> 'settled' AND ends_at IS NOT NULL`,
  `CREATE INDEX windows_to_freeze ON windows (freeze_at) WHERE state = 'open' AND freeze_at IS NOT NULL`,
  `CREATE INDEX windows_by_end ON windows (board_uid, ends_at, window_uid)`,
  `CREATE INDEX windows_unsettled ON windows (board_uid) WHERE state <> 'settled'`,
  // By the name of a window spec: when the windows of one that was added later begin, Unix ms.
  `ALTER TABLE boards
    ADD COLUMN windows_since jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN definition_revision bigint NOT NULL DEFAULT 0,
    ADD COLUMN rescope boolean NOT NULL DEFAULT false`,
  `UPDATE boards SET definition_revision = revision`,

  // 0 is everybody, 1 the list of guilds.
  `CREATE TABLE scopes (
    scope_uid integer GENERATED ALWAYS AS IDENTITY (START WITH 16) PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE)`,
  // left_scopes: every scope that ranked the entry once, so that ranks lost with Redis can be taken out of them too.
  `ALTER TABLE entries
    ADD COLUMN scopes integer[] NOT NULL DEFAULT '{}',
    ADD COLUMN left_scopes integer[] NOT NULL DEFAULT '{}'`,
  `CREATE TABLE players (
    player_id text COLLATE "C" PRIMARY KEY,
    display_name text,
    region text COLLATE "C",
    avatar_url text,
    attributes jsonb NOT NULL DEFAULT '{}',
    listed boolean NOT NULL DEFAULT true,
    changed_at timestamptz NOT NULL)`,
  `CREATE TABLE guilds (
    guild_id text COLLATE "C" PRIMARY KEY,
    display_name text,
    created_at timestamptz NOT NULL)`,
  `CREATE TABLE guild_members (
    player_id text COLLATE "C" PRIMARY KEY,
    guild_id text COLLATE "C" NOT NULL REFERENCES guilds,
    joined_at timestamptz NOT NULL)`,
  `CREATE INDEX guild_members_by_guild ON guild_members (guild_id, player_id)`,
  // Who left last and when: a window that had ended before, and still takes late runs, counts them as its entries say.
  `CREATE TABLE guild_leavers (
    guild_id text COLLATE "C" NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    left_at timestamptz NOT NULL,
    PRIMARY KEY (guild_id, player_id))`,
  // A guild's entry in a window: the absolute aggregate, recomputed whole.
  `CREATE TABLE guild_totals (
    window_uid integer NOT NULL,
    guild_id text COLLATE "C" NOT NULL,
    board_uid integer NOT NULL,
    lane smallint NOT NULL,
    version bigint NOT NULL,
    removed boolean NOT NULL,
    score float8 NOT NULL,
    members integer NOT NULL,
    achieved_at_ms bigint NOT NULL,
    PRIMARY KEY (window_uid, guild_id)) WITH (fillfactor = 85)`,
  // What members had when they left a guild whose board keeps it.
  `CREATE TABLE guild_kept (
    window_uid integer NOT NULL,
    guild_id text COLLATE "C" NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    score float8 NOT NULL,
    achieved_at_ms bigint NOT NULL,
    left_at timestamptz NOT NULL,
    PRIMARY KEY (window_uid, guild_id, player_id))`,
  // What a player scored in one UTC hour (hours since 1970), for rolling windows.
  `CREATE TABLE rolling_hours (
    window_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    hour integer NOT NULL,
    lane smallint NOT NULL,
    score float8 NOT NULL,
    columns float8[] NOT NULL,
    achieved_at_ms bigint NOT NULL,
    metadata text,
    PRIMARY KEY (window_uid, player_id, hour)) WITH (fillfactor = 85)`,
  `CREATE INDEX rolling_hours_by_hour ON rolling_hours (window_uid, hour)`,
  // Entries as they stood at the freeze of their window, saved by the first change after it; not present: there was none.
  `CREATE TABLE frozen_entries (
    window_uid integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    present boolean NOT NULL,
    score float8 NOT NULL,
    columns float8[] NOT NULL,
    achieved_at_ms bigint NOT NULL,
    metadata text,
    scopes integer[] NOT NULL,
    PRIMARY KEY (window_uid, player_id))`,

  // A window's standings at one moment: final (after its end), frozen (until then), kept (as it stood).
  `CREATE TABLE editions (
    edition_uid integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    window_uid integer NOT NULL REFERENCES windows,
    kind text NOT NULL CHECK (kind IN ('final', 'frozen', 'kept')),
    as_of timestamptz NOT NULL,
    version bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT ladder_now(),
    UNIQUE (window_uid, kind, as_of))`,
  `CREATE INDEX editions_by_age ON editions (kind, as_of)`,
  // total counts every entry of the scope, also where only the top was kept.
  `CREATE TABLE edition_scopes (
    edition_uid integer NOT NULL REFERENCES editions ON DELETE CASCADE,
    scope_uid integer NOT NULL,
    total integer NOT NULL,
    PRIMARY KEY (edition_uid, scope_uid))`,
  // One row for each entry and scope. On the list of guilds player_id is the guild's, and members counts it.
  `CREATE TABLE standings (
    edition_uid integer NOT NULL,
    scope_uid integer NOT NULL,
    ordinal integer NOT NULL,
    competition integer NOT NULL,
    dense integer NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    score float8 NOT NULL,
    columns float8[] NOT NULL,
    achieved_at_ms bigint NOT NULL,
    metadata text,
    scopes integer[] NOT NULL,
    members integer,
    PRIMARY KEY (edition_uid, scope_uid, ordinal))`,
  `CREATE UNIQUE INDEX standings_by_player ON standings (edition_uid, scope_uid, player_id)`,

  // Symmetric: both rows stand, or one that still waits for the other player.
  `CREATE TABLE friendships (
    player_id text COLLATE "C" NOT NULL,
    friend_id text COLLATE "C" NOT NULL,
    state text NOT NULL CHECK (state IN ('friends', 'asked')),
    since timestamptz NOT NULL,
    PRIMARY KEY (player_id, friend_id))`,
  `CREATE INDEX friendships_asked ON friendships (friend_id) WHERE state = 'asked'`,
  `CREATE TABLE follows (
    follower_id text COLLATE "C" NOT NULL,
    followed_id text COLLATE "C" NOT NULL,
    since timestamptz NOT NULL,
    PRIMARY KEY (follower_id, followed_id))`,
  `CREATE INDEX follows_by_followed ON follows (followed_id)`,
  `CREATE TABLE circle_members (
    circle_id text COLLATE "C" NOT NULL,
    player_id text COLLATE "C" NOT NULL,
    since timestamptz NOT NULL,
    PRIMARY KEY (circle_id, player_id))`,
];

export class TimeAndCircles1763720000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE circle_members, follows, friendships, standings, edition_scopes, editions, frozen_entries,
      rolling_hours, guild_kept, guild_totals, guild_leavers, guild_members, guilds, players, scopes`);
    await runner.query('ALTER TABLE entries DROP COLUMN scopes, DROP COLUMN left_scopes');
    await runner.query(
      'ALTER TABLE boards DROP COLUMN windows_since, DROP COLUMN definition_revision, DROP COLUMN rescope',
    );
    await runner.query('ALTER TABLE windows DROP COLUMN freeze_at, DROP COLUMN state, DROP COLUMN closed_at');
  }
}
