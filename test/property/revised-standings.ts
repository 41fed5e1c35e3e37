import {
  encodeSortKey,
  GLOBAL_SCOPE,
  GUILDS_SCOPE,
  withBoardDefaults,
  type Board,
  type BoardOrdering,
  type GivenBoard,
} from '@laddercast/domain';
import {
  EditionReviser,
  noteRevision,
  SettlementFailures,
  StandingsReader,
  WindowCloser,
  type RevisionLimits,
} from '@laddercast/ledger';
import { FIRST_GENERATION, StandingsRanks, type RankList } from '@laddercast/projections';
import { compareValues, SortedArrayOracle, type OracleValues } from '@laddercast/testing';
import { expect } from 'vitest';
import type { LedgerNode } from '../integration/nodes/ledger-node.js';

export const SCOPES = ['region:EU', 'region:NA', 'guild:red', 'guild:blue'] as const;
export type ScopeName = (typeof SCOPES)[number];
const STYLES = ['ordinal', 'competition', 'dense'] as const;
const ALWAYS = new AbortController().signal;

/** An entry of a window; null: the player has none. */
export type Entry = (Omit<OracleValues, 'playerId'> & { scopes: ScopeName[] }) | null;

/** A window whose standings are written, and what its entries came to: editions are compared with that. */
export class RevisedWindow {
  /** What each edition should show, the first one first. */
  readonly editions: { uid: number; entries: Map<string, Entry> }[] = [];
  readonly ranks: StandingsRanks;
  readonly reader: StandingsReader;
  private readonly reviser: EditionReviser;
  private readonly closer: WindowCloser;
  private entries = new Map<string, Entry>();
  private acts = 0;

  private constructor(
    readonly node: LedgerNode,
    readonly board: Board,
    readonly windowUid: number,
    private readonly scopeUids: ReadonlyMap<string, number>,
  ) {
    const { database, lanes, allLanes, notifier } = node;
    this.reader = new StandingsReader(database);
    this.ranks = new StandingsRanks(this.reader);
    this.reviser = new EditionReviser(database, notifier);
    this.closer = new WindowCloser(database, lanes, allLanes, notifier, new SettlementFailures(database));
  }

  static async make(node: LedgerNode, id: string, definition: GivenBoard): Promise<RevisedWindow> {
    const { board } = await node.registry.put(id, withBoardDefaults({ graceSeconds: 0, ...definition }));
    const [window] = await node.database.query<{ window_uid: number }>(
      `INSERT INTO windows (board_uid, window_id, kind, starts_at, ends_at)
       VALUES ($1, 'season:s', 'season', ladder_now() - interval '1 hour', ladder_now()) RETURNING window_uid`,
      [board.uid],
    );
    const uids = await node.scopes.ensure([...SCOPES]);
    return new RevisedWindow(node, board, window!.window_uid, new Map(SCOPES.map((name, at) => [name, uids[at]!])));
  }

  get ordering(): BoardOrdering {
    const { order, operator, tiebreak, columns } = this.board.definition;
    return { order, operator, tiebreak, columns };
  }

  /** As an act does it: the entries change, and the window is noted, in one transaction. */
  async act(changes: ReadonlyMap<string, Entry>, isNoted = true): Promise<number> {
    const act = (this.acts += 1);
    await this.node.database.transaction(async (transaction) => {
      for (const [playerId, entry] of changes) {
        const numbers = entry ? [entry.score, ...entry.columns].map((value) => (value === 0 ? 0 : value)) : [0];
        await transaction.query(
          `INSERT INTO entries (window_uid, board_uid, player_id, lane, version, removed, score, columns, achieved_at_ms, scopes,
             metadata)
           VALUES ($1, $2, $3, $4, nextval('ladder_position'), $5, $6, $7::float8[], $8, $9::int[], $10)
           ON CONFLICT (window_uid, player_id) DO UPDATE SET removed = excluded.removed, score = excluded.score,
             version = excluded.version, columns = excluded.columns, achieved_at_ms = excluded.achieved_at_ms,
             scopes = excluded.scopes, metadata = excluded.metadata`,
          [
            this.windowUid,
            this.board.uid,
            playerId,
            this.node.lanes.of(playerId),
            entry === null,
            numbers[0],
            `{${numbers.slice(1).join(',')}}`,
            entry?.achievedAtMs ?? 0,
            (entry?.scopes ?? []).map((name) => this.scopeUids.get(name)!),
            entry && JSON.stringify({ ofAct: act }),
          ],
        );
        this.entries.set(playerId, entry);
      }
      const touched = [...changes.keys()].map((playerId) => ({ windowUid: this.windowUid, playerId }));
      if (isNoted) await noteRevision(transaction, touched, act);
    });
    return act;
  }

  async settle(): Promise<void> {
    await this.closer.run(ALWAYS);
    await this.takeNewest();
  }

  /** As if the acts had gathered: makes what is due. @returns whether an edition was made */
  async revise(limits: RevisionLimits): Promise<boolean> {
    await this.node.database.query(
      `UPDATE revisions_due SET noted_at = noted_at - interval '10 seconds' WHERE window_uid = $1`,
      [this.windowUid],
    );
    const made = await this.reviser.run(ALWAYS, limits);
    if (made > 0) await this.takeNewest();
    return made > 0;
  }

  private async takeNewest(): Promise<void> {
    const [row] = await this.node.database.query<{ uid: number }>(
      'SELECT edition_uid AS uid FROM editions WHERE window_uid = $1 ORDER BY number DESC LIMIT 1',
      [this.windowUid],
    );
    this.editions.push({ uid: row!.uid, entries: new Map(this.entries) });
  }

