import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseClock, Dice } from '@laddercast/testing';
import { expect } from 'vitest';
import type { RestClient } from '../e2e/rest-client.js';
import type { Features } from './ranks-features.js';
import { RankModel, type ModelRun, type Style } from './ranks-model.js';
import { LONG_AGO_MS, rules, runsOf, SEASON } from './ranks-random.js';
import type { BoardUnderTest, RankReads } from './ranks-reads.js';

const WITHIN_MS = 30_000;
const BATCH_MAX = 1000;
const LIFETIME_SECONDS = 3600;
const SHARDS = [1, 2, 3, 4, 8, 16];
/** A cursor may share what was opened a while ago. */
const CURSOR_SHARED_MS = 15_000;
const SEASON_ID = `season:${SEASON.season}`;
const WINDOWS = ['alltime', SEASON_ID];

/** How often each step was taken. */
export const STEP_NAMES = new Map<string, number>();

export interface PlayOptions {
  id: string;
  admin: RestClient;
  dice: Dice;
  reads: RankReads;
  features: Features;
  clock: DatabaseClock;
  players: readonly string[];
}

interface Row {
  playerId: string;
  rank: number;
  achievedAt: string;
}

/** One board that is played at random, with all that can happen to it. */
export class BoardPlay {
  /** The lists that were there, and until when they were the present ones: what a stable read may show. */
  private readonly past: { untilMs: number; rows: Map<string, unknown> }[] = [];

  /** Whether the model may be ahead of the ranks: a removal does not wait until it is projected. */
  private isAhead = false;

  private constructor(
    private readonly options: PlayOptions,
    readonly board: BoardUnderTest,
    private definition: Record<string, unknown>,
    private readonly run: () => ModelRun,
  ) {}

  static async begin(options: PlayOptions): Promise<BoardPlay> {
    const { dice, id, features, admin } = options;
    const model = new RankModel(rules(dice), WINDOWS);
    const layout = layoutOf(dice, features);
    const style = dice.oneOf(
      layout.dense ? (['ordinal', 'competition', 'dense'] as const) : (['ordinal', 'competition'] as const),
    );
    const definition = {
      ...model.rules,
      ...optionsOf(layout, features),
      rankStyle: style,
      windows: ['alltime', SEASON],
    };
    await admin.makeBoard(id, definition);
    const board: BoardUnderTest = { id, model, style, styles: stylesOf(layout), versions: new Map() };
    const play = new BoardPlay(options, board, definition, runsOf(dice, model.rules));
    await play.batch(dice.oneOf([0, 5, 50, 400]));
    return play;
  }

  /** Something happens. */
  async step(): Promise<void> {
    const { features } = this.options;
    const steps: [weight: number, name: string, take: () => Promise<unknown>][] = [
      [50, 'submission', () => this.submitOne()],
      [20, 'batch', () => this.batch(this.options.dice.from(2, 40))],
      [8, 'removal', () => this.remove()],
      [5, 'correction', () => this.set()],
      [features.trim ? 3 : 0, 'trim', () => this.trim()],
      [features.expiry ? 2 : 0, 'expiry', () => this.expire()],
      [features.reshard ? 6 : 0, 'another layout', () => this.reshard()],
      [features.rebuild ? 2 : 0, 'rebuild', () => this.rebuild()],
      [features.cursor ? 6 : 0, 'stable read', () => this.readStably()],
    ];
    let dice = this.options.dice.below(steps.reduce((sum, [weight]) => sum + weight, 0));
    const [, name, take] = steps.find(([weight]) => (dice -= weight) < 0)!;
    STEP_NAMES.set(name, (STEP_NAMES.get(name) ?? 0) + 1);
    await take();
  }

  async compareSome(): Promise<void> {
    await this.options.reads.caughtUp(this.board);
    await this.options.reads.compareSome(this.board);
  }

  async compareAll(): Promise<void> {
    await this.options.reads.caughtUp(this.board);
    await this.options.reads.compareAll(this.board);
  }

  async end(): Promise<void> {
    const { status, text } = await this.options.admin.delete(`/v1/boards/${this.board.id}`);
    expect(status, text).toBe(204);
  }

  /** One run, whose answer says exactly what it moved. */
  private async submitOne(): Promise<void> {
    const { admin, dice, players } = this.options;
    const { model } = this.board;
    const playerId = dice.oneOf(players);
    const run = this.run();
    this.changes();
    if (this.isAhead) await this.options.reads.caughtUp(this.board);
    this.isAhead = false;
    const before = model.rowOf('alltime', playerId);
    const answer = await admin.post(`${this.path}/scores`, this.bodyOf(playerId, run), { Prefer: 'wait=10' });
    expect(answer.status, answer.text).toBe(200);
    model.submit(playerId, run, windowsOf(run));
    const after = model.rowOf('alltime', playerId)!;
    const { windows, score, previousScore, rank } = answer.body as Record<string, unknown> & {
      rank: Record<string, unknown> | null;
    };
    expect({ windows, score, previousScore }).toEqual({
      windows: windowsOf(run),
      score: after.score,
      previousScore: before?.score ?? null,
    });
    if (rank?.['accuracy'] !== 'exact') return;
    const [from, to] = [before?.ranks.ordinal ?? null, after.ranks.ordinal];
    const delta = from === null ? null : from - to;
    const total = model.rows('alltime').length;
    expect(rank, `${this.board.id} ${playerId}`).toMatchObject({ before: from, after: to, delta, total });
  }

