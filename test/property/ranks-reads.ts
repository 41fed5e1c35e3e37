import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'supertest';
import { expect } from 'vitest';
import type { RestClient } from '../e2e/rest-client.js';
import type { RankModel, ModelRow, Style } from './ranks-model.js';
import type { Dice } from '@laddercast/testing';

const WITHIN_MS = 20_000;
const LOOKUPS_MAX = 500;
const PAGE_MAX = 500;
const TOP = 10;

/** A board of the service beside what it must show. */
export interface BoardUnderTest {
  id: string;
  model: RankModel;
  /** The styles that can be read now. */
  styles: Style[];
  /** The style of reads that name none. */
  style: Style;
  /** The highest boardVersion of each window that was seen: none may be lower. */
  versions: Map<string, number>;
}

/** What reads the service takes beside those that it always did. */
export interface ReadFeatures {
  around: boolean;
  estimated: boolean;
  percentiles: boolean;
}

interface Row {
  rank: number;
  playerId: string;
  score: number;
  columns: Record<string, number>;
  achievedAt: string | null;
}

interface List {
  entries: (Row | null)[];
  total: number;
  boardVersion: number;
  asOf: string;
}

const path = (board: BoardUnderTest, rest: string): string => `/v1/boards/${board.id}/${rest}`;
const of = (playerId: string): string => encodeURIComponent(playerId);

/** Compares every read of a board with the model. */
export class RankReads {
  compared = 0;

  constructor(
    private readonly client: RestClient,
    private readonly dice: Dice,
    private readonly features: ReadFeatures,
  ) {}

  /** Until what was written last is projected; from then on every read must be right at once. */
  async caughtUp(board: BoardUnderTest): Promise<void> {
    const players = board.model.players();
    for (const window of board.model.windowIds) {
      const wanted = board.model.rows(window).length;
      const isThere = async (): Promise<boolean> => {
        const { body } = await this.client.get(path(board, `rank?score=0&window=${window}`));
        if ((body as List).total !== wanted) return false;
        const found = await this.lookup(board, window, players, 'ordinal');
        return found.every((row, index) => isEqual(row, this.shown(board, window, players[index]!, 'ordinal')));
      };
      const until = Date.now() + WITHIN_MS;
      while (!(await isThere())) {
        if (Date.now() > until) {
          const found = await this.lookup(board, window, players, 'ordinal');
          expect(found, `${board.id} ${window} catches up`).toEqual(
            players.map((one) => this.shown(board, window, one, 'ordinal')),
          );
        }
        await sleep(20);
      }
    }
  }

  /** Some reads of every kind. */
  async compareSome(board: BoardUnderTest): Promise<void> {
    for (const window of board.model.windowIds) {
      for (const style of board.styles) {
        await this.comparePlayers(board, window, style, 3);
        await this.compareLookups(board, window, style);
        await this.comparePages(board, window, style, 3);
        await this.compareRankOfScore(board, window, style);
      }
      await this.compareWithoutEntry(board, window);
      if (this.features.around) await this.compareAround(board, window);
    }
  }

  /** The whole of every list, and what is slower to be right: tops out of memory, estimates, percentiles. */
  async compareAll(board: BoardUnderTest): Promise<void> {
    await this.compareSome(board);
    for (const window of board.model.windowIds) {
      for (const style of board.styles) {
        const rows = await this.pagesOf(board, window, style);
        expect(rows, `${board.id} ${window} ${style}`).toEqual(this.rows(board, window, style));
        this.compared += 1;
        await this.compareTop(board, window, style);
      }
    }
    // Sketches are made once a second at most, each list's in its own time: one of them is waited for.
    const window = this.dice.oneOf(board.model.windowIds);
    if (this.features.estimated) await this.compareEstimates(board, window);
    if (this.features.percentiles) await this.comparePercentiles(board, window);
  }

  /** A player over all boards. */
  async compareStandings(boards: readonly BoardUnderTest[], playerId: string): Promise<void> {
    const { body } = await this.get(`/v1/players/${of(playerId)}/standings?limit=500`);
    const ids = boards.map(({ id }) => id);
    const { standings, unavailable } = body as {
      standings: (Row & { board: string; window: { id: string }; boardVersion: number })[];
      unavailable: string[];
    };
    const found = standings
      .filter(({ board }) => ids.includes(board))
      .map(({ board, window, rank, score, columns }) => ({ board, window: window.id, rank, score, columns }));
    const wanted = [...boards]
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .flatMap((board) =>
        board.model.windowIds.flatMap((window) => {
          const row = this.shown(board, window, playerId, board.style);
          return row ? [{ board: board.id, window, rank: row.rank, score: row.score, columns: row.columns }] : [];
        }),
      );
    expect(unavailable).toEqual([]);
    for (const { board, window, boardVersion } of standings) {
      const known = boards.find(({ id }) => id === board);
      if (known) this.seen(known, window.id, { boardVersion });
    }
    expect(found, `standings of ${JSON.stringify(playerId)}`).toEqual(wanted);
    this.compared += 1;
  }

