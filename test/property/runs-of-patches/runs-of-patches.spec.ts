// Real: PostgreSQL, the ledgers of two processes with patches, acts, closings, editions and prunings; the ledger's clock is the
// test's. Checked against every run there ever was, among which the entry is looked for as plainly as possible, and against
// a board on which nothing was ever held, voided or removed. Prints its seed; SEED=… repeats it.
import { taxOrderOf, type Board, type BoardDefinition, type PatchOrder } from '@laddercast/domain';
import { EditionReviser, PatchRegistry, type RunActed } from '@laddercast/ledger';
import { createTestDatabase, DatabaseClock, Dice, seedOfRun, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { submissionOf } from '../../integration/nodes/ledger-node.js';
import { RunNode } from '../../integration/nodes/run-node.js';
import {
  exportedRows,
  keptRuns,
  NEWEST_EDITION,
  toldLists,
  WINDOWS,
  type ShownRow,
  type WindowRow,
} from './ledger-rows.js';
import { PatchRunsModel, type ModelPlace, type PatchModelRun } from './patch-runs-model.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.parse('2026-11-20T10:10:00Z');
const KEEP_DAYS = 7;
const HISTORIES = 6;
const STEPS = 40;
const PLAYERS = ['Bob', 'ada', 'cy'];
const SCORES = [0, 1, 7, 7.5, 8, 9, 10, 100, 0.1, 0.30000000000000004];
const ALWAYS = new AbortController().signal;

const seed = seedOfRun();
const dice = new Dice(seed);
const { next: random, below, oneOf } = dice;

describe(`runs of patches (SEED=${seed})`, { timeout: 600_000 }, () => {
  let testDatabase: TestDatabase;
  let nodes: RunNode[];
  let clock: DatabaseClock;
  let patches: PatchRegistry;
  let nowMs = START_MS;
  let ids = 0;
  let families = 0;
  const seen = { pruned: 0, twins: 0, editions: 0, frozen: 0 };

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    nodes = [new RunNode(testDatabase.url), new RunNode(testDatabase.url)];
    for (const node of nodes) await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
    const { database, lanes, allLanes } = nodes[0]!;
    patches = new PatchRegistry(database, lanes, allLanes);
    await clock.stopAt(nowMs);
  });

  afterAll(async () => {
    await clock.close();
    for (const node of nodes) await node.stop();
    await testDatabase.drop();
  });

  const boardNow = async (node: RunNode, { id }: Board): Promise<Board> => {
    await node.boards.refresh();
    return node.boards.byId(id)!;
  };

  /** Two boards of one family: on one is acted, on its twin never. What was done on it, and what should have come of it. */
  class History {
    readonly family = `f${(families += 1)}`;
    board!: Board;
    twin!: Board;
    model!: PatchRunsModel;
    /** Runs that are not kept, or never were. */
    readonly gone = new Set<PatchModelRun>();
    private readonly published: { id: string; publishedAtMs: number }[] = [];
    private readonly freezeAtMs = nowMs + 6 * HOUR_MS;

    /** @param loses whether runs leave that cannot be acted on then: without, all can be undone */
    constructor(private readonly loses: boolean) {}

    async begin(): Promise<void> {
      await this.publish();
      await this.publish();
      const time = (ms: number): string => new Date(ms).toISOString();
      const season = {
        ...{ season: `s${this.family}`, startsAt: time(nowMs - HOUR_MS), freezeAt: time(this.freezeAtMs) },
        endsAt: time(nowMs + 30 * HOUR_MS),
      };
      const given: Partial<BoardDefinition> = {
        operator: 'best',
        order: oneOf(['asc', 'desc']),
        tiebreak: oneOf(['earliest', 'latest', 'none']),
        columns: random() < 0.5 ? [] : [{ name: 'moves', order: oneOf(['asc', 'desc']) }],
        windows: ['alltime', 'daily', season],
        scopes: random() < 0.5 ? ['global', 'region'] : ['global'],
        decay: { family: this.family, perPatch: oneOf([0.1, 0.25]) },
        graceSeconds: 1800,
      };
      const runs = random() < 0.5 ? { keepDays: KEEP_DAYS } : null;
      this.board = await nodes[0]!.put({ ...given, runs });
      this.twin = await nodes[0]!.put(given);
      this.model = new PatchRunsModel(this.board.definition);
      if (runs !== null) return;
      for (let step = 0; step < 10; step += 1) await this.submit();
      await this.keepRuns();
    }

    /** What there is becomes a base: nothing of it can be acted on. */
    private async keepRuns(): Promise<void> {
      for (const run of this.model.runs) this.gone.add(run);
      this.board = await nodes[0]!.put({ ...this.board.definition, runs: { keepDays: KEEP_DAYS } }, this.board.id);
    }

    async keepRunsAnew(): Promise<void> {
      this.board = await nodes[0]!.put({ ...this.board.definition, runs: null }, this.board.id);
      for (const run of this.model.runs) if (run.held) run.voided = true;
      await this.submit();
      if (random() < 0.5) await nodes[0]!.endedRuns.run(ALWAYS);
      await this.keepRuns();
    }

    async submit(players = Array.from({ length: 1 + below(4) }, () => oneOf(PLAYERS))): Promise<void> {
      const node = oneOf(nodes);
      const board = await boardNow(node, this.board);
      const twin = await boardNow(node, this.twin);
      const pairs = players.map((player) => {
        const patch = board.patches!.published[oneOf(this.published).id]!;
        const more = {
          ...{ submissionId: `run-${(ids += 1)}`, patch, metadata: `{"n": ${ids}}` },
          columns: board.definition.columns.map(() => below(3)),
          achievedAtMs: random() < 0.5 ? null : nowMs - below(4 * HOUR_MS),
        };
        const isKept = board.runsFrom !== undefined;
        const mark = {
          ...(isKept && random() < 0.2 && { hold: { check: 'Doubtful', reason: 'a test' } }),
          ...(isKept && random() < 0.3 && { verified: true }),
        };
        const score = oneOf(SCORES);
        return [submissionOf(board, player, score, { ...more, ...mark }), submissionOf(twin, player, score, more)];
      });
      const answers = await Promise.allSettled(pairs.map(([write]) => node.ledger.write(write!)));
      await Promise.allSettled(pairs.map(([, write]) => node.ledger.write(write!)));
      for (const [index, answer] of answers.entries()) {
        const write = pairs[index]![0]!;
        if (answer.status === 'rejected') {
          expect((answer.reason as { code: string }).code, String(answer.reason)).toBe('WINDOW_CLOSED');
          continue;
        }
        const { windows, outcome, taxed } = answer.value.answer;
        const held = outcome === 'held';
        if (held) expect(taxed).toMatchObject({ rawScore: write.score, kept: false });
        this.model.runs.push({
          ...{ id: write.submissionId, playerId: write.playerId, isWall: false, isSubmitted: true, score: write.score },
          ...{ columns: write.columns, atMs: write.achievedAtMs ?? nowMs, metadata: write.metadata, windows, held },
          ...{ acceptedAtMs: nowMs, voided: false, patch: write.patch!.countsAs, verified: write.verified ?? false },
        });
      }
    }

    async removePlayer(): Promise<void> {
      const playerId = oneOf(PLAYERS);
      const id = `run-${(ids += 1)}`;
      await oneOf(nodes).override(this.board, playerId, null, id);
      const made = (await nodes[0]!.runsOf(this.board, { playerId })).find(({ submissionId }) => submissionId === id);
      if (made === undefined) return;
      const of = {
        id,
        playerId,
        isWall: true,
        isSubmitted: false,
        score: null,
        columns: [],
        atMs: nowMs,
        metadata: null,
      };
      const is = { held: false, voided: false, verified: false, patch: 0, acceptedAtMs: nowMs };
      this.model.runs.push({ ...of, ...is, windows: made.windows });
    }

    async act(): Promise<void> {
      const run = this.model.runs.length === 0 ? undefined : oneOf(this.model.runs);
      if (run === undefined || this.gone.has(run)) return;
      const node = oneOf(nodes);
      const board = await boardNow(node, this.board);
      const before = await this.shownUnder(board, run);
      const acted = await this.actOn(node, run);
      const after = await this.shownUnder(board, run);
      for (const window of acted.windows) {
        expect(window.before?.score ?? null).toBe(before.get(window.windowId));
        expect(window.after?.score ?? null).toBe(after.get(window.windowId));
      }
    }

    private async actOn(node: RunNode, run: PatchModelRun): Promise<RunActed> {
      if (!run.isWall && random() < (run.held ? 0.4 : 0.15)) {
        const isVerified = run.held || random() < 0.7;
        const acted = await node.acts.verify(node.actOn(this.board, run.id), isVerified);
        run.verified = isVerified;
        run.held = false;
        return acted;
      }
      const isVoid = random() < 0.65;
      const acted = await (isVoid ? node.void(this.board, run.id) : node.restore(this.board, run.id));
      expect(acted.changed).toBe(run.voided !== isVoid);
      run.voided = isVoid;
      return acted;
    }

    /** By window of a run: the score of its player under the tax that serves. */
    private async shownUnder(board: Board, { windows, playerId }: PatchModelRun): Promise<Map<string, number | null>> {
      const shown = new Map<string, number | null>();
      for (const id of windows) {
        const window = (await nodes[0]!.windows.find(board.uid, id))!;
        const order = taxOrderOf(board, board.layouts.serving, window);
        shown.set(id, this.model.standing(this.model.counted(id, playerId), order.patches)?.score ?? null);
      }
      return shown;
    }

    async publish(): Promise<void> {
      const id = `1.${this.published.length}`;
      const isHotfix = this.published.length > 1 && random() < 0.2;
      const isBetween = !isHotfix && this.published.length > 1 && random() < 0.3;
      const first = isHotfix || isBetween ? oneOf(this.published) : null;
      const publishedAtMs = isBetween ? Math.min(nowMs, first!.publishedAtMs + below(2)) : nowMs;
      const given = { publishedAtMs, sameAs: isHotfix ? first!.id : null, title: null };
      await patches.put(id, this.family, given, { ifMatch: null }, 'ops');
      this.published.push({ id, publishedAtMs });
    }

    /** The newest order serves, where the one before is not fed any more. */
    async retax(): Promise<void> {
      for (const one of [this.board, this.twin]) {
        const { uid, layouts } = await boardNow(nodes[0]!, one);
        if (layouts.retiring) await nodes[0]!.layouts.stopFeeding(uid, layouts.retiring.generation);
        if (!layouts.opening) continue;
        const filled = await nodes[0]!.layouts.filled(uid, layouts.opening.generation);
        expect(await nodes[0]!.layouts.serve(uid, filled!, ({ versions }) => versions)).toBe(true);
      }
    }

    async prune(): Promise<void> {
      await this.pass((KEEP_DAYS * 24 - 12 + below(24)) * HOUR_MS);
      await Promise.all(nodes.map((node) => node.oldRuns.run(ALWAYS)));
      for (const run of this.model.runs.filter(({ acceptedAtMs }) => acceptedAtMs < nowMs - KEEP_DAYS * DAY_MS)) {
        if (this.gone.has(run)) continue;
        this.gone.add(run);
        seen.pruned += 1;
        // By the clock.
        if (run.held) run.voided = true;
      }
      await this.expectAsModel();
      await this.submit(PLAYERS);
    }

    async pass(ms: number): Promise<void> {
      nowMs += ms;
      await clock.stopAt(nowMs);
      const node = nodes[0]!;
      await node.recorder.keepFrozen(ALWAYS);
      for (let times = 0; times < 2; times += 1) await node.closer.run(ALWAYS);
    }

    async step(): Promise<void> {
      const what = random();
      if (what < 0.4) await this.submit();
      else if (what < 0.7) await this.act();
      else if (what < 0.76) await this.removePlayer();
      else if (what < 0.84) await this.publish();
      else if (what < 0.9) await this.retax();
      else if (what < 0.94 && this.loses) await (random() < 0.7 ? this.prune() : this.keepRunsAnew());
      else await this.pass(below(8 * 60) * MINUTE_MS);
    }

    /** Under every order of patches that there was, kept runs come to what all runs come to. */
    async expectAsModel(): Promise<void> {
      const board = await boardNow(nodes[0]!, this.board);
      const { orders } = board.patches!;
      const windows = await nodes[0]!.database.query<WindowRow>(WINDOWS, [board.uid]);
      const told = toldLists(board, await nodes[0]!.changes(board));
      const accepted = new Set(this.model.runs.map(({ patch }) => patch));
      expect(told.patches.every((patch) => accepted.has(patch))).toBe(true);
      for (const window of windows) {
        const { windowId, windowUid } = window;
        const runsOf = (playerId: string): PatchModelRun[] => this.model.counted(windowId, playerId);
        for (const order of [orders.at(-1)!, oneOf(orders)]) {
          const expected = this.model.list(runsOf, PLAYERS, order.patches);
          this.expectRows(await exportedRows(nodes[0]!.database, board, windowUid, order), expected, true);
        }
        for (const patch of accepted) {
          const ofPatch = (playerId: string): PatchModelRun[] => runsOf(playerId).filter((run) => run.patch === patch);
          const expected = this.model.list(ofPatch, PLAYERS, []);
          expect(told.of(windowUid, patch)).toEqual(
            expected.map(({ playerId, score }) => `${playerId} ${score}`).sort(),
          );
        }
        const newest = this.model.list(runsOf, PLAYERS, orders.at(-1)!.patches);
        expect(told.of(windowUid, null)).toEqual(newest.map(({ playerId, score }) => `${playerId} ${score}`).sort());
      }
      await this.expectEditions(board, windows);
    }

    private expectRows(rows: readonly ShownRow[], expected: readonly ModelPlace[], isOfNow: boolean): void {
      expect(rows.map(({ player_id, score, columns }) => [player_id, score, columns])).toEqual(
        expected.map(({ playerId, score, columns }) => [playerId, score, columns]),
      );
      for (const [at, row] of rows.entries()) {
        const run = expected[at]!.of.find(({ metadata }) => metadata === row.metadata);
        expect(run, `${row.player_id}: ${row.metadata} is none of those that stand`).toBeDefined();
        const { score, patch, atMs, verified } = run!;
        expect([row.raw_score, row.patch_uid, row.achieved_at_ms]).toEqual([score! + 0, patch, atMs]);
        if (isOfNow) expect(row.verified ?? false).toBe(verified && !this.gone.has(run!));
      }
    }

    private async expectEditions(board: Board, windows: readonly WindowRow[]): Promise<void> {
      const { database, notifier } = nodes[0]!;
      await database.query(`UPDATE revisions_due SET noted_at = noted_at - interval '10 seconds'`);
      await new EditionReviser(database, notifier).run(ALWAYS);
      // A day may have ended before the first patch came: nothing was behind anything then.
      const patchesAt = (ms: number): PatchOrder['patches'] =>
        board.patches!.orders.findLast(({ sinceMs }) => sinceMs < ms)?.patches ?? [];
      for (const { windowUid, windowId, state, endsAtMs } of windows) {
        if (state === 'settled') {
          const runsOf = (playerId: string): PatchModelRun[] => this.model.counted(windowId, playerId);
          const rows = await database.query<ShownRow>(NEWEST_EDITION, [windowUid, 'final']);
          this.expectRows(rows, this.model.list(runsOf, PLAYERS, patchesAt(endsAtMs!)), false);
          if (rows.length > 0) seen.editions += 1;
        }
        const isFrozen = windowId.startsWith('season:') && nowMs >= this.freezeAtMs && nowMs < endsAtMs!;
        if (!isFrozen) continue;
        const before = (playerId: string): PatchModelRun[] => this.model.counted(windowId, playerId, this.freezeAtMs);
        const rows = await database.query<ShownRow>(NEWEST_EDITION, [windowUid, 'frozen']);
        this.expectRows(rows, this.model.list(before, PLAYERS, patchesAt(this.freezeAtMs)), false);
        if (rows.length > 0) seen.frozen += 1;
      }
    }

    /** All undone, in any order: the very runs are kept that are kept where nothing was ever done. */
    async undo(): Promise<void> {
      const undone = dice.shuffled(this.model.runs.filter((run) => !this.gone.has(run)));
      for (const run of undone) {
        const node = oneOf(nodes);
        if (run.isWall) {
          if (!run.voided) await node.void(this.board, run.id);
          run.voided = true;
          continue;
        }
        if (run.voided) await node.restore(this.board, run.id);
        run.voided = false;
        if (run.held) await node.acts.verify(node.actOn(this.board, run.id), true);
        if (run.held) run.verified = true;
        run.held = false;
      }
      await this.expectAsModel();
      const isUndone = this.model.runs.every((run) => run.isWall === run.voided);
      if (!isUndone) return;
      seen.twins += 1;
      expect(await keptRuns(nodes[0]!.database, this.board)).toEqual(await keptRuns(nodes[0]!.database, this.twin));
    }
  }

  it('come to what stands under each tax, whatever is voided, restored, held, verified or removed, in windows that run, froze or ended, and once old runs are a base', async () => {
    for (let round = 0; round < HISTORIES; round += 1) {
      const loses = round % 2 === 1;
      const history = new History(loses);
      await history.begin();
      for (let step = 0; step < STEPS; step += 1) {
        await history.step();
        if (loses && step === STEPS / 2) await history.prune();
        if (step % 2 === 1) await history.expectAsModel();
      }
      await history.undo();
    }
    expect(
      Object.values(seen).every((times) => times > 0),
      JSON.stringify(seen),
    ).toBe(true);
  });
});
