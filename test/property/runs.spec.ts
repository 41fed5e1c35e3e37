// Real: PostgreSQL, the ledgers of two processes; the ledger's clock is the test's. Checked against every run in the order
// of acceptance, folded as plainly as possible. Prints its seed; SEED=… repeats it.
import { withBoardDefaults, type Board, type BoardDefinition } from '@laddercast/domain';
import { createTestDatabase, DatabaseClock, Dice, seedOfRun, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { submissionOf } from '../integration/nodes/ledger-node.js';
import { RunNode } from '../integration/nodes/run-node.js';
import { RunsModel, type ModelRun } from './runs-model.js';

const HOUR_MS = 3_600_000;
const START_MS = Date.parse('2026-11-20T10:10:00Z');
const DAY_MS = 24 * HOUR_MS;
const KEEP_DAYS = 7;
const HISTORIES = 12;
const STEPS = 50;
const PLAYERS = ['ada', 'Bob', 'cy'];
const SCORES = [0, 1, -1, 7, 7.5, 0.1, 0.2, 0.3, 1e16, -1e16, 1e308, -1e308];
const running = new AbortController().signal;

const seed = seedOfRun();
const dice = new Dice(seed);
const { next: random, below, oneOf } = dice;

describe(`runs (SEED=${seed})`, { timeout: 600_000 }, () => {
  let testDatabase: TestDatabase;
  let nodes: RunNode[];
  let clock: DatabaseClock;
  let nowMs = START_MS;
  let ids = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    nodes = [new RunNode(testDatabase.url), new RunNode(testDatabase.url)];
    for (const node of nodes) await node.start();
    clock = await DatabaseClock.of(testDatabase.url);
    await clock.stopAt(nowMs);
  });

  afterAll(async () => {
    await clock.close();
    for (const node of nodes) await node.stop();
    await testDatabase.drop();
  });

  const given = (): Partial<BoardDefinition> => {
    const operator = oneOf(['best', 'latest', 'sum'] as const);
    const isSum = operator === 'sum';
    return {
      operator,
      order: oneOf(['asc', 'desc']),
      tiebreak: oneOf(['earliest', 'latest', 'none']),
      columns: isSum || random() < 0.5 ? [] : [{ name: 'moves', order: oneOf(['asc', 'desc']) }],
      windows: random() < 0.5 ? ['alltime', 'daily', { rolling: '3h' }] : ['alltime', 'daily'],
      scopes: ['global', 'region'],
      submissionOperators: isSum ? ['sum', 'set'] : null,
      limits: withBoardDefaults({ order: 'desc', operator, limits: { entriesMax: isSum || random() < 0.6 ? null : 2 } })
        .limits,
      graceSeconds: 1800,
    };
  };

  /** One board, what was done on it, and what should have come of it. */
  class History {
    board!: Board;
    model!: RunsModel;
    /** Those of the model that are not kept any more. */
    readonly pruned = new Set<ModelRun>();

    async begin(): Promise<void> {
      const definition = given();
      const isRolling = definition.windows!.length === 3;
      const runs = isRolling || random() < 0.5 ? { keepDays: KEEP_DAYS } : null;
      this.board = await nodes[0]!.put({ ...definition, runs });
      this.model = new RunsModel(this.board.definition);
      if (runs !== null) return;
      for (let step = 0; step < 10; step += 1) await this.submit();
      await this.trim();
      for (const window of this.windows()) {
        for (const player of PLAYERS) {
          const entry = this.model.entry(window, player, nowMs);
          if (entry) this.model.bases.set(`${window} ${player}`, entry);
        }
      }
      this.model.runs.length = 0;
      this.board = await nodes[0]!.put({ ...this.board.definition, runs: { keepDays: KEEP_DAYS } }, this.board.id);
    }

    windows(): string[] {
      return [...new Set(this.model.runs.flatMap((run) => run.windows))];
    }

    /** Several at once: they are committed together, in this order. */
    async submit(players = Array.from({ length: 1 + below(4) }, () => oneOf(PLAYERS))): Promise<void> {
      const node = oneOf(nodes);
      await node.boards.refresh();
      const board = node.boards.byId(this.board.id)!;
      const isSum = board.definition.operator === 'sum';
      const writes = players.map((player) => {
        const more = {
          submissionId: `run-${(ids += 1)}`,
          columns: board.definition.columns.map(() => below(3)),
          achievedAtMs: random() < 0.5 ? null : nowMs - below(4 * HOUR_MS),
          metadata: random() < 0.5 ? null : `{"n":${ids}}`,
          ...(isSum && random() < 0.2 && { operator: 'set' as const }),
          ...(random() < 0.15 && { hold: { check: 'Doubtful', reason: 'a test' } }),
        };
        return submissionOf(board, player, oneOf(SCORES), more);
      });
      const answers = await Promise.allSettled(writes.map((write) => node.ledger.write(write)));
      for (const [index, answer] of answers.entries()) {
        const write = writes[index]!;
        if (answer.status === 'rejected') {
          // A total that leaves the doubles, or a time in a window that is over.
          expect(['SCORE_OUT_OF_BOUNDS', 'WINDOW_CLOSED']).toContain((answer.reason as { code: string }).code);
          continue;
        }
        this.add({
          id: write.submissionId,
          playerId: write.playerId,
          isWall: write.operator === 'set',
          score: write.score,
          columns: write.columns,
          atMs: write.achievedAtMs ?? nowMs,
          metadata: write.metadata,
          windows: answer.value.answer.windows,
          held: answer.value.answer.outcome === 'held',
          isSubmitted: true,
        });
      }
    }

    add(
      run: Omit<ModelRun, 'voided' | 'held' | 'acceptedAtMs' | 'isSubmitted'> &
        Partial<Pick<ModelRun, 'held' | 'isSubmitted'>>,
    ): void {
      this.model.runs.push({ held: false, isSubmitted: false, ...run, acceptedAtMs: nowMs, voided: false });
    }

    async override(): Promise<void> {
      const playerId = oneOf(PLAYERS);
      const score = random() < 0.5 ? null : oneOf(SCORES);
      const columns = this.board.definition.columns.map(() => below(3));
      const id = `run-${(ids += 1)}`;
      const before = await nodes[0]!.entries(this.board);
      await oneOf(nodes).override(this.board, playerId, score === null ? null : { score, columns }, id);
      const runs = await nodes[0]!.runsOf(this.board, { playerId });
      const made = runs.find(({ submissionId }) => submissionId === id);
      // Nothing to take away.
      if (made === undefined)
        return expect(before.some((one) => one.playerId === playerId && score !== null)).toBe(false);
      const { windows } = made;
      this.add({ id, playerId, isWall: true, score, columns, atMs: nowMs, metadata: null, windows });
    }

    /** What a limit takes away is a wall; that it takes the right ones is the business of other tests. */
    async trim(): Promise<void> {
      const before = await nodes[0]!.entries(this.board);
      await nodes[0]!.limit(this.board);
      const after = await nodes[0]!.entries(this.board);
      const isThere = (one: { window: string; playerId: string }): boolean =>
        after.some(({ window, playerId }) => window === one.window && playerId === one.playerId);
      for (const { window, playerId } of before.filter((one) => !isThere(one))) {
        const trim = { id: '', playerId, isWall: true, score: null, columns: [], atMs: nowMs, metadata: null };
        this.add({ ...trim, windows: [window] });
      }
    }

    async act(): Promise<void> {
      const run = this.model.runs.length === 0 ? undefined : oneOf(this.model.runs);
      if (run === undefined || run.id === '') return;
      const node = oneOf(nodes);
      if (this.pruned.has(run)) {
        // What an operator did has an id that nobody remembers.
        const code = run.isSubmitted ? 'RUN_GONE' : 'RUN_NOT_FOUND';
        return expect(node.void(this.board, run.id)).rejects.toMatchObject({ code });
      }
      if (run.held && random() < 0.3) {
        await node.acts.verify(node.actOn(this.board, run.id), true);
        run.held = false;
        return;
      }
      const isVoid = random() < 0.65;
      const { changed } = await (isVoid ? node.void(this.board, run.id) : node.restore(this.board, run.id));
      expect(changed).toBe(run.voided !== isVoid);
      run.voided = isVoid;
    }

    /** Old runs are kept as one sum, by two processes at once; what is left are the others. */
    async prune(): Promise<void> {
      nowMs += below((KEEP_DAYS + 1) * 24) * HOUR_MS;
      await clock.stopAt(nowMs);
      await Promise.all(nodes.map((node) => node.oldRuns.run(running)));
      const old = this.model.runs.filter(({ acceptedAtMs }) => acceptedAtMs < nowMs - KEEP_DAYS * DAY_MS);
      for (const run of old) {
        this.pruned.add(run);
        // By the clock.
        if (run.held) run.voided = true;
      }
      const kept = await nodes[0]!.runsOf(this.board);
      expect(kept).toHaveLength(this.model.runs.length - this.pruned.size);
      await this.expectAsModel();
      // Each entry is folded anew, on top of its base.
      await this.submit(PLAYERS);
      for (const run of this.model.runs.slice(-PLAYERS.length)) {
        if (run.voided || !run.isSubmitted || this.pruned.has(run)) continue;
        await oneOf(nodes).void(this.board, run.id);
        run.voided = true;
      }
    }

    async move(): Promise<void> {
      const region = oneOf(['EU', 'US', null]);
      const profile = { displayName: null, avatarUrl: null, attributes: {}, listed: true, region };
      await oneOf(nodes).players.put(oneOf(PLAYERS), profile);
    }

    async step(): Promise<void> {
      const what = random();
      if (what < 0.4) await this.submit();
      else if (what < 0.7) await this.act();
      else if (what < 0.8) await this.override();
      else if (what < 0.84) await this.move();
      else if (what < 0.88) await this.trim();
      else if (what < 0.95) await this.prune();
      else {
        nowMs += below(120) * 60_000;
        await clock.stopAt(nowMs);
      }
    }

    async expectAsModel(): Promise<void> {
      await nodes[0]!.expirer.run(running);
      const windows = [
        ...new Set([...this.windows(), ...[...this.model.bases.keys()].map((key) => key.split(' ')[0]!)]),
      ];
      const expected = windows.flatMap((window) =>
        PLAYERS.flatMap((playerId) => {
          const entry = this.model.entry(window, playerId, nowMs);
          return entry === null ? [] : [{ window, playerId, ...entry }];
        }),
      );
      const entries = (await nodes[0]!.entries(this.board)).map(
        ({ version: _version, scopes: _scopes, ...one }) => one,
      );
      const key = (one: { window: string; playerId: string }): string => `${one.window} ${one.playerId}`;
      const sorted = <T extends { window: string; playerId: string }>(all: T[]): T[] =>
        all.sort((a, b) => (key(a) < key(b) ? -1 : 1));
      expect(sorted(entries)).toEqual(sorted(expected));
    }
  }

  it('are what entries come to, whatever is voided, restored, set, removed or trimmed, in windows that roll, and once old ones are a base', async () => {
    let pruned = 0;
    for (let round = 0; round < HISTORIES; round += 1) {
      const history = new History();
      await history.begin();
      for (let step = 0; step < STEPS; step += 1) {
        await history.step();
        await history.expectAsModel();
      }
      // All undone, in any order: as if nothing had ever been done.
      const voided = dice.shuffled(history.model.runs.filter((run) => run.voided && !history.pruned.has(run)));
      for (const run of voided) {
        await oneOf(nodes).restore(history.board, run.id);
        run.voided = false;
      }
      await history.expectAsModel();
      pruned += history.pruned.size;
    }
    expect(pruned).toBeGreaterThan(HISTORIES);
  });
});