  /** The rows of a list as they must be shown. */
  rows(board: BoardUnderTest, window: string, style: Style): Row[] {
    return board.model.rows(window).map((row) => this.rowOf(board, row, style));
  }

  private async comparePlayers(board: BoardUnderTest, window: string, style: Style, count: number): Promise<void> {
    const rows = board.model.rows(window);
    for (let i = 0; i < Math.min(count, rows.length); i += 1) {
      const index = this.dice.below(rows.length);
      const [above, below] = [this.dice.below(8), this.dice.below(8)];
      const row = rows[index]!;
      const query = `window=${window}&rankStyle=${style}&above=${above}&below=${below}`;
      const { body } = await this.get(path(board, `players/${of(row.playerId)}?${query}`));
      const { entry, neighbours, total } = body as {
        entry: Row & { percentile: number };
        neighbours: Row[];
        total: number;
      };
      expect(total).toBe(rows.length);
      expect(this.read(board, entry), `${board.id} ${window} ${style} ${query}`).toEqual(this.rowOf(board, row, style));
      // Dense ranks are fewer than entries: there it is that of the competition rank.
      const place = style === 'dense' ? row.ranks.competition : row.ranks[style];
      expect(entry.percentile).toBe((100 * (total - place)) / Math.max(1, total - 1));
      expect(neighbours.map((one) => this.read(board, one))).toEqual(
        rows.slice(Math.max(0, index - above), index + below + 1).map((one) => this.rowOf(board, one, style)),
      );
      this.seen(board, window, body as List);
    }
  }

  private async compareLookups(board: BoardUnderTest, window: string, style: Style): Promise<void> {
    const players = board.model.players();
    const asked = Array.from({ length: this.dice.from(1, 20) }, () =>
      this.dice.isUnder(0.1) || players.length === 0 ? 'nobody at all' : this.dice.oneOf(players),
    );
    const wanted = asked.map((playerId) => this.shown(board, window, playerId, style));
    expect(await this.lookup(board, window, asked, style), `${board.id} ${window} ${style}`).toEqual(wanted);
    const ranked = this.rows(board, window, style).filter(({ playerId }) => asked.includes(playerId));
    expect(await this.lookup(board, window, asked, style, true)).toEqual(ranked);
    this.compared += 2;
  }

  private async comparePages(board: BoardUnderTest, window: string, style: Style, count: number): Promise<void> {
    const all = this.rows(board, window, style);
    for (let i = 0; i < count; i += 1) {
      const offset = this.dice.below(all.length + 2);
      const limit = this.dice.from(1, this.dice.oneOf([3, 50, PAGE_MAX]));
      const rows = await this.page(board, window, style, offset, limit);
      expect(rows, `${board.id} ${window} ${style} ${offset}+${limit}`).toEqual(all.slice(offset, offset + limit));
    }
  }

  private async compareRankOfScore(board: BoardUnderTest, window: string, style: Style): Promise<void> {
    const rows = board.model.rows(window);
    const score = rows.length > 0 && this.dice.isUnder(0.7) ? this.dice.oneOf(rows).score : this.dice.from(-12, 12) / 4;
    const wanted = board.model.rankOfScore(window, score, style);
    if (wanted === null) return;
    const query = `score=${encodeURIComponent(String(score))}&window=${window}&rankStyle=${style}`;
    const { body } = await this.get(path(board, `rank?${query}`));
    expect((body as Row).rank, `${board.id} rank?${query}`).toBe(wanted);
    this.seen(board, window, body as List);
  }

  private async compareWithoutEntry(board: BoardUnderTest, window: string): Promise<void> {
    const query = `window=${window}&rankStyle=${board.style}`;
    const response = await this.client.get(path(board, `players/nobody%20at%20all?${query}`));
    expect(response.status, response.text).toBe(404);
    const last = this.rows(board, window, board.style).at(-1);
    const toBeat = last === undefined ? null : { rank: last.rank, score: last.score, columns: last.columns };
    expect(response.body).toMatchObject({ total: board.model.rows(window).length, scoreToBeat: toBeat });
    this.compared += 1;
  }

