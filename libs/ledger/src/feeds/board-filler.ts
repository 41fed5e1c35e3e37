import { Injectable } from '@nestjs/common';
import { fillFedBoards, RULES_CHANGED } from '../boards/fed-boards.js';
import { BoardCatalog } from '../catalogs/board-catalog.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { tryEach } from '../database/try-each.js';
import { AlgorithmMissing, isOfPools, type PoolsOf } from '../pools/rating-algorithms.js';
import { BoardFeeder } from './board-feeder.js';
import type { FoldedEvent, PoolEventFold, PoolInTurn } from '../pools/pool-events.js';

/** Between two of them it is noted how far the filling is. */
const PLAYERS_AT_ONCE = 500;
/** The most boards of one look. */
const BOARDS_AT_ONCE = 100;

interface Fill {
  boardUid: number;
  poolUid: number;
  round: number;
  afterPlayer: string;
}

const FILLS = prepared(`
  SELECT board_uid AS "boardUid", pool_uid AS "poolUid", round, after_player AS "afterPlayer" FROM board_fills
  LEFT JOIN pools USING (pool_uid) WHERE ${isOfPools("definition ->> 'algorithm'")}
  ORDER BY round LIMIT ${BOARDS_AT_ONCE}`);

/** Everybody of pool `$1`, and who is on board `$2` from games that count no more. */
const NEXT_PLAYERS = prepared(`
  SELECT player_id AS "playerId" FROM (
    (SELECT player_id FROM ratings WHERE pool_uid = $1 AND player_id > $3 ORDER BY player_id LIMIT ${PLAYERS_AT_ONCE})
    UNION
    SELECT fed.player_id FROM windows AS w
    CROSS JOIN LATERAL (
      SELECT player_id FROM entry_feeds WHERE window_uid = w.window_uid AND player_id > $3
      ORDER BY player_id LIMIT ${PLAYERS_AT_ONCE}) AS fed
    WHERE w.board_uid = $2 AND w.state = 'open'
  ) AS p ORDER BY player_id LIMIT ${PLAYERS_AT_ONCE}`);

const NOTE_PROGRESS = prepared(`
  UPDATE board_fills SET after_player = $3 WHERE board_uid = $1 AND round = $2 RETURNING board_uid`);

const END_FILL = prepared('DELETE FROM board_fills WHERE board_uid = $1 AND round = $2 AND NOT again');

/** Behind those of other boards. */
const BEGIN_AGAIN = prepared(`
  UPDATE board_fills SET again = false, after_player = '', ended_round = round, round = nextval('ladder_position')
  WHERE board_uid = $1 AND round = $2 AND again`);

/**
 * Writes all players of a pool to a board that was named, reset, whose pool has other rules, or whose events were lost with
 * their log, a chunk at a time. Who ends halfway is taken over from; games that are rated meanwhile are written beside it.
 */
@Injectable()
export class BoardFiller {
  /** Where {@link run} may find something, for a `SharedLook`. */
  readonly due = 'SELECT FROM board_fills';

  constructor(
    private readonly database: PostgresDatabase,
    private readonly boards: BoardCatalog,
    private readonly feeder: BoardFeeder,
  ) {}

  /** @param of all pools when not given */
  async run(signal: AbortSignal, of: PoolsOf | null = null): Promise<void> {
    const fills = await this.database.query<Fill>(FILLS, [of]);
    if (fills.length === 0) return;
    // A fill is as old as its board: now each is known, or gone.
    await this.boards.refresh();
    await tryEach(fills, signal, (fill) => this.fill(fill, signal));
  }

  private async fill({ boardUid, poolUid, round, afterPlayer }: Fill, signal: AbortSignal): Promise<void> {
    for (let after = afterPlayer; !signal.aborted;) {
      const isFed = this.boards.fedBy(poolUid).some(({ uid }) => uid === boardUid);
      const next = [poolUid, boardUid, after];
      const players = isFed ? await this.database.query<{ playerId: string }>(NEXT_PLAYERS, next) : [];
      const named = players.map(({ playerId }) => ({ playerId, playedAtMs: [], isEverywhere: true }));
      try {
        await this.feeder.feedBoard(poolUid, boardUid, named);
      } catch (error) {
        // It stays to be filled, by a process that has the algorithm; the rater says what is missing.
        if (error instanceof AlgorithmMissing) return;
        throw error;
      }
      if (players.length < PLAYERS_AT_ONCE) {
        await this.database.query(END_FILL, [boardUid, round]);
        await this.database.query(BEGIN_AGAIN, [boardUid, round]);
        return;
      }
      after = players.at(-1)!.playerId;
      // Another round has begun: it starts anew, and is found by the next look.
      if ((await this.database.query(NOTE_PROGRESS, [boardUid, round, after])).length === 0) return;
    }
  }
}

/** Has the boards of a pool filled anew: its position moves, so that what is read by the new rules is newer than all entries. */
@Injectable()
export class RulesChangedFold implements PoolEventFold {
  readonly type = RULES_CHANGED;
  readonly isQuick = true;

  async fold(_: SqlRunner, { uid }: PoolInTurn): Promise<FoldedEvent> {
    const store = (transaction: SqlRunner): Promise<void> => fillFedBoards(transaction, uid);
    return { outcome: {}, newcomers: 0, changed: [], store };
  }
}
