import { GLOBAL_SCOPE, GUILDS_SCOPE, type Board } from '@laddercast/domain';
import {
  EditionReviser,
  EntryReemission,
  GuildRegistry,
  GuildTotals,
  LaneQueue,
  PlayerRegistry,
  RestatedEntries,
  Restatements,
  SettlementFailures,
  StandingsReader,
  WindowCloser,
  WindowRestater,
  type Pool,
  type RestatementProgress,
  type RevisionLimits,
} from '@laddercast/ledger';
import { FIRST_GENERATION, StandingsRanks } from '@laddercast/projections';
import { FeedNode } from './feed-node.js';

const ALWAYS = new AbortController().signal;
const STYLES = ['ordinal', 'competition', 'dense'] as const;
/** Rows are always laid over the edition before. */
export const ALWAYS_LAID: RevisionLimits = { rowsMax: 1000, partMax: 1000 };

/** The ledger of one process with what restates windows of fed boards, by hand. */
export class RestateNode extends FeedNode {
  private readonly failures = new SettlementFailures(this.database);
  private readonly windowCloser = new WindowCloser(
    this.database,
    this.lanes,
    this.allLanes,
    this.notifier,
    this.failures,
  );
  private readonly reemission = new EntryReemission(this.scopes);
  private readonly guildTotals = new GuildTotals(this.database, this.lanes, this.scopes, this.notifier);
  readonly guilds = new GuildRegistry(this.database, this.work, this.scopes, this.reemission, this.guildTotals);
  readonly players = new PlayerRegistry(this.database, this.work, this.reemission);
  readonly restatements = new Restatements(this.database, this.algorithms);
  readonly restatedEntries = new RestatedEntries(
    this.database,
    this.lanes,
    new LaneQueue(this.database, this.lanes, this.notifier),
    this.scopes,
  );
  readonly restater = new WindowRestater(this.database, this.lanes, this.algorithms, this.restatedEntries);
  readonly reviser = new EditionReviser(this.database, this.notifier);
  private readonly ranks = new StandingsRanks(new StandingsReader(this.database));
  private told = 0;

  /** Rates all that is recorded, and tells the boards what is new, once. */
  async play(...pools: Pick<Pool, 'uid'>[]): Promise<void> {
    for (const pool of pools) await this.rater.rate(pool.uid);
    const rows = await this.database.query<{ payload: string; position: number }>(
      `SELECT payload, position FROM outbox WHERE topic = 'rating-changed' AND position > $1 ORDER BY position`,
      [this.told],
    );
    if (rows.length === 0) return;
    this.told = rows.at(-1)!.position;
    await this.deliver(rows.map(({ payload }) => JSON.parse(payload) as never));
  }

  /** Closes what is due, after the last feed of the pools, and with all boards filled. */
  async closeWindows(): Promise<void> {
    await this.fill();
    await this.lastFeeds.run(ALWAYS);
    await this.play(
      ...(await this.database.query<Pick<Pool, 'uid'>>(
        'SELECT pool_uid AS uid FROM pools WHERE rated_position < recorded_position',
      )),
    );
    await this.closeFed();
  }

  /** Closes a window by an operator's hand. */
  async closeNow(windowUid: number): Promise<void> {
    const audit = { actor: 'test', action: 'window.close', subject: String(windowUid), details: {} };
    await this.windowCloser.closeNow({ windowUid, dryRun: false, audit });
    await this.boards.refresh();
  }

  /** Closes what is due and waits for no pool. */
  async closeFed(): Promise<void> {
    await this.windowCloser.run(ALWAYS);
    await this.boards.refresh();
  }

  async windowUid(board: Board, windowId: string): Promise<number> {
    const [row] = await this.database.query<{ uid: number }>(
      'SELECT window_uid AS uid FROM windows WHERE board_uid = $1 AND window_id = $2',
      [board.uid, windowId],
    );
    return row!.uid;
  }

  /** Asks, and does all of it, the next edition too. */
  async restate(windowUid: number, limits = ALWAYS_LAID, reason: string | null = 'r'): Promise<RestatementProgress> {
    await this.restatements.ask(windowUid, { actor: 'test', reason });
    await this.restater.run(ALWAYS);
    await this.revise(limits);
    return this.restatements.progress(windowUid);
  }

  async revise(limits = ALWAYS_LAID): Promise<number> {
    await this.database.query(`UPDATE revisions_due SET noted_at = noted_at - interval '10 seconds'`);
    return this.reviser.run(ALWAYS, limits);
  }

  async editionsOf(windowUid: number): Promise<{ number: number; reason: string | null; acts: number[] }[]> {
    return this.database.query(
      `SELECT number, reason, acts::float8[] AS acts FROM editions WHERE window_uid = $1 AND kind = 'final' ORDER BY number`,
      [windowUid],
    );
  }

  /** All that an edition (the newest) says: each list with its rows, in each style. */
  async shown(board: Board, windowId: string, number?: number): Promise<Record<string, unknown>> {
    const windowUid = await this.windowUid(board, windowId);
    const [edition] = await this.database.query<{ uid: number }>(
      `SELECT edition_uid AS uid FROM editions WHERE window_uid = $1 AND kind = 'final' AND ($2::int IS NULL OR number = $2)
       ORDER BY number DESC LIMIT 1`,
      [windowUid, number ?? null],
    );
    const scopes = await this.database.query<{ uid: number; name: string }>(
      'SELECT scope_uid AS uid, name FROM scopes',
    );
    const lists = [
      { uid: GLOBAL_SCOPE, name: 'global' },
      { uid: GUILDS_SCOPE, name: 'guilds' },
      ...scopes.filter(({ uid }) => uid > GUILDS_SCOPE),
    ];
    const { order, operator, tiebreak, columns } = board.definition;
    const shown: Record<string, unknown> = {};
    for (const { uid: scope, name } of lists) {
      const ordering = { order, operator, tiebreak, columns: scope === GUILDS_SCOPE ? [] : columns };
      const list = {
        boardUid: board.uid,
        windowUid,
        scope,
        ordering,
        shards: 1,
        ...FIRST_GENERATION,
        edition: edition!.uid,
      };
      for (const style of STYLES) {
        const { total, entries } = await this.ranks.page(list, 0, 1000, style);
        shown[`${name} ${style}`] = { total, entries };
      }
    }
    return shown;
  }

  /** Of everybody, as `player score`. */
  async standingsOf(board: Board, windowId: string, number?: number): Promise<string[]> {
    const shown = (await this.shown(board, windowId, number)) as Record<
      string,
      { entries: { playerId: string; score: number }[] }
    >;
    return shown['global ordinal']!.entries.map(({ playerId, score }) => `${playerId} ${score}`);
  }

  override async stop(): Promise<void> {
    await this.notifier.settled();
    await super.stop();
  }
}
