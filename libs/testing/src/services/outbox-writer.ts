import type { EntryChanged, LadderEvent } from '@laddercast/domain';
import { appendEvent, nextPosition, OUTBOX_CHANNEL, takeLane, type PostgresDatabase } from '@laddercast/ledger';

/** Writes events into the outbox as the ledger's lanes do: under the lane's lock, held to the commit. */
export class OutboxWriter {
  /** The number of the present map of lanes. */
  map = 0;

  constructor(private readonly database: PostgresDatabase) {}

  /**
   * Writes one transaction of `entry-changed` events.
   * @param beforeEnd runs while the lane is held; when it throws, the transaction is rolled back
   * @returns their positions
   */
  async write(lane: number, boardUid: number, playerIds: readonly string[], beforeEnd = noWait): Promise<number[]> {
    return this.append(
      lane,
      playerIds.map((playerId) => (version) => [playerId, entryChanged(boardUid, playerId, version)]),
      beforeEnd,
    );
  }

  /** Writes one `board-changed` event. */
  async writeBoardChanged(lane: number, boardUid: number): Promise<number> {
    const event: LadderEvent = { type: 'board-changed', boardUid, boardId: null, revision: 1 };
    const [position] = await this.append(lane, [() => [String(boardUid), event]], noWait);
    return position!;
  }

  /** When the ledger wrote what the outbox still has of these positions, Unix ms. */
  async writtenAtMs(lane: number, positions: readonly number[]): Promise<Map<number, number>> {
    const rows = await this.database.query<{ position: number; ms: number }>(
      `SELECT position, floor(extract(epoch FROM created_at) * 1000)::bigint AS ms FROM outbox
       WHERE lane = $1 AND position = ANY($2::bigint[])`,
      [lane, positions],
    );
    return new Map(rows.map(({ position, ms }) => [position, ms]));
  }

  /** Writes many `entry-changed` events in one statement. */
  async writeMany(lane: number, boardUid: number, count: number): Promise<void> {
    await this.database.transaction(async (transaction) => {
      await takeLane(transaction, { lane, map: this.map });
      await transaction.query(
        `WITH drawn AS MATERIALIZED (SELECT nextval('ladder_position') AS position, n FROM generate_series(1, $3::int) n)
         INSERT INTO outbox (lane, position, topic, key, payload)
         SELECT $1, position, 'entry-changed', 'player-' || n, json_build_object('type', 'entry-changed', 'boardUid',
           $2::int, 'playerId', 'player-' || n, 'version', position, 'changes', json_build_array(json_build_object(
           'windowUid', 1, 'keepUntilMs', null, 'entry',
           json_build_object('score', n, 'columns', json_build_array(), 'achievedAtMs', 1795000000000))))::text
         FROM drawn ORDER BY position`,
        [lane, boardUid, count],
      );
    });
    await this.wake(lane);
  }

  private async append(
    lane: number,
    makers: readonly ((position: number) => readonly [string, LadderEvent])[],
    beforeEnd: () => Promise<void>,
  ): Promise<number[]> {
    const positions = await this.database.transaction(async (transaction) => {
      await takeLane(transaction, { lane, map: this.map });
      const drawn: number[] = [];
      for (const make of makers) {
        const position = await nextPosition(transaction);
        const [key, event] = make(position);
        await appendEvent(transaction, lane, position, key, event);
        drawn.push(position);
      }
      await beforeEnd();
      return drawn;
    });
    await this.wake(lane);
    return positions;
  }

  private async wake(lane: number): Promise<void> {
    await this.database.query(`SELECT pg_notify('${OUTBOX_CHANNEL}', $1)`, [String(lane)]);
  }
}

const noWait = (): Promise<void> => Promise.resolve();

const entryChanged = (boardUid: number, playerId: string, version: number): EntryChanged => ({
  type: 'entry-changed',
  boardUid,
  playerId,
  version,
  changes: [
    { windowUid: 1, keepUntilMs: null, entry: { score: version, columns: [], achievedAtMs: 1_795_000_000_000 } },
  ],
});
