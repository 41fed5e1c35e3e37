import { LadderError, standsEqual, type FedEntry, type RatingPool } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { tryEach } from '../database/try-each.js';
import { Lanes } from '../lanes/lanes.js';
import { recordAudit } from '../operators/audit-log.js';
import { AlgorithmMissing, RatingAlgorithms, type PoolsOf } from '../pools/rating-algorithms.js';
import { EDITION_TIMEOUT_MS } from '../standings/edition-writer.js';
import { endedEntries } from './ended-games.js';
import { RestatedEntries } from './restated-entries.js';
import { ENTRIES_OF_PLAYERS, KEPT_OF_PLAYERS, NEXT_PLAYERS, PLAYERS_AT_ONCE } from './restated-entries-sql.js';
import { restatedWindow, type RestatedWindow } from './restated-window.js';
import {
  beginReading,
  countStaged,
  giveUp,
  noteRead,
  restatementsUnderWay,
  stage,
  UNDER_WAY,
  type RestatedEntry,
  type Restatement,
} from './restatement-rows.js';

/** The longest that one statement may take: of players with some thousand games each since the window began. */
const READ_TIMEOUT_MS = 60_000;
/** The most entries that an audit record names. */
const ENTRIES_TOLD = 100;

/** All that is read of the pool is of one moment, however long it takes. */
const ONE_MOMENT = 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY';

const HOLD_WINDOW = 'SELECT FROM windows WHERE window_uid = $1 FOR NO KEY UPDATE';

type ShownEntry = Pick<FedEntry, 'score' | 'columns'> | null;

/** What differs between a window and what its pool says. */
interface Difference extends RestatedEntry {
  before: ShownEntry;
}

/** What was read of a window, beside what is kept of it. */
interface ReadWindow {
  window: RestatedWindow;
  told: readonly ToldEntry[];
}

/** As the audit log says it. */
interface ToldEntry {
  playerId: string;
  before: ShownEntry;
  after: ShownEntry;
}

/**
 * Restates windows that ended: reads what the pool says of all players, at one moment, keeps what differs, and writes that
 * in the players' lanes. Who ends while it reads is followed by who reads anew; what was read is written by whoever comes.
 */
@Injectable()
export class WindowRestater {
  /** Where {@link run} may find something, for a `SharedLook`. */
  readonly due = UNDER_WAY;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly algorithms: RatingAlgorithms,
    private readonly entries: RestatedEntries,
  ) {}

  /**
   * @param of which pools feed the windows; all when not given
   * @throws AggregateError of what failed; it holds up no other window
   */
  async run(signal: AbortSignal, of: PoolsOf | null = null): Promise<void> {
    await tryEach(await restatementsUnderWay(this.database, of), signal, async (asked) => {
      const read = asked.entries === null ? await this.read(asked, signal) : asked;
      if (read) await this.entries.write(read, signal);
    });
  }

  /** @returns what is to be written now; null: nothing, or another process is at it */
  private async read(asked: Restatement, signal: AbortSignal): Promise<Restatement | null> {
    const attempt = await beginReading(this.database, asked.windowUid);
    if (attempt === null) return null;
    const restatement = { ...asked, attempt };
    const readAll = (moment: SqlRunner): Promise<ReadWindow | null> => this.readAll(moment, restatement, signal);
    try {
      const found = await this.database.longTransaction(READ_TIMEOUT_MS, readAll, signal);
      return found && (await this.finishReading(restatement, found, signal));
    } catch (error) {
      // Another projector may have the algorithm.
      if (error instanceof AlgorithmMissing) return null;
      if (error instanceof LadderError && !error.retriable) {
        await giveUp(this.database, restatement);
        return null;
      }
      throw error;
    }
  }

  private async readAll(moment: SqlRunner, restatement: Restatement, signal: AbortSignal): Promise<ReadWindow | null> {
    await moment.query(ONE_MOMENT);
    const { windowUid } = restatement;
    const window = await restatedWindow(moment, windowUid);
    const pool = this.algorithms.poolOf(window.pool);
    const told: ToldEntry[] = [];
    let playersRead = 0;
    for (let after = ''; !signal.aborted;) {
      const found = await moment.query<{ playerId: string }>(NEXT_PLAYERS, [window.feed.poolUid, windowUid, after]);
      const playerIds = found.map(({ playerId }) => playerId);
      const differing = await differences(moment, { window, pool, windowUid }, playerIds);
      const ofPlayers = differing.filter(({ guildId }) => guildId === '');
      told.push(...ofPlayers.slice(0, ENTRIES_TOLD - told.length).map(toldOf));
      playersRead += playerIds.length;
      const rows = differing.map((row) => ({ ...row, lane: this.lanes.of(row.playerId) }));
      if (!(await stage(this.database, restatement, rows, playersRead))) return null;
      if (playerIds.length < PLAYERS_AT_ONCE) return { window, told };
      after = playerIds.at(-1)!;
    }
    return null;
  }

  /**
   * Where something differs, the act is recorded: from here on it will be done. Who makes an edition of the window is
   * awaited: none is made until all entries are written.
   */
  private finishReading(
    restatement: Restatement,
    { window, told: players }: ReadWindow,
    signal: AbortSignal,
  ): Promise<Restatement | null> {
    const { actor, reason, windowUid } = restatement;
    const { boardId, windowId, feed, ratedPosition } = window;
    const finish = async (transaction: SqlRunner): Promise<Restatement | null> => {
      await transaction.query(`SET LOCAL lock_timeout = ${EDITION_TIMEOUT_MS}`);
      await transaction.query(HOLD_WINDOW, [windowUid]);
      const entries = await countStaged(transaction, restatement);
      if (entries === null) return null;
      const details = { window: windowId, pool: feed.pool, ratedPosition, reason, entries, players };
      const act = { actor, action: 'standings.restate', subject: `window:${boardId}/${windowId}`, details };
      const auditId = entries === 0 ? null : await recordAudit(transaction, act);
      await noteRead(transaction, restatement, entries, auditId);
      return { ...restatement, entries, auditId };
    };
    return this.database.longTransaction(EDITION_TIMEOUT_MS, finish, signal);
  }
}