  /** A page around a rank holds that rank, and as many rows as there are. */
  private async compareAround(board: BoardUnderTest, window: string): Promise<void> {
    const rows = this.rows(board, window, board.style);
    if (rows.length === 0) return;
    const index = this.dice.below(rows.length);
    const limit = this.dice.from(1, 20);
    const ofModel = board.model.rows(window)[index]!;
    const score = encodeURIComponent(String(ofModel.score));
    for (const place of [`aroundRank=${index + 1}`, `aroundPlayer=${of(ofModel.playerId)}`, `aroundScore=${score}`]) {
      const { body } = await this.get(path(board, `entries?window=${window}&limit=${limit}&${place}`));
      const found = (body as List).entries.map((row) => this.read(board, row!));
      this.seen(board, window, body as List);
      const first = rows.findIndex(({ playerId }) => playerId === found[0]?.playerId);
      expect(found, `${board.id} ${window} ${place}`).toEqual(rows.slice(first, first + Math.min(limit, rows.length)));
      expect(found, place).toHaveLength(Math.min(limit, rows.length));
      // Where the score stands, when several share it, is any of them.
      const { score: wanted, playerId } = ofModel;
      const isThere = place.startsWith('aroundScore')
        ? found.some((row) => row.score === wanted)
        : found.some((row) => row.playerId === playerId);
      expect(isThere, `${board.id} ${window} ${place} holds it`).toBe(true);
    }
  }

  /** The top comes out of memory, and may be a tick behind. */
  private async compareTop(board: BoardUnderTest, window: string, style: Style): Promise<void> {
    const wanted = this.rows(board, window, style).slice(0, TOP);
    const until = Date.now() + WITHIN_MS;
    for (;;) {
      const { body } = await this.get(path(board, `entries?window=${window}&rankStyle=${style}&limit=${TOP}`));
      const rows = (body as List).entries.map((row) => this.read(board, row!));
      this.seen(board, window, body as List);
      if (isEqual(rows, wanted)) return;
      if (Date.now() > until) return expect(rows, `top of ${board.id} ${window}`).toEqual(wanted);
      await sleep(50);
    }
  }

  /** An estimate is of its `asOf`: one from after the last change must be as near as it says. */
  private async compareEstimates(board: BoardUnderTest, window: string): Promise<void> {
    const rows = board.model.rows(window);
    const since = Date.now();
    for (const row of rows.slice(0, 1).concat(rows.length > 1 ? [this.dice.oneOf(rows)] : [])) {
      const query = `players/${of(row.playerId)}?window=${window}&rankStyle=ordinal&around=0&accuracy=estimated`;
      const body = await this.from(since, path(board, query));
      const { rank, errorBound = 0 } = (body as unknown as { entry: Row & { errorBound?: number } }).entry;
      const off = Math.abs(rank - row.ranks.ordinal);
      expect(off, `${board.id} ${window}: ${rank} ± ${errorBound}, and not ${row.ranks.ordinal}`).toBeLessThanOrEqual(
        errorBound,
      );
    }
  }

  private async comparePercentiles(board: BoardUnderTest, window: string): Promise<void> {
    const rows = board.model.rows(window);
    const since = Date.now();
    for (const accuracy of ['exact', 'estimated']) {
      const query = `percentiles?window=${window}&at=0,12.5,50,99,100&accuracy=${accuracy}`;
      const body =
        accuracy === 'exact' ? (await this.get(path(board, query))).body : await this.from(since, path(board, query));
      if (accuracy === 'exact') this.seen(board, window, body as List);
      const { percentiles } = body as {
        percentiles: { percentile: number; rank: number | null; score: number | null; errorBound: number }[];
      };
      for (const { percentile, rank, score, errorBound } of percentiles) {
        if (rows.length === 0) {
          expect([rank, score]).toEqual([null, null]);
          continue;
        }
        const nearest = rows.length - (percentile / 100) * Math.max(1, rows.length - 1);
        expect(Math.abs(rank! - Math.max(1, nearest)), `${board.id} ${window} ${percentile}`).toBeLessThanOrEqual(0.5);
        const near = rows.slice(Math.max(0, rank! - 1 - errorBound), rank! + errorBound).map((row) => row.score);
        expect(near, `${board.id} ${window} ${percentile}`).toContain(score);
      }
    }
  }

