// Real: the built service in one process, PostgreSQL, Redis, HTTP. Compared with a plain sorted array.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import fc from 'fast-check';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const DAY = Date.UTC(2026, 0, 1);
/** Awkward on purpose: prefixes of each other, braces, spaces, accents, right-to-left, emoji, NUL-free oddities. */
const PLAYERS = ['a', 'ab', 'abc', '{x}', '}', 'São Tomé', 'שלום', '😀', '__proto__', 'zz', 'A', 'ä', ' ', '%2F/'];
const SCORES = [
  0,
  -0,
  1,
  -1,
  1,
  2,
  0.1,
  0.3,
  -1e-300,
  5e-324,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 53),
  1.7976931348623157e308,
  100,
];

interface Submission {
  playerId: string;
  score: number;
  columns: Record<string, number>;
  achievedAtMs: number;
}

interface Definition {
  order: 'asc' | 'desc';
  operator: 'best' | 'latest' | 'sum';
  tiebreak: 'earliest' | 'latest' | 'none';
  columns: { name: string; order: 'asc' | 'desc' }[];
  sharding: { by: 'hash'; count: number };
}

interface Row {
  playerId: string;
  score: number;
  columns: Record<string, number>;
  achievedAtMs: number;
}

const score = fc.constantFrom(...SCORES);

const definition: fc.Arbitrary<Definition> = fc
  .record({
    order: fc.constantFrom('asc' as const, 'desc' as const),
    operator: fc.constantFrom('best' as const, 'latest' as const, 'sum' as const),
    tiebreak: fc.constantFrom('earliest' as const, 'latest' as const, 'none' as const),
    columnOrders: fc.array(fc.constantFrom('asc' as const, 'desc' as const), { maxLength: 4 }),
    shards: fc.constantFrom(1, 2, 3, 7),
  })
  .map(({ columnOrders, shards, ...rest }) => ({
    ...rest,
    columns: rest.operator === 'sum' ? [] : columnOrders.map((order, index) => ({ name: `c${index}`, order })),
    sharding: { by: 'hash' as const, count: shards },
  }));

const history = (columns: Definition['columns']): fc.Arbitrary<Submission[]> =>
  fc.array(
    fc.record({
      playerId: fc.constantFrom(...PLAYERS),
      score,
      columns: fc.record(Object.fromEntries(columns.map(({ name }) => [name, score]))),
      achievedAtMs: fc.integer({ min: 0, max: 3 }).map((second) => DAY + second * 1000),
    }),
    { minLength: 1, maxLength: 40 },
  );

/** What the contract says, in the plainest way there is. */
function oracle(board: Definition, submissions: Submission[]): Row[] {
  const entries = new Map<string, Row>();
  for (const run of submissions) {
    const now = entries.get(run.playerId);
    if (board.operator === 'sum') {
      const total = (now?.score ?? 0) + run.score;
      if (!Number.isFinite(total)) continue;
      if (!now) entries.set(run.playerId, { ...run, columns: {}, score: total });
      else if (run.score !== 0)
        entries.set(run.playerId, { ...now, score: total, achievedAtMs: Math.max(now.achievedAtMs, run.achievedAtMs) });
    } else if (
      !now ||
      (board.operator === 'latest' ? run.achievedAtMs >= now.achievedAtMs : compareRuns(board, run, now) < 0)
    ) {
      entries.set(run.playerId, run);
    }
  }
  return [...entries.values()].sort(
    (a, b) => compareRuns(board, a, b) || Buffer.compare(Buffer.from(a.playerId), Buffer.from(b.playerId)),
  );
}

function compareRuns(board: Definition, a: Row, b: Row): number {
  const by = (x: number, y: number, order: 'asc' | 'desc'): number =>
    x === y ? 0 : x < y === (order === 'asc') ? -1 : 1;
  let result = by(a.score, b.score, board.order);
  for (const { name, order } of board.columns) result ||= by(a.columns[name]!, b.columns[name]!, order);
  if (board.tiebreak !== 'none')
    result ||= by(a.achievedAtMs, b.achievedAtMs, board.tiebreak === 'earliest' ? 'asc' : 'desc');
  return result;
}

