import { Injectable } from '@nestjs/common';
import { PostgresDatabase } from '../database/postgres-database.js';
import { tryEach } from '../database/try-each.js';
import { Sanctions } from './sanctions.js';

const SANCTIONS_AT_ONCE = 100;

/** Sanctions in force whose end is over by the ledger's clock. */
const DUE = `
  SELECT player_id AS "playerId", sanction_id AS "sanctionId" FROM sanctions
  WHERE ended_at IS NULL AND until <= (SELECT ladder_now()) ORDER BY until LIMIT ${SANCTIONS_AT_ONCE}`;

/** Players whose entries are yet to follow their last sanction. */
const PENDING = `
  SELECT player_id AS "playerId" FROM sanctions WHERE pending ORDER BY sanction_id LIMIT ${SANCTIONS_AT_ONCE}`;

/** What the clock does to sanctions: it lifts those whose end is over, and goes on where a process stopped. */
@Injectable()
export class SanctionClock {
  /** What {@link liftDue} and {@link goOn} find, for a `SharedLook`. */
  readonly due = DUE;
  readonly pending = PENDING;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly sanctions: Sanctions,
  ) {}

  /**
   * Lifts every sanction whose `until` is over, however long ago that was, each once; returns how many.
   * @throws AggregateError of what failed; it holds up no other
   */
  async liftDue(signal: AbortSignal): Promise<number> {
    let lifted = 0;
    const due = await this.database.query<{ playerId: string; sanctionId: number }>(DUE);
    await tryEach(due, signal, async ({ playerId, sanctionId }) => {
      const sanction = await this.sanctions.lift(
        playerId,
        { actor: 'clock', reason: 'until' },
        { due: { sanctionId } },
      );
      if (sanction) lifted += 1;
    });
    return lifted;
  }

  /**
   * Goes on with players whose entries do not follow their sanction yet.
   * @throws AggregateError of what failed; it holds up no other
   */
  async goOn(signal: AbortSignal): Promise<void> {
    const pending = await this.database.query<{ playerId: string }>(PENDING);
    await tryEach(pending, signal, ({ playerId }) => this.sanctions.goOn(playerId));
  }
}
