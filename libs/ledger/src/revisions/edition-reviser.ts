import { GLOBAL_SCOPE, GUILDS_SCOPE, type BoardOrdering, type StandingsRevised } from '@laddercast/domain';
import { metrics } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { tryEach } from '../database/try-each.js';
import { appendEvent } from '../lanes/lane-events.js';
import { OutboxNotifier } from '../lanes/outbox-notifier.js';
import { recordAudit } from '../operators/audit-log.js';
import {
  EDITION_TIMEOUT_MS,
  EditionOvertakenError,
  sealEdition,
  windowOfRow,
  writeEdition,
  type EditionRules,
  type WindowOfDefinition,
  type WindowRow,
} from '../standings/edition-writer.js';
import { changesNow, countChanges, writeChanges } from './edition-changes.js';
import {
  ADD_EDITION,
  ADD_TOTAL,
  COUNT_NOTED,
  DESCRIBE_EDITION,
  FORGET_NOTES,
  NEWEST_EDITION,
  PLAYERS_COMPARED_MAX,
  TAKE_NOTED_FINAL,
  TAKE_NOTED_FROZEN,
  type NotedRow,
} from './edition-reviser-sql.js';
import { dueWindows, REVISIONS_DUE, type DueWindow } from '../standings/revision-notes.js';
import { touchedGuilds, wantedGuildRows } from './revised-guilds.js';
import { ChangesByRow, changesFor, differencesOf, type Difference } from './row-differences.js';
import { wantedPlayerRows } from './wanted-player-rows.js';

/** When the next edition of a window is written whole: at so many changed rows, or at this part of its rows. */
export interface RevisionLimits {
  rowsMax: number;
  partMax: number;
}

export const REVISION_LIMITS: RevisionLimits = { rowsMax: 1000, partMax: 0.01 };

/** What the next edition follows: the newest one of its window. */
interface Revision extends DueWindow {
  /** By the rules of its end. */
  window: WindowOfDefinition;
  /** Of the newest edition's own rows, or those that it is laid over. */
  base: number;
  number: number;
  asOf: string;
}

/** An edition that was added, with the acts in it. */
interface Added {
  uid: number;
  acts: readonly number[];
}

/**
 * Makes the next editions of windows whose standings are written, once acts changed their entries: rows that differ are
 * laid over the edition before, or, where many do, the edition is written whole. Where nothing differs, none is made.
 */
@Injectable()
export class EditionReviser {
  /** What {@link run} finds, for a `SharedLook`. */
  readonly due = REVISIONS_DUE;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly notifier: OutboxNotifier,
  ) {}

  /**
   * Makes the editions that are due; one that fails holds up no other, and is tried again with the next look.
   * @returns how many were made
   * @throws AggregateError of what failed
   */
  async run(signal: AbortSignal, limits = REVISION_LIMITS): Promise<number> {
    let made = 0;
    await tryEach(await dueWindows(this.database), signal, async (due) => {
      if (await this.revise(due, limits, signal)) made += 1;
    });
    return made;
  }

  /** @returns whether an edition was made; not where another process is at it */
  private async revise(due: DueWindow, limits: RevisionLimits, signal: AbortSignal): Promise<boolean> {
    const revise = (transaction: SqlRunner): Promise<number | null> => this.reviseWithin(transaction, due, limits);
    const lane = await this.database.longTransaction(EDITION_TIMEOUT_MS, revise, signal).catch((error: unknown) => {
      // Its board is gone, or the window ended: what is due of it then is found with the next look.
      if (error instanceof EditionOvertakenError) return null;
      throw error;
    });
    if (lane !== null) {
      this.notifier.wake(lane);
      metrics.editionsMade.inc();
    }
    return lane !== null;
  }

  /** @returns the lane of the event; null where no edition was made */
  private async reviseWithin(transaction: SqlRunner, due: DueWindow, limits: RevisionLimits): Promise<number | null> {
    const revision = await newest(transaction, due);
    if (revision === null) {
      await transaction.query(FORGET_NOTES, [due.windowUid]);
      return null;
    }
    const [noted] = await transaction.query<{ players: number; restating: boolean }>(COUNT_NOTED, [due.windowUid]);
    // It began between the look and the lock: half of its entries must not be seen.
    if (noted!.restating) return null;
    const added =
      // Rows under a tax are not compared one by one.
      noted!.players >= PLAYERS_COMPARED_MAX || revision.window.definition.decay !== null
        ? await writeWhole(transaction, revision, [])
        : await compare(transaction, revision, limits);
    return added === null ? null : this.seal(transaction, revision, added);
  }

  private async seal(transaction: SqlRunner, revision: Revision, { uid, acts }: Added): Promise<number> {
    const { window, kind, number } = revision;
    const { boardUid, boardId, windowUid, windowId } = window;
    const edition = number + 1;
    const [described] = await transaction.query<{ acts: number[]; reason: string | null }>(DESCRIBE_EDITION, [
      uid,
      acts,
    ]);
    await recordAudit(transaction, {
      actor: 'clock',
      action: 'standings.revise',
      subject: `window:${boardId}/${windowId}`,
      details: { edition, kind, ...described },
    });
    const { version, lane } = await sealEdition(transaction, window, { uid, kind });
    const event: StandingsRevised = {
      type: 'standings-revised',
      ...{ boardUid, windowUid, windowId, edition, version },
      ...(kind === 'frozen' && { isFrozen: true }),
    };
    await appendEvent(transaction, lane, version, String(boardUid), event);
    return lane;
  }
}