  private async batch(count: number): Promise<void> {
    const { admin, dice, players } = this.options;
    const many = count > 100 ? [...players, ...Array.from({ length: count }, (_, at) => `many-${at}`)] : players;
    const submissions = Array.from({ length: count }, (): [string, ModelRun] => [dice.oneOf(many), this.run()]);
    this.changes();
    for (let from = 0; from < count; from += BATCH_MAX) {
      const part = submissions.slice(from, from + BATCH_MAX);
      const bodies = part.map(([playerId, run]) => ({ board: this.board.id, ...this.bodyOf(playerId, run) }));
      const answer = await admin.post('/v1/scores', { submissions: bodies }, { Prefer: 'wait=10' });
      expect(answer.status, answer.text).toBe(200);
      for (const result of (answer.body as { results: object[] }).results) expect(result).not.toHaveProperty('problem');
      for (const [playerId, run] of part) this.board.model.submit(playerId, run, windowsOf(run));
    }
  }

  private async remove(): Promise<void> {
    const { admin, dice, players } = this.options;
    const playerId = dice.oneOf(players);
    this.changes();
    const { status, text } = await admin.delete(`${this.path}/players/${encodeURIComponent(playerId)}`);
    expect(status, text).toBe(this.board.model.remove(playerId) ? 200 : 404);
    this.isAhead = true;
  }

  /** An operator sets an entry: when, only the service knows. */
  private async set(): Promise<void> {
    const { admin, dice, players } = this.options;
    const { model } = this.board;
    const playerId = dice.oneOf(players);
    const { score, columns } = this.run();
    this.changes();
    const before = model.rowOf('alltime', playerId)?.atMs ?? 0;
    const body = { score, columns: this.named(columns), reason: 'put right' };
    const put = await admin.put(`${this.path}/players/${encodeURIComponent(playerId)}`, body);
    expect(put.status, put.text).toBe(200);
    const until = Date.now() + WITHIN_MS;
    for (let achievedAt = ''; ;) {
      const { entry } = (await admin.get(`${this.path}/players/${encodeURIComponent(playerId)}?around=0`)).body as {
        entry?: Row;
      };
      achievedAt = entry?.achievedAt ?? '';
      // Runs of this test are all older, and so is what was put right before.
      if (achievedAt > '2026' && Date.parse(achievedAt) > before)
        return model.set(playerId, { score, columns, atMs: Date.parse(achievedAt) });
      if (Date.now() > until) throw new Error(`${playerId} was set, and is still of ${achievedAt}.`);
      await sleep(20);
    }
  }

  /** Keeps the best for as long as it takes to remove the others. */
  private async trim(): Promise<void> {
    const { model } = this.board;
    if (model.rules.operator === 'sum') return;
    const entriesMax = this.options.dice.from(1, Math.max(2, model.rows('alltime').length));
    this.changes();
    await this.redefine({ limits: { entriesMax } });
    model.trim(entriesMax);
    await this.options.reads.caughtUp(this.board);
    await this.redefine({ limits: {} });
  }

  /** Whoever does not play for a while is removed. */
  private async expire(): Promise<void> {
    const { clock, dice } = this.options;
    const { model } = this.board;
    this.changes();
    await this.redefine({ limits: { entryLifetimeSeconds: LIFETIME_SECONDS } });
    await clock.goOnFrom((await clock.nowMs()) + (LIFETIME_SECONDS / 2) * 1000);
    const renewed = model.players().filter(() => dice.isUnder(0.7));
    for (const playerId of renewed) {
      const run = { ...this.run(), atMs: Date.UTC(2025, 7, 1) };
      const answer = await this.options.admin.post(`${this.path}/scores`, this.bodyOf(playerId, run));
      expect(answer.status, answer.text).toBe(200);
      model.submit(playerId, run, WINDOWS);
    }
    await clock.goOnFrom((await clock.nowMs()) + (LIFETIME_SECONDS / 2 + 60) * 1000);
    for (const playerId of model.players()) if (!renewed.includes(playerId)) model.remove(playerId);
    await this.options.reads.caughtUp(this.board);
    await this.redefine({ limits: {} });
  }

