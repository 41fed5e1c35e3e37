import { isDeepStrictEqual } from 'node:util';
import type { SanctionInForce } from '@laddercast/domain';
import { Inject, Injectable } from '@nestjs/common';
import { EntryReemission } from '../reemission/entry-reemission.js';
import { LaneQueue } from '../lanes/lane-queue.js';
import { appendEvent, nextPosition } from '../lanes/lane-events.js';
import { ledgerNowMs } from '../database/ledger-clock.js';
import { sanctionInForce } from '../sanctions/sanction-rows.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';

/** What is known of a player beside its scores. */
export interface PlayerProfile {
  displayName: string | null;
  region: string | null;
  avatarUrl: string | null;
  attributes: Record<string, string>;
  /** Whether others see it in lists; it is ranked and counted all the same. */
  listed: boolean;
}

export interface StoredPlayer extends PlayerProfile {
  playerId: string;
  guildId: string | null;
}

/** The profile of a player of whom nothing was put. */
export const NO_PROFILE: PlayerProfile = {
  displayName: null,
  region: null,
  avatarUrl: null,
  attributes: {},
  listed: true,
};

const FIND_PLAYER = `
  SELECT $1 AS "playerId", p.display_name AS "displayName", p.region, p.avatar_url AS "avatarUrl",
    coalesce(p.attributes, '{}') AS attributes, coalesce(p.listed, true) AS listed, g.guild_id AS "guildId"
  FROM (SELECT) AS one
  LEFT JOIN players AS p ON p.player_id = $1
  LEFT JOIN guild_members AS g ON g.player_id = $1
  WHERE p.player_id IS NOT NULL OR g.player_id IS NOT NULL`;

const WRITE_PLAYER = `
  INSERT INTO players (player_id, display_name, region, avatar_url, attributes, listed, changed_at)
  VALUES ($1, $2, $3, $4, $5, $6, to_timestamp($7::float8 / 1000))
  ON CONFLICT (player_id) DO UPDATE SET display_name = excluded.display_name, region = excluded.region,
    avatar_url = excluded.avatar_url, attributes = excluded.attributes, listed = excluded.listed,
    changed_at = excluded.changed_at`;

/** Players' profiles. */
@Injectable()
export class PlayerRegistry {
  constructor(
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    private readonly work: LaneQueue,
    private readonly reemission: EntryReemission,
  ) {}

  /** Undefined while nothing was put of the player, and it is in no guild. */
  async find(playerId: string): Promise<StoredPlayer | undefined> {
    return findPlayer(this.database, playerId);
  }

  /** The sanction of a player that is in force; undefined: none is. */
  sanctionOf(playerId: string): Promise<SanctionInForce | undefined> {
    return sanctionInForce(this.database, playerId);
  }

  /** Puts a profile in the place of the one before: the player's running entries go into the lists of their new scopes. */
  put(playerId: string, profile: PlayerProfile): Promise<StoredPlayer> {
    return this.work.holding(playerId, async (transaction, lane) => {
      const found = await findPlayer(transaction, playerId);
      const before = found ?? { ...NO_PROFILE, playerId, guildId: null };
      const after = { ...before, ...profile };
      const nowMs = await ledgerNowMs(transaction);
      await transaction.query(WRITE_PLAYER, [
        playerId,
        profile.displayName,
        profile.region,
        profile.avatarUrl,
        JSON.stringify(profile.attributes),
        profile.listed,
        nowMs,
      ]);
      if (before.region !== after.region || !isDeepStrictEqual(before.attributes, after.attributes)) {
        const entries = await this.reemission.runningOfPlayer(transaction, playerId, nowMs);
        await this.reemission.write(transaction, lane, await this.reemission.differing(entries));
      }
      if (!isShownTheSame(before, after)) {
        const position = await nextPosition(transaction);
        await appendEvent(transaction, lane, position, playerId, { type: 'player-changed', playerId });
      }
      return after;
    });
  }
}

/** Whether lists show two profiles of a player as one. */
const isShownTheSame = (
  { displayName, listed, avatarUrl, region, attributes }: PlayerProfile,
  other: PlayerProfile,
): boolean =>
  displayName === other.displayName &&
  listed === other.listed &&
  avatarUrl === other.avatarUrl &&
  region === other.region &&
  isDeepStrictEqual(attributes, other.attributes);

async function findPlayer(sql: SqlRunner, playerId: string): Promise<StoredPlayer | undefined> {
  const [player] = await sql.query<StoredPlayer>(FIND_PLAYER, [playerId]);
  return player;
}