const positive = (value: number): number => (value === 0 ? 0 : value);

describe('a board read over HTTP', () => {
  let app: RunningStandalone;
  let admin: { Authorization: string };
  let boards = 0;

  beforeAll(async () => {
    app = await startStandalone();
    admin = { Authorization: `Bearer ${app.adminKey}` };
  });
  afterAll(() => app?.stop());

  async function play(board: Definition, submissions: Submission[]): Promise<string> {
    const id = `b${(boards += 1)}`;
    await supertest(app.url).put(`/v1/boards/${id}`).set(admin).send(board).expect(201);
    const body = {
      submissions: submissions.map(({ achievedAtMs, ...run }) => ({
        board: id,
        ...run,
        achievedAt: new Date(achievedAtMs).toISOString(),
      })),
    };
    // JSON.stringify has no −0; the text does.
    const text = JSON.stringify(body, (_name, value: unknown) => (Object.is(value, -0) ? '-0' : value)).replaceAll(
      '"-0"',
      '-0',
    );
    const response = await supertest(app.url)
      .post('/v1/scores')
      .set(admin)
      .set('Prefer', 'wait=10')
      .type('json')
      .send(text)
      .expect(200);
    const problems = (response.body.results as { problem?: { code: string } }[]).flatMap(
      ({ problem }) => problem?.code ?? [],
    );
    expect(problems.filter((code) => code !== 'SCORE_OUT_OF_BOUNDS')).toEqual([]);
    return id;
  }

  it('equals a sorted array, for every operator, order, tie-break, column set and shard count', async () => {
    const cases = definition.chain((board) => history(board.columns).map((submissions) => ({ board, submissions })));
    await fc.assert(
      fc.asyncProperty(cases, async ({ board, submissions }) => {
        const id = await play(board, submissions);
        const expected = oracle(board, submissions);
        const { body } = await supertest(app.url).get(`/v1/boards/${id}/entries?limit=500`).expect(200);
        const rows = body.entries as {
          rank: number;
          playerId: string;
          score: number;
          columns: Record<string, number>;
          achievedAt: string;
        }[];
        expect(
          rows.map(({ rank, playerId, score: shown, columns, achievedAt }) => ({
            rank,
            playerId,
            score: shown,
            columns,
            achievedAt,
          })),
        ).toEqual(
          expected.map((row, index) => ({
            rank: index + 1,
            playerId: row.playerId,
            score: positive(row.score),
            columns: Object.fromEntries(Object.entries(row.columns).map(([name, value]) => [name, positive(value)])),
            achievedAt: new Date(row.achievedAtMs).toISOString(),
          })),
        );
        expect(body.total).toBe(expected.length);
        await checkPlayers(id, board, expected);
      }),
      { numRuns: 40, endOnFailure: false },
    );
  });

  async function checkPlayers(id: string, board: Definition, expected: Row[]): Promise<void> {
    const index = Math.floor(expected.length / 2);
    const player = expected[index]!;
    const sameAs = (row: Row): boolean =>
      row.score === player.score && board.columns.every(({ name }) => row.columns[name] === player.columns[name]);
    const path = `/v1/boards/${id}/players/${encodeURIComponent(player.playerId)}`;
    const ordinal = await supertest(app.url).get(`${path}?above=2&below=1`).expect(200);
    expect(ordinal.body.entry).toMatchObject({ rank: index + 1, playerId: player.playerId });
    expect((ordinal.body.neighbours as Row[]).map(({ playerId }) => playerId)).toEqual(
      expected.slice(Math.max(0, index - 2), index + 2).map(({ playerId }) => playerId),
    );
    const competition = await supertest(app.url).get(`${path}?rankStyle=competition`).expect(200);
    expect(competition.body.entry.rank).toBe(expected.findIndex(sameAs) + 1);
  }
});
