import { PostgresDatabase, recordAudit } from '@laddercast/ledger';
import { Injectable } from '@nestjs/common';

/** A record that was parked because it failed by itself. */
export interface StoredDeadLetter {
  id: number;
  /** In whose handler it failed: a consumer group of the log, `kafka-relay`, or an intake's topic. */
  group: string;
  topic: string;
  lane: number;
  position: number;
  key: string;
  payload: string;
  cause: string;
  /** Unix ms. */
  parkedAtMs: number;
  /** When it was replayed last, Unix ms; null: never. */
  replayedAtMs: number | null;
}

/** The most letters that are kept; beyond, the oldest go. */
export const DEAD_LETTERS_MAX = 100_000;
const PRUNE_CHUNK = 5000;
const ID_MAX = 2 ** 53 - 1;

const COLUMNS = `dead_letter_id AS id, consumer_group AS "group", topic, lane, position, key, payload, cause,
  (extract(epoch FROM parked_at) * 1000)::float8 AS "parkedAtMs",
  (extract(epoch FROM replayed_at) * 1000)::float8 AS "replayedAtMs"`;

/** The dead letters as operators see them. */
@Injectable()
export class DeadLetterStore {
  constructor(private readonly database: PostgresDatabase) {}

  /** A page of letters, the newest first, beginning behind one; of one group or of all. */
  list(limit: number, beforeId: number | null, group: string | null): Promise<StoredDeadLetter[]> {
    return this.database.query(
      `SELECT ${COLUMNS} FROM dead_letters
       WHERE dead_letter_id < $2 AND ($3::text IS NULL OR consumer_group = $3)
       ORDER BY dead_letter_id DESC LIMIT $1`,
      [limit, beforeId ?? ID_MAX, group],
    );
  }

  async find(id: number): Promise<StoredDeadLetter | undefined> {
    const [letter] = await this.database.query<StoredDeadLetter>(
      `SELECT ${COLUMNS} FROM dead_letters WHERE dead_letter_id = $1`,
      [id],
    );
    return letter;
  }

  /** How many letters of each group were not replayed, groups without one left out; {@link DEAD_LETTERS_MAX} in all. */
  waitingByGroup(): Promise<{ group: string; letters: number }[]> {
    return this.database.query(
      `SELECT consumer_group AS "group", count(*)::int AS letters
       FROM (SELECT consumer_group FROM dead_letters WHERE replayed_at IS NULL LIMIT $1) AS counted GROUP BY consumer_group`,
      [DEAD_LETTERS_MAX],
    );
  }

  /** Notes the result of a replay: who asked for it, and whether it settled the letter. */
  async noteReplay(
    { id, group, topic }: StoredDeadLetter,
    { actor, isSettled, details }: { actor: string; isSettled: boolean; details: object },
  ): Promise<void> {
    await this.database.transaction(async (transaction) => {
      if (isSettled) {
        await transaction.query('UPDATE dead_letters SET replayed_at = ladder_now() WHERE dead_letter_id = $1', [id]);
      }
      const audited = { group, topic, ...details };
      await recordAudit(transaction, { actor, action: 'dead-letter.replay', subject: String(id), details: audited });
    });
  }

  /**
   * Forgets letters that were parked so many days ago, and the oldest beyond {@link DEAD_LETTERS_MAX}.
   * @returns how many
   */
  async prune(keptDays: number, signal: AbortSignal): Promise<number> {
    let pruned = 0;
    while (!signal.aborted) {
      const rows = await this.database.query(
        `DELETE FROM dead_letters WHERE dead_letter_id IN (SELECT dead_letter_id FROM dead_letters
           WHERE parked_at < ladder_now() - $1::float8 * interval '1 day'
             OR dead_letter_id <= (SELECT dead_letter_id FROM dead_letters ORDER BY dead_letter_id DESC OFFSET $2 LIMIT 1)
           LIMIT ${PRUNE_CHUNK}) RETURNING 1`,
        [keptDays, DEAD_LETTERS_MAX],
      );
      pruned += rows.length;
      if (rows.length < PRUNE_CHUNK) break;
    }
    return pruned;
  }
}
