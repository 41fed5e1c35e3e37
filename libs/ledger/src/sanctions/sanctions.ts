import { isDeepStrictEqual } from 'node:util';
import { LadderError, validationFailed, type SanctionKind } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { ledgerNowMs } from '../database/ledger-clock.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { LaneQueue } from '../lanes/lane-queue.js';
import { appendEvent, nextPosition } from '../lanes/lane-events.js';
import { Lanes } from '../lanes/lanes.js';
import { lastAuditId, recordAudit } from '../operators/audit-log.js';
import { noteRevision } from '../standings/revision-notes.js';
import {
  endSanction,
  insertSanction,
  lastSanctionOf,
  noteFollowed,
  sanctionChanged,
  sanctionInForce,
  sanctionsOf,
  type NewSanction,
  type Sanction,
} from './sanction-rows.js';
import { followSanction, type FollowedPart, type SanctionedEntry } from './sanctioned-entries.js';

/** How many entries a call changes before it is answered; a projector goes on with what is left. */
export const FOLLOWED_AT_ONCE = 1000;
/** The most transactions of one call: each looks at a bounded number of windows. */
const PARTS_AT_ONCE = 50;
/** The most entries that an audit record names. */
const ENTRIES_TOLD = 100;

const ofKind = (kind: SanctionKind): string =>
  `(SELECT count(*)::int FROM sanctions WHERE ended_at IS NULL AND kind = '${kind}') AS ${kind}`;

const COUNT = `
  SELECT ${ofKind('ban')}, ${ofKind('hide')}, ${ofKind('shadow')},
    (SELECT count(*)::int FROM sanctions WHERE pending) AS pending`;

/** Told when a sanction is in force, or no longer. */
type Begun = () => Promise<unknown>;

/** Who does it, and why. */
export interface Act {
  /** The id of a key, or `clock`. */
  actor: string;
  reason: string;
}

