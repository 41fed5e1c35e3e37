// Real: PostgreSQL with the ledger's schema, what settles and freezes windows, and what makes their later editions.
import {
  EditionReviser,
  noteRevision,
  REVISION_LIMITS,
  SettlementFailures,
  StandingsReader,
  StandingsRecorder,
} from '@laddercast/ledger';
import { StandingsRanks } from '@laddercast/projections';
import { createTestDatabase, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RevisedWindow, type Entry } from '../../property/revised-standings.js';
import { LedgerNode } from '../nodes/ledger-node.js';

const BOARD = { order: 'desc', operator: 'best', scopes: ['global', 'region', 'guild'] } as const;
const ANY_SHARE = { rowsMax: 1000, partMax: 1000 };
const ALWAYS = new AbortController().signal;
const PLAYERS = 200_000;

describe('revisions', () => {
  let testDatabase: TestDatabase;
  let node: LedgerNode;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    node = new LedgerNode(testDatabase.url);
    await node.start();
  });
  afterAll(async () => {
    await node.stop();
    await testDatabase.drop();
  });

  const make = (id: string): Promise<RevisedWindow> =>
    RevisedWindow.make(node, id, { ...BOARD, scopes: [...BOARD.scopes] });
  const entry = (score: number): Entry => ({ score, columns: [], achievedAtMs: 1, scopes: ['region:EU', 'guild:red'] });
  const many = (count: number): Map<string, Entry> =>
    new Map(Array.from({ length: count }, (_, at) => [`p${at}`, entry(at)]));
  const query = <Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> =>
    node.database.query<Row>(sql, parameters);
  const due = (): Promise<object[]> => query('SELECT player_id FROM revisions_due ORDER BY note_id');
  const age = (): Promise<object[]> => query(`UPDATE revisions_due SET noted_at = noted_at - interval '10 seconds'`);

  it('follow an act that is committed while the standings are written, and not one that they show', async () => {
    const window = await make('race');
    await window.act(many(8), false);
    await query(`UPDATE windows SET state = 'closed', closed_at = ends_at WHERE window_uid = $1`, [window.windowUid]);
    await window.act(new Map([['p1', null]]));
    expect(await due()).toEqual([{ player_id: 'p1' }]);
    // Whoever holds all lanes holds up the end of the settling, when the rows are written.
    let settling: Promise<void> | undefined;
    await node.allLanes.change(async () => {
      settling = window.settle();
      await expect
        .poll(
          () =>
            query(
              `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
            ),
          { timeout: 20_000 },
        )
        .not.toEqual([]);
      await window.act(new Map([['p2', null]]));
    });
    await settling;
    expect(await due()).toEqual([{ player_id: 'p2' }]);
    // What is checked is what the first edition was written of.
    window.editions[0]!.entries.set('p2', entry(2));
    expect(await window.revise(ANY_SHARE)).toBe(true);
    expect(window.editions).toHaveLength(2);
    await window.check();
  });

  it('are made once by two processes that are at it, and not at all by one that is ended before the commit', async () => {
    const window = await make('two');
    await window.act(many(6), false);
    await window.settle();
    await window.act(new Map([['p1', entry(77)]]));
    await age();
    const { database, notifier } = node;
    const revisers = [1, 2, 3].map(() => new EditionReviser(database, notifier));
    const ended = new AbortController();
    await node.allLanes.change(async () => {
      const dying = revisers[0]!.run(ended.signal, ANY_SHARE);
      await expect
        .poll(
          () =>
            query(
              `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
            ),
          { timeout: 20_000 },
        )
        .not.toEqual([]);
      ended.abort();
      await dying.catch(() => undefined);
    });
    const counts = async (): Promise<object[]> =>
      query('SELECT number FROM editions WHERE window_uid = $1 ORDER BY number', [window.windowUid]);
    expect(await counts()).toEqual([{ number: 1 }]);
    const base = [window.editions[0]!.uid];
    expect(await query('SELECT FROM edition_changes WHERE edition_uid = $1', base)).toEqual([]);
    expect(await due()).toEqual([{ player_id: 'p1' }]);
    const made = await Promise.all(revisers.map((reviser) => reviser.run(ALWAYS, ANY_SHARE)));
    expect(made.reduce((sum, one) => sum + one, 0)).toBe(1);
    expect(await counts()).toEqual([{ number: 1 }, { number: 2 }]);
    const told = await query<{ payload: string }>(
      `SELECT payload FROM outbox WHERE topic = 'standings-revised' AND key = $1`,
      [String(window.board.uid)],
    );
    expect(told.map(({ payload }) => JSON.parse(payload) as object)).toMatchObject([
      { type: 'standings-revised', windowUid: window.windowUid, windowId: 'season:s', edition: 2 },
    ]);
  });

  it('follow an act in frozen standings, of what was accepted before the freeze', async () => {
    const window = await make('frozen');
    await window.act(many(5), false);
    await query(
      `UPDATE windows SET freeze_at = ladder_now() - interval '1 minute', ends_at = ladder_now() + interval '1 day'
       WHERE window_uid = $1`,
      [window.windowUid],
    );
    const recorder = new StandingsRecorder(node.database, node.lanes, new SettlementFailures(node.database));
    await recorder.keepFrozen(ALWAYS);
    const shown = async (): Promise<string[]> => {
      const [edition] = await query<{ uid: number }>(
        `SELECT edition_uid AS uid FROM editions WHERE window_uid = $1 AND kind = 'frozen' ORDER BY number DESC LIMIT 1`,
        [window.windowUid],
      );
      const page = await window.ranks.page(window.listOf(edition!.uid, 0), 0, 9, 'ordinal');
      return page.entries.map(({ playerId, score }) => `${playerId} ${score}`);
    };
    expect(await shown()).toEqual(['p4 4', 'p3 3', 'p2 2', 'p1 1', 'p0 0']);
    // It scored after the freeze, which saved how it stood; an act then finds that it stood at 1.
    await query(
      `INSERT INTO frozen_entries (window_uid, player_id, present, score, columns, achieved_at_ms, scopes)
       SELECT window_uid, player_id, true, 1, columns, achieved_at_ms, scopes FROM entries
       WHERE window_uid = $1 AND player_id = 'p4'`,
      [window.windowUid],
    );
    await query(`UPDATE entries SET score = 99 WHERE window_uid = $1 AND player_id = 'p4'`, [window.windowUid]);
    await node.database.transaction((transaction) =>
      noteRevision(transaction, [{ windowUid: window.windowUid, playerId: 'p4' }], null),
    );
    await age();
    const { database, notifier } = node;
    expect(await new EditionReviser(database, notifier).run(ALWAYS, ANY_SHARE)).toBe(1);
    expect(await shown()).toEqual(['p3 3', 'p2 2', 'p1 1', 'p4 1', 'p0 0']);
  });

  it('of one entry write some rows, however long the lists are, and are read by probes', async () => {
    const window = await make('long');
    const [eu] = await node.scopes.ensure(['region:EU']);
    await query(
      `INSERT INTO entries (window_uid, board_uid, player_id, lane, version, removed, score, columns, achieved_at_ms, scopes)
       SELECT $1, $2, 'p' || n, 0, nextval('ladder_position'), false, n / 3, '{}', n, $3::int[]
       FROM generate_series(1, ${PLAYERS}) AS n`,
      [window.windowUid, window.board.uid, `{${eu}}`],
    );
    await window.settle();
    const written = async (): Promise<number> => {
      const [row] = await query<{ rows: number }>(
        `SELECT (SELECT count(*) FROM edition_changes WHERE edition_uid IN (
            SELECT edition_uid FROM editions WHERE window_uid = $1))::int
          + (SELECT count(*) FROM standings s JOIN editions e USING (edition_uid)
            WHERE e.window_uid = $1 AND e.number > 1)::int AS rows`,
        [window.windowUid],
      );
      return row!.rows;
    };
    await window.act(new Map([['p150000', null]]));
    expect(await window.revise(REVISION_LIMITS)).toBe(true);
    expect(await written()).toBe(2);
    const edition = window.editions.at(-1)!.uid;
    const list = window.listOf(edition, 0);
    const asked: { sql: string; parameters: unknown[] }[] = [];
    const counting = {
      query: <Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> => {
        asked.push({ sql, parameters });
        return query<Row>(sql, parameters);
      },
    };
    const ranks = new StandingsRanks(new StandingsReader(counting));
    const { entries } = await ranks.lookup(list, ['p149999', 'p150001', 'p150000', 'p1'], 'competition');
    expect(entries).toMatchObject([{ rank: 50_001 }, { rank: 49_999 }, null, { rank: PLAYERS - 2 }]);
    const page = await ranks.page(list, 49_998, 3, 'ordinal');
    expect(page.entries.map(({ playerId }) => playerId)).toEqual(['p150001', 'p150002', 'p149997']);
    expect((await ranks.player(list, 'p150001', 1, 1, 'ordinal')).entry).toMatchObject({ rank: 49_999 });
    for (const { sql, parameters } of asked) {
      const plan = await query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, FORMAT TEXT) ${sql}`, parameters);
      const text = plan.map((line) => line['QUERY PLAN']).join('\n');
      expect(text).not.toMatch(/Seq Scan on standings/);
      for (const [, rows] of text.matchAll(/on standings.*actual time=\S+ rows=(\d+)/g))
        expect(Number(rows)).toBeLessThan(10);
      expect(text).not.toMatch(/Rows Removed by Filter: \d{3,}/);
    }
  }, 120_000);
});
