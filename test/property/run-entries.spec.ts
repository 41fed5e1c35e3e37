// Real: PostgreSQL, the ledgers of two processes; the ledger's clock is the test's. Checked against every run in the order
// of acceptance, of which the best are sorted out as plainly as possible. Prints its seed; SEED=… repeats it.
import { entryOfKey, keyOfEntry, type Board, type BoardDefinition } from '@laddercast/domain';
import { createTestDatabase, DatabaseClock, Dice, seedOfRun, type TestDatabase } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { submissionOf } from '../integration/nodes/ledger-node.js';
import { RunNode } from '../integration/nodes/run-node.js';
import { betterFirst, type ModelEntry, type ModelRun } from './runs-model.js';

const HOUR_MS = 3_600_000;
const START_MS = Date.parse('2026-11-20T10:10:00Z');
const DAY_MS = 24 * HOUR_MS;
const KEEP_DAYS = 7;
const HISTORIES = 14;
const STEPS = 60;
const PLAYERS = ['ada', 'Bob', 'cy'];
const SCORES = [0, 1, 2, 3, 7, 7.5, -1];
const running = new AbortController().signal;

const seed = seedOfRun();
const { next: random, below, oneOf } = new Dice(seed);

/** An entry of the model: whose, and of which run. */
type StandingEntry = ModelEntry & { window: string; key: string };

/** The best of each player's runs that count, behind the last act of an operator. */
class RunEntriesModel {
  readonly runs: ModelRun[] = [];

  constructor(readonly definition: BoardDefinition) {}

  entries(): StandingEntry[] {
    const windows = [...new Set(this.runs.flatMap((run) => run.windows))];
    return windows.flatMap((window) => PLAYERS.flatMap((player) => this.of(window, player)));
  }

  of(window: string, playerId: string): StandingEntry[] {
    const counted = this.runs.filter(
      (run) => run.playerId === playerId && run.windows.includes(window) && !run.voided && !run.held,
    );
    const wall = counted.findLastIndex(({ isWall }) => isWall);
    const behind = counted.slice(Math.max(0, wall)).filter(({ score }) => score !== null);
    return behind
      .sort((a, b) => betterFirst(this.definition, a, b) || Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)))
      .slice(0, this.definition.entriesPerPlayerMax!)
      .map(({ id: entryId, score, columns, atMs: achievedAtMs, metadata }) => ({
        ...{ window, key: keyOfEntry({ playerId, entryId }) },
        ...{ score: score! + 0, columns, achievedAtMs, metadata },
      }));
  }
}