interface NewestRow extends WindowRow {
  base: number;
  number: number;
  as_of: string;
  /** null: it was written before they were kept. */
  rules: EditionRules | null;
}

async function newest(transaction: SqlRunner, due: DueWindow): Promise<Revision | null> {
  const [row] = await transaction.query<NewestRow>(NEWEST_EDITION, [due.windowUid, due.kind]);
  if (row === undefined) return null;
  const window = windowOfRow(row);
  const definition = row.rules ? { ...window.definition, ...boardRulesOf(row.rules) } : window.definition;
  return { ...due, window: { ...window, definition }, base: row.base, number: row.number, asOf: row.as_of };
}

const boardRulesOf = ({ scopes, guildAggregate }: EditionRules): EditionRules => ({ scopes, guildAggregate });

/** Lays over the base what differs, or, where that is much, writes the edition whole; null where nothing differs. */
async function compare(transaction: SqlRunner, revision: Revision, limits: RevisionLimits): Promise<Added | null> {
  const { base, number, kind, windowUid } = revision;
  const noted = await transaction.query<NotedRow>(kind === 'final' ? TAKE_NOTED_FINAL : TAKE_NOTED_FROZEN, [windowUid]);
  const acts = noted.flatMap(({ audit_id }) => (audit_id === null ? [] : [audit_id]));
  const changes = new ChangesByRow(await changesNow(transaction, base));
  const wanted = await wantedPlayerRows(transaction, base, changes, noted);
  const ofPlayers = await differencesOf(transaction, base, changes, wanted);
  const { rows, changes: kept } = await countChanges(transaction, base);
  const isMuch = (more: number): boolean => more > 0 && kept + more >= Math.min(limits.rowsMax, limits.partMax * rows);
  if (isMuch(ofPlayers.length)) return writeWhole(transaction, revision, acts);
  await transaction.query('SAVEPOINT compared');
  await lay(transaction, revision, ofPlayers);
  const ofGuilds = await guildDifferences(transaction, revision, changes, ofPlayers, noted);
  const differing = ofPlayers.length + ofGuilds.length;
  if (isMuch(differing)) {
    await transaction.query('ROLLBACK TO SAVEPOINT compared');
    return writeWhole(transaction, revision, acts);
  }
  if (differing === 0) return null;
  await lay(transaction, revision, ofGuilds);
  const [edition] = await transaction.query<{ uid: number }>(ADD_EDITION, [base, number + 1]);
  await transaction.query(ADD_TOTAL, [base, edition!.uid]);
  return { uid: edition!.uid, acts: distinct(acts) };
}

async function writeWhole(transaction: SqlRunner, revision: Revision, acts: readonly number[]): Promise<Added> {
  const { window, kind, asOf, number } = revision;
  const written = await writeEdition(transaction, window, kind, { asOf, top: null, number: number + 1 });
  if (written === null) throw new Error(`Window ${window.windowUid} has an edition ${number + 1} already.`);
  return { uid: written.uid, acts: distinct([...acts, ...written.acts]) };
}

/** Has the next edition show the differences. */
async function lay(transaction: SqlRunner, revision: Revision, differences: readonly Difference[]): Promise<void> {
  const { base, number, window } = revision;
  const { order, operator, tiebreak, columns } = window.definition;
  const orderingOf = (scope: number): BoardOrdering => ({
    ...{ order, operator, tiebreak },
    columns: scope === GUILDS_SCOPE ? [] : columns,
  });
  const added = await changesFor(transaction, base, orderingOf, differences);
  const ended = differences.filter(({ isChanged }) => isChanged);
  await writeChanges(transaction, base, number + 1, { ended, added });
}

/** By the rows of players as they are in the transaction. */
async function guildDifferences(
  transaction: SqlRunner,
  revision: Revision,
  changes: ChangesByRow,
  ofPlayers: readonly Difference[],
  noted: readonly NotedRow[],
): Promise<Difference[]> {
  const { window, base } = revision;
  if (!window.definition.scopes.includes('guild')) return [];
  const guilds = await touchedGuilds(transaction, window.windowUid, {
    scopes: distinct(ofPlayers.map(({ scope }) => scope)).filter((scope) => scope !== GLOBAL_SCOPE),
    playerIds: [...new Set(noted.map(({ player_id }) => player_id))],
    guildIds: noted.flatMap(({ guild_ids }) => guild_ids),
  });
  const wanted = await wantedGuildRows(transaction, window.definition, revision, guilds);
  return differencesOf(transaction, base, changes, wanted);
}

/** In ascending order. */
const distinct = (numbers: readonly number[]): number[] => [...new Set(numbers)].sort((a, b) => a - b);
