// Real: the built service over HTTP, with PostgreSQL and Redis. Every read is compared with plainly sorted runs.
import { RANK_STYLES, type RankStyle } from '@laddercast/domain';
import { Dice, startStandalone, type RunningStandalone } from '@laddercast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { naiveEntries, naiveRank, naiveRankOf, type NaiveBoard, type NaiveRun } from './naive-board.js';
import { expectProblem, RestClient } from './rest-client.js';

const SEED = Number(process.env.TEST_SEED ?? 20_261_121);
/** Doubles at which an order breaks first. */
const SHARP = [
  0,
  -0,
  5e-324,
  -5e-324,
  2.2250738585072014e-308,
  0.1,
  0.30000000000000004,
  0.3,
  -1.5,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 53) - 2,
  1e308,
  -1e308,
  1.7976931348623157e308,
];
const IDS = ['a', 'aa', 'B', 'b', 'é', 'e\u0301', '\uffff', '😀', '😀a', 'a b', '{a}', '}{', 'x'.repeat(128)];
const COLUMNS: NaiveBoard['columns'] = [
  { name: 'moves', order: 'asc' },
  { name: 'stars', order: 'desc' },
  { name: 'constructor', order: 'desc' },
  { name: 'd_4', order: 'asc' },
];

let app: RunningStandalone;
let admin: RestClient;

beforeAll(async () => {
  app = await startStandalone();
  admin = new RestClient(app.url, app.adminKey);
});
afterAll(() => app?.stop());

/** JSON in which −0 stays −0. */
const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (Object.is(one, -0) ? '@-0' : one)).replaceAll('"@-0"', '-0');

function randomRuns(board: NaiveBoard, seed: number): NaiveRun[] {
  const random = new Dice(seed).next;
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const few = [-1, 0, 1, ...SHARP.slice(0, 4)];
  const beganMs = Date.now() - 3_600_000;
  // Sums stay finite.
  const scores = board.operator === 'sum' ? SHARP.filter((score) => Math.abs(score) < 1e300) : SHARP;
  return Array.from({ length: 90 }, () => ({
    playerId: random() < 0.7 ? pick(IDS) : `p${Math.floor(random() * 20)}`,
    score: random() < 0.6 ? pick([1, 2]) : pick(scores),
    columns: Object.fromEntries(board.columns.map(({ name }) => [name, random() < 0.8 ? pick(few) : pick(SHARP)])),
    atMs: beganMs + Math.floor(random() * 3) * 1000,
  }));
}

async function submit(board: string, runs: readonly NaiveRun[]): Promise<void> {
  const submissions = runs.map(({ playerId, score, columns, atMs }) => {
    return { board, playerId, score, columns, achievedAt: new Date(atMs).toISOString() };
  });
  const response = await admin.post('/v1/scores', jsonOf({ submissions }), { Prefer: 'wait=10' });
  expect(response.status, response.text).toBe(200);
  for (const result of (response.body as { results: object[] }).results) expect(result).not.toHaveProperty('problem');
}

interface Row {
  rank: number;
  playerId: string;
  score: number;
  columns: Record<string, number>;
  achievedAt: string;
}

const rowOf = ({ rank, playerId, score, columns, achievedAt }: Row): Row => ({
  rank,
  playerId,
  score,
  columns,
  achievedAt,
});

/** Compares every read of a board with what its runs come to. */
class Compared {
  private readonly entries: NaiveRun[];

  constructor(
    private readonly id: string,
    private readonly board: NaiveBoard,
    runs: readonly NaiveRun[],
    private readonly style: RankStyle,
  ) {
    this.entries = naiveEntries(board, runs);
  }

  async everyRead(): Promise<void> {
    await this.pages();
    await this.players();
    await this.lookups();
    await this.ranksOfScores();
  }

  private row(index: number): Row {
    const { playerId, score, columns, atMs } = this.entries[index]!;
    const rank = naiveRank(this.board, this.entries, index, this.style);
    return { rank, playerId, score, columns, achievedAt: new Date(atMs).toISOString() };
  }