  listOf(edition: number, scope: number): RankList {
    const ordering = scope === GUILDS_SCOPE ? { ...this.ordering, columns: [] } : this.ordering;
    const { uid: boardUid } = this.board;
    return { boardUid, windowUid: this.windowUid, scope, ordering, shards: 1, ...FIRST_GENERATION, edition };
  }

  /** What each list of an edition should be. */
  listsOf(entries: ReadonlyMap<string, Entry>): Map<number, OracleValues[]> {
    const rows = [...entries].flatMap(([playerId, entry]) => (entry ? [{ playerId, ...entry }] : []));
    const lists = new Map<number, OracleValues[]>([[GLOBAL_SCOPE, rows]]);
    for (const [name, uid] of this.scopeUids) {
      lists.set(
        uid,
        rows.filter(({ scopes }) => (scopes as string[]).includes(name)),
      );
    }
    if (this.board.definition.scopes.includes('guild')) lists.set(GUILDS_SCOPE, this.guildsOf(lists));
    return lists;
  }

  private guildsOf(lists: ReadonlyMap<number, OracleValues[]>): OracleValues[] {
    const { guildAggregate, order } = this.board.definition;
    return SCOPES.filter((name) => name.startsWith('guild:')).flatMap((name) => {
      const members = lists.get(this.scopeUids.get(name)!)!;
      if (members.length === 0) return [];
      const scores = members.map(({ score }) => score).sort((a, b) => (order === 'desc' ? b - a : a - b));
      const counted = guildAggregate.kind === 'top' ? scores.slice(0, guildAggregate.k!) : scores;
      const sum = counted.reduce((total, score) => total + score, 0);
      const score = guildAggregate.kind === 'average' ? sum / counted.length : sum;
      const achievedAtMs = Math.max(...members.map((member) => member.achievedAtMs));
      return [{ playerId: name.slice('guild:'.length), score, columns: [], achievedAtMs }];
    });
  }

  /** Every edition so far answers every question as its entries ranked anew would. */
  async check(): Promise<void> {
    for (const { uid, entries } of this.editions) {
      for (const [scope, rows] of this.listsOf(entries)) await this.checkList(this.listOf(uid, scope), rows);
    }
  }

  private async checkList(list: RankList, rows: OracleValues[]): Promise<void> {
    const oracle = SortedArrayOracle.of(list.ordering, rows);
    const total = oracle.entries.length;
    const ids = [...this.entries.keys(), 'red', 'blue', 'nobody'];
    for (const style of STYLES) {
      const expected = oracle.entries.map((entry, index) => ({
        rank: oracle.rankAt(index, style),
        playerId: entry.playerId,
        score: entry.score === 0 ? 0 : entry.score,
        columns: entry.columns.map((column) => (column === 0 ? 0 : column)),
        achievedAtMs: list.ordering.tiebreak === 'none' ? null : entry.achievedAtMs,
      }));
      expect(await this.ranks.page(list, 0, total + 1, style)).toMatchObject({ total, entries: expected });
      for (let offset = 0; offset <= total; offset += 3) {
        const { entries } = await this.ranks.page(list, offset, 2, style);
        expect(entries).toEqual(expected.slice(offset, offset + 2));
      }
      const looked = await this.ranks.lookup(list, ids, style);
      expect(looked).toMatchObject({
        total,
        entries: ids.map((id) => expected.find(({ playerId }) => playerId === id) ?? null),
      });
      for (const id of ids) {
        const index = oracle.indexOf(id);
        const { entry, neighbours } = await this.ranks.player(list, id, 1, 2, style);
        expect(entry?.rank ?? null).toBe(expected[index]?.rank ?? null);
        expect(neighbours).toEqual(index < 0 ? [] : expected.slice(Math.max(0, index - 1), index + 3));
      }
      for (const values of rows.slice(0, 3)) {
        const asked = { ...values, score: values.score + 1, playerId: 'm' };
        const key = encodeSortKey(list.ordering, asked, asked.playerId);
        expect(await this.ranks.rankOfKey(list, key, style)).toMatchObject({
          total,
          rank: oracle.rankOf(asked, style),
        });
      }
    }
    await this.checkExport(list, oracle);
  }

  private async checkExport(list: RankList, oracle: SortedArrayOracle): Promise<void> {
    const read = { edition: list.edition!, scope: list.scope, ordering: list.ordering };
    const length = await this.reader.length(read);
    expect(length).toBe(oracle.entries.length);
    const exported = [];
    for (let at = 0; at < length!; at += 4)
      exported.push(...(await this.reader.exported(read, at, Math.min(at + 4, length!))));
    expect(
      exported.map(({ player_id, ordinal, competition, dense }) => [player_id, ordinal, competition, dense]),
    ).toEqual(
      oracle.entries.map(({ playerId }, index) => [
        playerId,
        index + 1,
        oracle.rankAt(index, 'competition'),
        oracle.rankAt(index, 'dense'),
      ]),
    );
    const ids = oracle.entries.map(({ playerId }) => playerId);
    const details = await this.reader.details(read, [...ids, 'nobody']);
    expect(details.map(({ player_id }) => player_id).sort()).toEqual([...ids].sort());
    for (const { player_id, score } of details) {
      const entry = oracle.entries[oracle.indexOf(player_id)]!;
      expect(compareValues(list.ordering, { score, columns: entry.columns }, entry)).toBe(0);
    }
  }
}