describe(`entries of runs (SEED=${seed})`, { timeout: 600_000 }, () => {
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

  const given = (): Partial<BoardDefinition> => ({
    operator: 'best',
    order: oneOf(['asc', 'desc']),
    tiebreak: oneOf(['earliest', 'latest', 'none']),
    columns: random() < 0.5 ? [] : [{ name: 'moves', order: oneOf(['asc', 'desc']) }],
    windows: ['alltime', 'daily'],
    scopes: ['global', 'region'],
    graceSeconds: 1800,
    runs: { keepDays: KEEP_DAYS },
    entriesPer: 'run',
    entriesPerPlayerMax: 1 + below(4),
  });

  class History {
    board!: Board;
    model!: RunEntriesModel;
    readonly pruned = new Set<ModelRun>();

    async begin(): Promise<void> {
      this.board = await nodes[0]!.put(given());
      this.model = new RunEntriesModel(this.board.definition);
    }

    /** Several at once: they are committed together, in this order. */
    async submit(players = Array.from({ length: 1 + below(5) }, () => oneOf(PLAYERS))): Promise<void> {
      const node = oneOf(nodes);
      await node.boards.refresh();
      const board = node.boards.byId(this.board.id)!;
      const writes = players.map((player) => {
        const more = {
          submissionId: `${random() < 0.5 ? 'r' : 'run'}-${(ids += 1)}`,
          columns: board.definition.columns.map(() => below(3)),
          achievedAtMs: random() < 0.5 ? null : nowMs - below(3) * HOUR_MS,
          metadata: random() < 0.5 ? null : `{"n":${ids}}`,
          ...(random() < 0.15 && { hold: { check: 'Doubtful', reason: 'a test' } }),
        };
        return submissionOf(board, player, oneOf(SCORES), more);
      });
      const answers = await Promise.allSettled(writes.map((write) => node.ledger.write(write)));
      for (const [index, answer] of answers.entries()) {
        const write = writes[index]!;
        if (answer.status === 'rejected') {
          expect((answer.reason as { code: string }).code).toBe('WINDOW_CLOSED');
          continue;
        }
        const { windows, outcome, entryId, displaced, score } = answer.value.answer;
        const before = this.model.of(windows[0]!, write.playerId);
        this.add({
          ...{ id: write.submissionId, playerId: write.playerId, isWall: false, score: write.score },
          ...{ columns: write.columns, atMs: write.achievedAtMs ?? nowMs, metadata: write.metadata, windows },
          ...{ held: outcome === 'held', isSubmitted: true },
        });
        if (outcome === 'held') continue;
        const after = this.model.of(windows[0]!, write.playerId);
        const own = keyOfEntry({ playerId: write.playerId, entryId: write.submissionId });
        const isIn = after.some(({ key }) => key === own);
        expect(outcome).toBe(isIn ? 'created' : 'unchanged');
        const shown = isIn ? after.find(({ key }) => key === own)! : after[0]!;
        expect([entryId, score]).toEqual([entryOfKey(shown.key).entryId, shown.score]);
        const gone = isIn ? before.find(({ key }) => !after.some((one) => one.key === key)) : undefined;
        expect(displaced).toBe(gone && entryOfKey(gone.key).entryId);
      }
    }

    add(run: Omit<ModelRun, 'voided' | 'acceptedAtMs'>): void {
      this.model.runs.push({ ...run, acceptedAtMs: nowMs, voided: false });
    }

    async override(): Promise<void> {
      const playerId = oneOf(PLAYERS);
      const score = random() < 0.5 ? null : oneOf(SCORES);
      const columns = this.board.definition.columns.map(() => below(3));
      const id = `op-${(ids += 1)}`;
      await oneOf(nodes).override(this.board, playerId, score === null ? null : { score, columns }, id);
      const made = (await nodes[0]!.runsOf(this.board, { playerId })).find(({ submissionId }) => submissionId === id);
      // Nothing to take away.
      if (made === undefined) return;
      const { windows } = made;
      const run = { id, playerId, isWall: true, score, columns, atMs: nowMs, metadata: null, windows };
      this.add({ ...run, held: false, isSubmitted: false });
    }

    async act(): Promise<void> {
      const run = this.model.runs.length === 0 ? undefined : oneOf(this.model.runs);
      if (run === undefined) return;
      const node = oneOf(nodes);
      if (this.pruned.has(run)) {
        const code = run.isSubmitted ? 'RUN_GONE' : 'RUN_NOT_FOUND';
        return expect(node.void(this.board, run.id)).rejects.toMatchObject({ code });
      }
      if (run.held && random() < 0.4) {
        await node.acts.verify(node.actOn(this.board, run.id), true);
        run.held = false;
        return;
      }
      const isVoid = random() < 0.6;
      const { changed } = await (isVoid ? node.void(this.board, run.id) : node.restore(this.board, run.id));
      expect(changed).toBe(run.voided !== isVoid);
      run.voided = isVoid;
    }

    /** Old runs are kept as the best of them, by two processes at once. */
    async prune(): Promise<void> {
      nowMs += below((KEEP_DAYS + 1) * 24) * HOUR_MS;
      await clock.stopAt(nowMs);
      await Promise.all(nodes.map((node) => node.oldRuns.run(running)));
      for (const run of this.model.runs.filter(({ acceptedAtMs }) => acceptedAtMs < nowMs - KEEP_DAYS * DAY_MS)) {
        this.pruned.add(run);
        // By the clock.
        if (run.held) run.voided = true;
      }
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
      if (what < 0.45) await this.submit();
      else if (what < 0.78) await this.act();
      else if (what < 0.85) await this.override();
      else if (what < 0.9) await this.move();
      else if (what < 0.95) await this.prune();
      else {
        nowMs += below(120) * 60_000;
        await clock.stopAt(nowMs);
      }
    }

    async expectAsModel(): Promise<void> {
      const sorted = (entries: readonly StandingEntry[]): StandingEntry[] =>
        [...entries].sort((a, b) => (a.window + a.key < b.window + b.key ? -1 : 1));
      const stored = await nodes[0]!.entries(this.board);
      const shown = stored.map(({ window, playerId: key, score, columns, achievedAtMs, metadata }) => ({
        ...{ window, key, score, columns, achievedAtMs, metadata },
      }));
      const expected = sorted(this.model.entries());
      expect(sorted(shown)).toEqual(expected);
      // What the log tells comes to the same.
      const told = new Map<string, { version: number; score: number | null }>();
      for (const { playerId, version, changes } of await nodes[0]!.changes(this.board)) {
        for (const { windowUid, entryId, entry } of changes) {
          const key = `${windowUid}/${keyOfEntry({ playerId, entryId: entryId! })}`;
          if ((told.get(key)?.version ?? 0) < version) told.set(key, { version, score: entry && entry.score });
        }
      }
      const standing = [...told.values()].filter(({ score }) => score !== null);
      expect(standing).toHaveLength(expected.length);
    }
  }

  it('are the best of the runs that count, whatever is voided, restored, held, set or removed, and once old ones are gone', async () => {
    for (let history = 0; history < HISTORIES; history += 1) {
      const one = new History();
      await one.begin();
      for (let step = 0; step < STEPS; step += 1) {
        await one.step();
        if (step % 5 === 4) await one.expectAsModel();
      }
      await one.expectAsModel();
      // Undone, it is as if nothing had been done: those that are not kept any more stay as they are.
      for (const run of one.model.runs.filter(({ voided }) => voided)) {
        if (one.pruned.has(run)) continue;
        await oneOf(nodes).restore(one.board, run.id);
        run.voided = false;
      }
      await one.expectAsModel();
    }
  });
});