  private async get(path: string): Promise<Record<string, unknown>> {
    const response = await admin.get(`/v1/boards/${this.id}/${path}`);
    expect(response.status, response.text).toBe(200);
    expect(response.body).toMatchObject({ rankStyle: this.style, total: this.entries.length });
    return response.body as Record<string, unknown>;
  }

  private async pages(): Promise<void> {
    for (const [offset, limit] of [
      [0, 500],
      [0, 7],
      [3, 5],
      [this.entries.length - 2, 5],
    ] as const) {
      const { entries } = await this.get(`entries?rankStyle=${this.style}&offset=${offset}&limit=${limit}`);
      const expected = this.entries.slice(offset, offset + limit).map((_, at) => this.row(offset + at));
      expect((entries as Row[]).map(rowOf)).toEqual(expected);
    }
  }

  private async players(): Promise<void> {
    for (let index = 0; index < this.entries.length; index += 3) {
      const player = encodeURIComponent(this.entries[index]!.playerId);
      const { entry, neighbours } = await this.get(`players/${player}?above=2&below=1&rankStyle=${this.style}`);
      expect(rowOf(entry as Row)).toEqual(this.row(index));
      const from = Math.max(0, index - 2);
      const around = this.entries.slice(from, index + 2).map((_, at) => this.row(from + at));
      expect((neighbours as Row[]).map(rowOf)).toEqual(around);
    }
  }

  private async lookups(): Promise<void> {
    const indexes = this.entries.map((_, index) => index).reverse();
    const ids = indexes.map((index) => this.entries[index]!.playerId);
    const path = `/v1/boards/${this.id}/lookups?rankStyle=${this.style}`;
    const asked = await admin.post(path, { playerIds: ['nobody', ...ids] });
    const rows = (asked.body as { entries: (Row | null)[] }).entries.map((row) => row && rowOf(row));
    expect(rows).toEqual([null, ...indexes.map((index) => this.row(index))]);
    const ranked = await admin.post(path, { playerIds: ids, ranked: true });
    expect((ranked.body as { entries: Row[] }).entries.map(rowOf)).toEqual(
      [...indexes].reverse().map((at) => this.row(at)),
    );
  }

  private async ranksOfScores(): Promise<void> {
    for (const score of [1, 1.5, 2, ...SHARP]) {
      const { columns } = this.entries.find((entry) => entry.score === score) ?? this.entries[0]!;
      const [some] = Object.entries(columns);
      for (const given of [{}, columns, some ? Object.fromEntries([some]) : {}]) {
        const query = Object.entries(given).map(([name, value]) => `&columns.${name}=${value}`);
        const text = Object.is(score, -0) ? '-0' : String(score);
        const { rank } = await this.get(
          `rank?score=${encodeURIComponent(text)}${encodeURI(query.join('')).replaceAll('+', '%2B')}&rankStyle=${this.style}`,
        );
        const expected = naiveRankOf(this.board, this.entries, { score, columns: given }, this.style);
        expect(rank, `${this.id}: ${score} ${JSON.stringify(given)}`).toBe(expected);
      }
    }
  }
}

const cases = (['earliest', 'latest', 'none'] as const).flatMap((tiebreak, at) =>
  (['best', 'latest', 'sum'] as const).map((operator, number): NaiveBoard => {
    const order = (at + number) % 2 === 0 ? 'desc' : 'asc';
    return { order, operator, tiebreak, columns: operator === 'sum' ? [] : COLUMNS.slice(0, 4 - at) };
  }),
);

describe('the order of a board', () => {
  it.each(cases)('$order, $operator, ties to $tiebreak, is exact in every style and every read', async (board) => {
    const seed = SEED + cases.indexOf(board);
    const runs = randomRuns(board, seed);
    const name = `${board.operator}-${board.tiebreak}`;
    await admin.makeBoard(`${name}-dense`, { ...board, dense: true });
    await admin.makeBoard(`${name}-sharded`, { ...board, sharding: { by: 'hash', count: 3 } });
    for (const id of [`${name}-dense`, `${name}-sharded`]) {
      await submit(id, runs);
      const styles = id.endsWith('dense') ? RANK_STYLES : (['ordinal', 'competition'] as const);
      for (const style of styles) await new Compared(id, board, runs, style).everyRead();
    }
  });
});