  /** An answer that is of a moment after `since`, estimated or not. */
  private async from(since: number, url: string): Promise<List> {
    const until = Date.now() + WITHIN_MS;
    for (;;) {
      const { status, body, text } = await this.client.get(url);
      if (status === 200 && Date.parse((body as List).asOf) > since) return body as List;
      if (Date.now() > until) throw new Error(`${url} is not of now yet: ${text.slice(0, 500)}`);
      await sleep(100);
    }
  }

  async pagesOf(board: BoardUnderTest, window: string, style: Style): Promise<Row[]> {
    const rows: Row[] = [];
    for (;;) {
      const page = await this.page(board, window, style, rows.length, PAGE_MAX);
      rows.push(...page);
      if (page.length < PAGE_MAX) return rows;
    }
  }

  /** Not older than what was seen, whether that is asked for or not: exact answers of one process never go back. */
  private async page(
    board: BoardUnderTest,
    window: string,
    style: Style,
    offset: number,
    limit: number,
  ): Promise<Row[]> {
    const minVersion = this.dice.isUnder(0.5) ? `&minVersion=${board.versions.get(window) ?? 0}` : '';
    const query = `window=${window}&rankStyle=${style}&offset=${offset}&limit=${limit}${minVersion}`;
    const { body } = await this.get(path(board, `entries?${query}`));
    expect((body as List).total).toBe(board.model.rows(window).length);
    this.seen(board, window, body as List);
    return (body as List).entries.map((row) => this.read(board, row!));
  }

  private async lookup(
    board: BoardUnderTest,
    window: string,
    playerIds: readonly string[],
    style: Style,
    ranked = false,
  ): Promise<(Row | null)[]> {
    const rows: (Row | null)[] = [];
    for (let from = 0; from < playerIds.length; from += LOOKUPS_MAX) {
      const body = { playerIds: playerIds.slice(from, from + LOOKUPS_MAX), ranked };
      const query = `lookups?window=${window}&rankStyle=${style}`;
      const response = await this.now(() => this.client.post(path(board, query), body));
      this.seen(board, window, response.body as List);
      rows.push(...(response.body as List).entries.map((row) => row && this.read(board, row)));
    }
    return rows;
  }

  private seen(board: BoardUnderTest, window: string, { boardVersion }: Pick<List, 'boardVersion'>): void {
    this.compared += 1;
    expect(boardVersion, `${board.id} ${window}: a version never falls`).toBeGreaterThanOrEqual(
      board.versions.get(window) ?? 0,
    );
    board.versions.set(window, boardVersion);
  }

  private get(url: string): Promise<Response> {
    return this.now(() => this.client.get(url));
  }

  /** Asks again only where the service says itself that it cannot answer, or not exactly, at the moment. */
  private async now(ask: () => Promise<Response>): Promise<Response> {
    const until = Date.now() + WITHIN_MS;
    for (;;) {
      const response = await ask();
      const { accuracy, entry } = response.body as { accuracy?: string; entry?: { accuracy?: string } };
      const isExact = (accuracy ?? entry?.accuracy ?? 'exact') === 'exact';
      if (response.status === 200 && isExact) return response;
      if (response.status !== 200 && response.status !== 503) expect(response.status, response.text).toBe(200);
      if (Date.now() > until) throw new Error(`Still not exact, or not there: ${response.text.slice(0, 500)}`);
      await sleep(50);
    }
  }

  private shown(board: BoardUnderTest, window: string, playerId: string, style: Style): Row | null {
    const row = board.model.rowOf(window, playerId);
    return row ? this.rowOf(board, row, style) : null;
  }

  /** What can be held against the model of a row that was answered. */
  private read({ model }: BoardUnderTest, { rank, playerId, score, columns, achievedAt }: Row): Row {
    // Where the tie-break keeps no time, a row's may be that of a second ago.
    return { rank, playerId, score, columns, achievedAt: model.rules.tiebreak === 'none' ? null : achievedAt };
  }

  private rowOf({ model: { rules } }: BoardUnderTest, row: ModelRow, style: Style): Row {
    const { playerId, score, ranks, atMs } = row;
    return {
      rank: ranks[style],
      playerId,
      score,
      columns: Object.fromEntries(rules.columns.map(({ name }, at) => [name, row.columns[at]!])),
      achievedAt: rules.tiebreak === 'none' ? null : new Date(atMs).toISOString(),
    };
  }
}

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