/** What is to be written of these players: their entries, and what guilds keep of them. */
async function differences(
  moment: SqlRunner,
  { window, pool, windowUid }: { window: RestatedWindow; pool: RatingPool; windowUid: number },
  playerIds: readonly string[],
): Promise<Difference[]> {
  const stored = await moment.query<FedEntry & { playerId: string }>(ENTRIES_OF_PLAYERS, [windowUid, playerIds]);
  const before = new Map(stored.map((entry) => [entry.playerId, entry]));
  const kept = await moment.query<KeptPart>(KEPT_OF_PLAYERS, [windowUid, playerIds]);
  const wanted = await endedEntries(moment, window, pool, [
    ...playerIds.map((playerId) => ({ playerId, recordedUpToMs: null })),
    ...kept.map(({ playerId, leftAtMs }) => ({ playerId, recordedUpToMs: leftAtMs })),
  ]);
  const ofPlayers = playerIds.flatMap((playerId, index): Difference[] => {
    const [was, is] = [before.get(playerId) ?? null, wanted[index]!];
    return standsEqual(was, is) ? [] : [differenceOf(playerId, '', was, is)];
  });
  const ofGuilds = kept.flatMap((part, index): Difference[] => {
    const is = wanted[playerIds.length + index]!;
    const was = part.present ? { ...part, columns: [] } : null;
    return standsEqual(was, is && { ...is, columns: [] }) ? [] : [differenceOf(part.playerId, part.guildId, was, is)];
  });
  return [...ofPlayers, ...ofGuilds];
}

interface KeptPart {
  playerId: string;
  guildId: string;
  present: boolean;
  score: number;
  achievedAtMs: number;
  leftAtMs: number;
}

const differenceOf = (playerId: string, guildId: string, before: ShownEntry, is: FedEntry | null): Difference => ({
  ...{ playerId, guildId, before, present: is !== null },
  score: is?.score ?? 0,
  columns: is?.columns ?? [],
  achievedAtMs: is?.achievedAtMs ?? 0,
});

const toldOf = ({ playerId, before, present, score, columns }: Difference): ToldEntry => ({
  playerId,
  before: before && { score: before.score, columns: before.columns },
  after: present ? { score, columns } : null,
});