describe('a board whose own style is dense', () => {
  const ranksOf = async (path: string): Promise<unknown[]> => {
    const { status, text, body } = await admin.get(path);
    expect(status, text).toBe(200);
    expect(body).toMatchObject({ rankStyle: 'dense' });
    return (body as { entries: Row[] }).entries.map(({ rank, playerId }) => `${rank} ${playerId}`);
  };

  beforeAll(async () => {
    const windows = ['alltime', { season: 's1', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' }];
    const scopes = ['global', 'region', 'guild'];
    const ended = { graceSeconds: 0, keepEndedSeconds: 0 };
    await admin.makeBoard('shared', { rankStyle: 'dense', windows, scopes, ...ended });
    for (const [player, guild] of [
      ['ada', 'red'],
      ['bob', 'blue'],
      ['cy', 'green'],
    ]) {
      await admin.put(`/v1/players/${player}`, { region: 'EU' });
      expect((await admin.put(`/v1/guilds/${guild}`, { displayName: guild })).status).toBeLessThan(300);
      expect((await admin.put(`/v1/guilds/${guild}/members/${player}`)).status).toBeLessThan(300);
    }
    const scores = { ada: 9, bob: 9, cy: 7, dee: 7, eve: 5 };
    const runs = Object.entries(scores).map(([playerId, score], at) => {
      return { playerId, score, columns: {}, atMs: Date.now() - 10_000 + at };
    });
    await submit('shared', runs);
  });

  it('is read so wherever no style is asked for', async () => {
    const shared = '/v1/boards/shared';
    expect(await ranksOf(`${shared}/entries`)).toEqual(['1 ada', '1 bob', '2 cy', '2 dee', '3 eve']);
    expect(await ranksOf(`${shared}/entries?scope=region:EU`)).toEqual(['1 ada', '1 bob', '2 cy']);
    expect(await ranksOf(`${shared}/entries?offset=3&limit=2`)).toEqual(['2 dee', '3 eve']);
    await expect.poll(() => ranksOf(`${shared}/guilds`)).toEqual(['1 red', '1 blue', '2 green']);
    const circle = '/v1/circles/late/members';
    for (const player of ['dee', 'eve', 'cy']) await admin.put(`${circle}/${player}`);
    const late = (await admin.get(`${shared}/circles/late`)).body as { entries: (Row & { globalRank: number })[] };
    expect(late.entries.map(({ rank, globalRank, playerId }) => [rank, globalRank, playerId])).toEqual([
      [1, 2, 'cy'],
      [1, 2, 'dee'],
      [2, 3, 'eve'],
    ]);
    const exported = (await admin.get(`${shared}/export?format=csv`)).text.trim().split('\n').slice(1);
    expect(exported.map((line) => line.split(',')[0])).toEqual(['1', '1', '2', '2', '3']);
  });

  it('has the percentile of the competition rank: who shares a rank shares it, and the best have 100', async () => {
    const percentiles: unknown[] = [];
    for (const player of ['ada', 'bob', 'cy', 'dee', 'eve']) {
      const { entry } = (await admin.get(`/v1/boards/shared/players/${player}`)).body as {
        entry: Row & { percentile: number };
      };
      percentiles.push([entry.rank, entry.percentile]);
      const { standings } = (await admin.get(`/v1/players/${player}/standings`)).body as {
        standings: { board: string; percentile: number }[];
      };
      expect(standings.find(({ board }) => board === 'shared')!.percentile).toBe(entry.percentile);
    }
    expect(percentiles).toEqual([
      [1, 100],
      [1, 100],
      [2, 50],
      [2, 50],
      [3, 0],
    ]);
  });

  it('keeps the ranks of a window that ended', async () => {
    const close = '/v1/admin/boards/shared/close-window';
    const dry = (await admin.post(`${close}?dryRun`, { window: 'season:s1' })).body as { scopes: unknown[] };
    const closed = (await admin.post(close, { window: 'season:s1' })).body as { scopes: { top: Row[] }[] };
    expect(closed.scopes).toEqual(dry.scopes);
    expect(closed.scopes[0]!.top.map(({ rank }) => rank)).toEqual([1, 1, 2, 2, 3]);
    const path = '/v1/boards/shared/entries?window=season:s1';
    await expect.poll(async () => (await admin.get(path)).status).toBe(200);
    expect(await ranksOf(path)).toEqual(['1 ada', '1 bob', '2 cy', '2 dee', '3 eve']);
    const rank = await admin.get('/v1/boards/shared/rank?score=6&window=season:s1');
    expect(rank.body).toMatchObject({ rank: 3, rankStyle: 'dense' });
    const competition = await admin.get('/v1/boards/shared/rank?score=6&window=season:s1&rankStyle=competition');
    expect(competition.body).toMatchObject({ rank: 5 });
  });
});

describe('dense ranks that are not kept', () => {
  it('are refused with the remedy in every read', async () => {
    await admin.makeBoard('plain', { scopes: ['global', 'guild'] });
    await admin.put('/v1/circles/some/members/ada');
    const paths = ['entries', 'players/ada', 'rank?score=1', 'friends/ada', 'follows/ada', 'circles/some', 'guilds'];
    const answers = await Promise.all([
      ...paths.map((path) => admin.get(`/v1/boards/plain/${path}${path.includes('?') ? '&' : '?'}rankStyle=dense`)),
      admin.post('/v1/boards/plain/lookups?rankStyle=dense', { playerIds: ['ada'] }),
    ]);
    for (const answer of answers)
      expect(expectProblem(answer, 'RANK_STYLE_NOT_KEPT').detail).toContain('"dense": true');
  });

  it('go on through the pages of a cursor that was opened while they were kept', async () => {
    await admin.makeBoard('walked', { dense: true });
    const runs = Array.from({ length: 30 }, (_, at) => ({
      playerId: `p${String(at).padStart(2, '0')}`,
      score: -Math.floor(at / 4),
      columns: {},
      atMs: Date.now() - 10_000 + at,
    }));
    await submit('walked', runs);
    type Page = { entries: Row[]; next: string | null; prev: string | null; rankStyle: string };
    const read = async (path: string): Promise<Page> => {
      const { status, text, body } = await admin.get(path);
      expect(status, text).toBe(200);
      return body as Page;
    };
    const pages = [await read('/v1/boards/walked/entries?cursor=start&rankStyle=dense&limit=7')];
    expect((await admin.put('/v1/boards/walked', { order: 'desc', operator: 'best', dense: false })).status).toBe(200);
    const live = async (): Promise<number> => (await admin.get('/v1/boards/walked/entries?rankStyle=dense')).status;
    await expect.poll(live, { timeout: 30_000 }).toBe(422);
    while (pages.at(-1)!.next !== null) pages.push(await read(pages.at(-1)!.next!));
    const ranks = runs.map(({ playerId }, at) => [Math.floor(at / 4) + 1, playerId]);
    expect(pages.flatMap(({ entries }) => entries.map(({ rank, playerId }) => [rank, playerId]))).toEqual(ranks);
    const back = await read(pages.at(-1)!.prev!);
    expect(back).toMatchObject({ rankStyle: 'dense', entries: pages.at(-2)!.entries });
  });

  it('are those of the standings where a window is over, from their writing on', async () => {
    const windows = ['alltime', { season: 'over', startsAt: '2020-01-01T00:00:00Z', endsAt: '2090-01-01T00:00:00Z' }];
    await admin.makeBoard('settled', { windows, graceSeconds: 0, keepEndedSeconds: 3600 });
    const scores = { ada: 9, bob: 9, cy: 7, dee: 5 };
    const atMs = Date.now() - 10_000;
    await submit(
      'settled',
      Object.entries(scores).map(([playerId, score], at) => ({ playerId, score, columns: {}, atMs: atMs + at })),
    );
    const list = '/v1/boards/settled/entries?window=season:over';
    expectProblem(await admin.get(`${list}&rankStyle=dense`), 'RANK_STYLE_NOT_KEPT');
    expect((await admin.post('/v1/admin/boards/settled/close-window', { window: 'season:over' })).status).toBe(200);
    await expect.poll(async () => (await admin.get(`${list}&rankStyle=dense`)).status).toBe(200);
    const dense = (await admin.get(`${list}&rankStyle=dense`)).body as { entries: Row[]; boardVersion: number };
    expect(dense.entries.map(({ rank, playerId }) => [rank, playerId])).toEqual([
      [1, 'ada'],
      [1, 'bob'],
      [2, 'cy'],
      [3, 'dee'],
    ]);
    // Two styles of one list: who has seen the one is not behind for the other.
    const ordinal = (await admin.get(`${list}&minVersion=${dense.boardVersion}`)).body as { boardVersion: number };
    expect(dense.boardVersion).toBe(ordinal.boardVersion);
    expect((await admin.get(`${list}&rankStyle=dense&minVersion=${ordinal.boardVersion}`)).status).toBe(200);
    const season = 'window=season:over&rankStyle=dense';
    const player = (await admin.get(`/v1/boards/settled/players/cy?${season}`)).body as object;
    expect(player).toMatchObject({ rankStyle: 'dense', entry: { rank: 2, percentile: 100 / 3 } });
    expect((await admin.get(`/v1/boards/settled/rank?score=6&${season}`)).body).toMatchObject({ rank: 3 });
    const lookup = await admin.post(`/v1/boards/settled/lookups?${season}`, { playerIds: ['dee'] });
    expect(lookup.body).toMatchObject({ entries: [{ rank: 3 }] });
    const first = (await admin.get(`/v1/boards/settled/entries?${season}&cursor=start&limit=3`)).body as {
      next: string;
      boardVersion: number;
    };
    const { boardVersion } = first;
    const rest = (await admin.get(first.next)).body as object;
    expect(rest).toMatchObject({ entries: [{ rank: 3, playerId: 'dee' }], next: null, boardVersion });
    expectProblem(await admin.get('/v1/boards/settled/entries?rankStyle=dense'), 'RANK_STYLE_NOT_KEPT');
  });

  it('cannot be asked of a board over several hash shards', async () => {
    const sharded = { order: 'desc', operator: 'best', sharding: { by: 'hash', count: 2 } };
    for (const wish of [{ dense: true }, { rankStyle: 'dense' }]) {
      const problem = expectProblem(await admin.put('/v1/boards/wide', { ...sharded, ...wish }), 'RANK_STYLE_NOT_KEPT');
      expect(problem.detail).toContain('sharding by range');
    }
    expect((await admin.get('/v1/boards/wide')).status).toBe(404);
  });

  it('are kept by an empty board as soon as it says so', async () => {
    await admin.makeBoard('turned');
    const turned = { order: 'desc', operator: 'best', dense: true };
    expect((await admin.put('/v1/boards/turned', turned)).status).toBe(200);
    const read = (): Promise<unknown> =>
      admin.get('/v1/boards/turned/entries?rankStyle=dense').then(({ status }) => status);
    await expect.poll(read).toBe(200);
    const board = (await admin.get('/v1/boards/turned')).body as object;
    expect((await admin.put('/v1/boards/turned', board)).status).toBe(200);
  });
});

describe('the rank of a score', () => {
  it('takes columns of the board, and no others', async () => {
    await admin.makeBoard('columned', { columns: COLUMNS.slice(0, 1) });
    const ask = (query: string) => admin.get(`/v1/boards/columned/rank?score=1${query}`);
    expect((await ask('&columns.moves=3')).status).toBe(200);
    expect(expectProblem(await ask('&columns.jumps=3'), 'COLUMNS_MISMATCH')).toMatchObject({ unknown: ['jumps'] });
    for (const query of [
      '&columns.moves=few',
      '&columns.moves=1e400',
      '&columns=3',
      '&columns.moves=1&columns.moves=2',
    ]) {
      expect(expectProblem(await ask(query), 'VALIDATION_FAILED').errors).toMatchObject([{ pointer: '?columns' }]);
    }
    expectProblem(await admin.get('/v1/boards/columned/entries?columns.moves=3'), 'VALIDATION_FAILED');
  });
});