/** Bans, hides and shadows players, and lifts that again. */
@Injectable()
export class Sanctions {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly work: LaneQueue,
  ) {}

  /**
   * Puts a sanction in the place of the one before, and has the player's entries follow it: up to 1,000 before it
   * resolves (`pending` says whether there are more). The same sanction again changes nothing.
   * @param begun awaited as soon as it is in force, before more entries follow
   * @throws BOARD_NOT_FOUND, VALIDATION_FAILED for an end that is over, OVERLOADED
   */
  async put(playerId: string, asked: NewSanction, actor: string, begun?: Begun): Promise<Sanction> {
    const put = await this.work.holding(playerId, (transaction) => this.putWithin(transaction, playerId, asked, actor));
    await begun?.();
    return this.follow(put, FOLLOWED_AT_ONCE);
  }

  /**
   * As {@link put}, in a transaction of others that holds the player's lane: the first part of the entries follows in it, and
   * a projector goes on with what is left.
   */
  async putWithin(transaction: SqlRunner, playerId: string, asked: NewSanction, actor: string): Promise<Sanction> {
    const nowMs = await ledgerNowMs(transaction);
    const before = await sanctionInForce(transaction, playerId);
    if (before && isSame(before, asked)) return before;
    await assertBoards(transaction, asked.boards);
    if (asked.untilMs !== null && asked.untilMs <= nowMs) {
      throw validationFailed([{ pointer: '/until', message: 'must lie in the future' }]);
    }
    if (before) {
      const end = { by: actor, atMs: nowMs, reason: asked.reason, follows: false };
      await endSanction(transaction, before.sanctionId, end);
    } else await this.overtakeLast(transaction, playerId);
    const sanction = await insertSanction(transaction, playerId, asked, { by: actor, atMs: nowMs });
    const act = { action: 'sanction.put', actor, reason: asked.reason };
    return this.begin(transaction, sanction, act, nowMs);
  }

  /**
   * Lifts the sanction that is in force: what the player had is ranked again. As {@link put} for the entries.
   * @param due only if it is this one, and its end is over
   * @param begun awaited as soon as it is lifted, before more entries follow
   * @returns the lifted one; null: none was in force
   */
  async lift(
    playerId: string,
    { actor, reason }: Act,
    { due, begun }: { due?: { sanctionId: number }; begun?: Begun } = {},
  ): Promise<Sanction | null> {
    const lifted = await this.inLane(playerId, async (transaction, nowMs) => {
      const before = await sanctionInForce(transaction, playerId);
      if (!before) return null;
      if (due && (before.sanctionId !== due.sanctionId || before.untilMs === null || before.untilMs > nowMs))
        return null;
      const end = { by: actor, atMs: nowMs, reason, follows: true };
      const sanction = await endSanction(transaction, before.sanctionId, end);
      return this.begin(transaction, sanction, { action: 'sanction.lift', actor, reason }, nowMs);
    });
    if (lifted === null) return null;
    await begun?.();
    return this.follow(lifted, FOLLOWED_AT_ONCE);
  }

  /** The sanction of a player that is in force; undefined: none is. */
  inForce(playerId: string): Promise<Sanction | undefined> {
    return sanctionInForce(this.database, playerId);
  }

  /** All that there ever were of a player, the newest first: at most `limit` with ids below `beforeId`. */
  list(playerId: string, limit: number, beforeId: number | null): Promise<Sanction[]> {
    return sanctionsOf(this.database, playerId, limit, beforeId);
  }

  /** How many players have a sanction in force, by kind, and how many have entries that do not follow theirs yet. */
  async count(): Promise<{ byKind: Record<SanctionKind, number>; pending: number }> {
    const [counted] = await this.database.query<Record<SanctionKind | 'pending', number>>(COUNT);
    const { pending, ...byKind } = counted!;
    return { byKind, pending };
  }

  /** Has more entries of the player follow its last sanction, up to {@link FOLLOWED_AT_ONCE}; nothing where all do. */
  async goOn(playerId: string): Promise<void> {
    const last = await lastSanctionOf(this.database, playerId);
    if (last) await this.follow(last, last.followedEntries + FOLLOWED_AT_ONCE);
  }

  /** The entries follow the newest sanction; one that was lifted before and is not done has nothing left to say. */
  private async overtakeLast(transaction: SqlRunner, playerId: string): Promise<void> {
    const last = await lastSanctionOf(transaction, playerId);
    if (last?.pending) await noteFollowed(transaction, last.sanctionId, null, 0);
  }

  /** The first part of the entries, the event and the record of the act. */
  private async begin(
    transaction: SqlRunner,
    sanction: Sanction,
    { action, actor, reason }: Act & { action: string },
    nowMs: number,
  ): Promise<Sanction> {
    const { playerId, kind, boards, untilMs, publicReason, endedAtMs } = sanction;
    const { entries, touched, sanction: begun } = await this.part(transaction, sanction, nowMs);
    const position = await nextPosition(transaction);
    const event = sanctionChanged(playerId, endedAtMs === null ? sanction : null);
    await appendEvent(transaction, this.lanes.of(playerId), position, playerId, event);
    const windows = entries.slice(0, ENTRIES_TOLD).map(told);
    const details = { sanctionId: sanction.sanctionId, kind, boards, untilMs, publicReason, reason };
    const changed = { entries: entries.length, more: begun.pending, windows };
    const subject = `player:${playerId}`;
    const auditId = await recordAudit(transaction, { actor, action, subject, details: { ...details, ...changed } });
    await noteRevision(transaction, touched, auditId);
    return begun;
  }

  /** @param most until so many entries follow it */
  private async follow(begun: Sanction, most: number): Promise<Sanction> {
    let sanction = begun;
    for (let parts = 1; sanction.pending && parts < PARTS_AT_ONCE && sanction.followedEntries < most; parts += 1) {
      sanction = await this.inLane(begun.playerId, async (transaction, nowMs) => {
        // Another act may have come between two parts: then the entries follow that one.
        const last = await lastSanctionOf(transaction, begun.playerId);
        if (!last?.pending) return { ...sanction, pending: false };
        const { touched, sanction: followed } = await this.part(transaction, last, nowMs);
        const auditId = await lastAuditId(transaction, `player:${last.playerId}`);
        await noteRevision(transaction, touched, auditId);
        return followed;
      });
    }
    return sanction;
  }

  private async part(
    transaction: SqlRunner,
    { playerId, sanctionId, followedWindow }: Sanction,
    nowMs: number,
  ): Promise<Omit<FollowedPart, 'upTo'> & { sanction: Sanction }> {
    const lane = this.lanes.of(playerId);
    const { upTo, ...part } = await followSanction(transaction, { lane, playerId, after: followedWindow, nowMs });
    const { entries } = part;
    return { ...part, sanction: await noteFollowed(transaction, sanctionId, upTo, entries.length) };
  }

  private inLane<T>(playerId: string, act: (transaction: SqlRunner, nowMs: number) => Promise<T>): Promise<T> {
    return this.work.holding(playerId, async (transaction) => act(transaction, await ledgerNowMs(transaction)));
  }
}

function isSame(a: NewSanction, b: NewSanction): boolean {
  const facts = ({ kind, reason, publicReason, untilMs, boards }: NewSanction): unknown[] => [
    ...[kind, reason, publicReason, untilMs],
    boards && [...boards].sort(),
  ];
  return isDeepStrictEqual(facts(a), facts(b));
}

/** @throws BOARD_NOT_FOUND */
async function assertBoards(transaction: SqlRunner, boards: readonly string[] | null): Promise<void> {
  if (boards === null) return;
  const rows = await transaction.query<{ id: string }>('SELECT board_id AS id FROM boards WHERE board_id = ANY ($1)', [
    boards,
  ]);
  const missing = boards.find((id) => !rows.some((row) => row.id === id));
  if (missing !== undefined) throw new LadderError('BOARD_NOT_FOUND', `There is no board "${missing}".`);
}

const told = ({ board, window, before, after, isWritten }: SanctionedEntry): object => ({
  ...{ board, window, before, after },
  revising: isWritten,
});