  /** Reads go on, and must be right all the while. */
  private async reshard(): Promise<void> {
    const layout = layoutOf(this.options.dice, this.options.features);
    if (this.board.style === 'dense' && !layout.dense) return;
    await this.redefine(optionsOf(layout, this.options.features));
    // Distinct values are there once the new lists are.
    this.board.styles = stylesOf({ ...layout, dense: false });
    for (let look = 0; look < 3; look += 1) await this.compareSome();
    if (!layout.dense) return;
    const until = Date.now() + WITHIN_MS;
    while ((await this.options.admin.get(`${this.path}/entries?rankStyle=dense`)).status !== 200) {
      if (Date.now() > until) throw new Error(`${this.board.id} has no dense ranks yet.`);
      await sleep(50);
    }
    this.board.styles = stylesOf(layout);
  }

  private async rebuild(): Promise<void> {
    const { status, text } = await this.options.admin.post(`/v1/admin/boards/${this.board.id}/rebuild`);
    expect(status, text).toBe(202);
    await this.compareSome();
  }

  /** Reads a whole list page by page while it changes: it must be one of those that were there. */
  private async readStably(): Promise<void> {
    const { admin, dice, reads } = this.options;
    await reads.caughtUp(this.board);
    const window = dice.oneOf(WINDOWS);
    const style = dice.oneOf(this.board.styles.filter((one) => one !== 'dense'));
    const rows: Row[] = [];
    const limit = dice.oneOf([1, 7, 100]);
    const query = `window=${window}&rankStyle=${style}&limit=${limit}&cursor=start`;
    const pagesMax = 40;
    let next: string | null = `${this.path}/entries?${query}`;
    for (let pages = 0; next !== null && pages < pagesMax; pages += 1) {
      const answer = await admin.get(next);
      expect(answer.status, answer.text).toBe(200);
      const page = answer.body as { entries: Row[]; next: string | null };
      rows.push(...page.entries);
      next = page.next;
      if (pages < 4) await this.submitOne();
    }
    this.changes();
    const ids = rows.map(({ playerId, rank }) => `${rank} ${playerId}`);
    const wanted = this.past
      .filter(({ untilMs }) => untilMs > Date.now() - CURSOR_SHARED_MS - WITHIN_MS)
      .map((past) => past.rows.get(`${window} ${style}`) as string[]);
    const isOneOfThem = wanted.some(
      (one) => one.slice(0, ids.length).join() === ids.join() && (next !== null || one.length === ids.length),
    );
    expect(isOneOfThem, `${this.board.id} ${query}: ${ids.slice(0, 50).join(', ')} was never the list`).toBe(true);
  }

  /** What is there now is about to be past. */
  private changes(): void {
    const { model } = this.board;
    const rows = new Map<string, unknown>();
    for (const window of WINDOWS) {
      for (const style of ['ordinal', 'competition'] as const) {
        rows.set(
          `${window} ${style}`,
          model.rows(window).map(({ ranks, playerId }) => `${ranks[style]} ${playerId}`),
        );
      }
    }
    this.past.push({ untilMs: Date.now(), rows });
    if (this.past.length > 100) this.past.shift();
  }

  private async redefine(options: object): Promise<void> {
    this.definition = { ...this.definition, ...options };
    const body = { order: 'desc', operator: 'best', ...this.definition };
    const { status, text } = await this.options.admin.put(this.path, body);
    expect(status, text).toBe(200);
  }

  private get path(): string {
    return `/v1/boards/${this.board.id}`;
  }

  private named(columns: readonly number[]): Record<string, number> {
    return Object.fromEntries(this.board.model.rules.columns.map(({ name }, at) => [name, columns[at]!]));
  }

  private bodyOf(playerId: string, { score, columns, atMs }: ModelRun): object {
    return { playerId, score, columns: this.named(columns), achievedAt: new Date(atMs).toISOString() };
  }
}

const windowsOf = ({ atMs }: ModelRun): string[] => (atMs < LONG_AGO_MS + 1000 ? ['alltime'] : WINDOWS);

interface Layout {
  sharding: object;
  dense: boolean;
}

function layoutOf(dice: Dice, features: Features): Layout {
  const isRange = features.range && dice.isUnder(0.3);
  const count = dice.oneOf(SHARDS);
  if (isRange) {
    const boundaries = [...new Set(Array.from({ length: count }, () => dice.from(-4, 12)))].sort((a, b) => a - b);
    return { sharding: { by: 'range', boundaries }, dense: features.dense && dice.isUnder(0.5) };
  }
  return { sharding: { by: 'hash', count }, dense: features.dense && count === 1 && dice.isUnder(0.7) };
}

const optionsOf = ({ sharding, dense }: Layout, features: Features): object => ({
  sharding,
  ...(features.dense ? { dense } : {}),
});

const stylesOf = ({ dense }: Layout): Style[] =>
  dense ? ['ordinal', 'competition', 'dense'] : ['ordinal', 'competition'];
