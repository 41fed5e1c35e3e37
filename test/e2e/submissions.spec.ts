// Real: the built service in one process, with its PostgreSQL and Redis; ids, doubles, batches and retries at their edges.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import type { ErrorCode } from '@laddercast/domain';
import type { Response } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, RestClient } from './rest-client.js';

const WAIT = { Prefer: 'wait=10' };

interface Item {
  playerId?: string;
  problem?: { code: ErrorCode; instance: string };
}

describe('submissions at their edges', () => {
  let service: RunningStandalone;
  let admin: RestClient;

  beforeAll(async () => {
    service = await startStandalone();
    admin = new RestClient(service.url, service.adminKey);
    await admin.makeBoard('ids');
    await admin.makeBoard('doubles', { operator: 'latest', columns: [{ name: 'constructor', order: 'asc' }] });
    await admin.makeBoard('rising', { operator: 'latest', order: 'asc' });
    await admin.makeBoard('batch', { operator: 'sum' });
    await admin.makeBoard('retries', { operator: 'sum' });
    await admin.makeBoard('metadata', { operator: 'latest' });
    await admin.makeBoard('settable', {
      ...{ operator: 'sum', windows: ['alltime', 'daily'], submissionOperators: ['sum', 'set'] },
      limits: { scoreMin: -100, scoreMax: 100 },
    });
  });
  afterAll(() => service?.stop());

  const submit = (board: string, run: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    admin.post(`/v1/boards/${board}/scores`, run, headers);
  const read = (board: string, player: string): Promise<Response> =>
    admin.get(`/v1/boards/${board}/players/${encodeURIComponent(player)}?around=0`);

  it.each([
    ['one byte', 'x'],
    ['128 bytes of ASCII', 'a'.repeat(128)],
    ['128 bytes of UTF-8', 'é'.repeat(64)],
    ['an emoji of several code points', '👩‍🚀'],
    ['right to left, with marks', 'شطرنج\u200f\u202e'],
    ['spaces and accents', ' São Tomé '],
    ['the name of every prototype', '__proto__'],
    ['another such name', 'constructor'],
    ['a slash, a question mark and a hash', 'a/b?c#d%2F'],
    ['braces, as keys have them', '{1.2}:\\"'],
    ['a dot more', '...'],
    ['ME, which is not me', 'ME'],
    ['composed', 'caf\u00e9'],
    ['decomposed, which is another', 'cafe\u0301'],
  ])('take an id of %s, and give it back byte by byte', async (name, playerId) => {
    const submissionId = `${name.slice(0, 4)}${playerId}`.slice(0, 60);
    const answer = await submit('ids', { playerId, submissionId, score: 7, sourceId: playerId }, WAIT);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ playerId, submissionId, outcome: 'created', rank: { accuracy: 'exact' } });
    const entry = await read('ids', playerId);
    expect(entry.status, entry.text).toBe(200);
    expect(entry.body).toMatchObject({ entry: { playerId, score: 7 } });
    const lookup = await admin.post('/v1/boards/ids/lookups', { playerIds: [playerId] });
    expect(lookup.body).toMatchObject({ entries: [{ playerId }] });
  });

  it.each([
    ['empty', ''],
    ['129 bytes', 'a'.repeat(129)],
    ['130 bytes in 65 characters', 'é'.repeat(65)],
    ['a dot', '.'],
    ['two dots', '..'],
    ['me', 'me'],
    ['with a NUL', 'a\0b'],
    ['with a line break', 'a\nb'],
    ['with a C1 control', 'a\u0085b'],
    ['with half a pair', 'a\ud83d'],
    ['with the other half', '\ude80a'],
  ])('refuse an id that is %s, wherever it stands', async (_name, id) => {
    for (const field of ['playerId', 'submissionId', 'sourceId']) {
      const { errors } = expectProblem(
        await submit('ids', { playerId: 'x', score: 1, [field]: id }),
        'VALIDATION_FAILED',
      );
      expect(errors!.map(({ pointer }) => pointer)).toContain(`/${field}`);
    }
    const body = { playerIds: ['x', id] };
    expectProblem(await admin.post('/v1/boards/ids/lookups', body), 'VALIDATION_FAILED');
  });

  it.each([
    ['-0', 0],
    ['9007199254740993', 2 ** 53],
    ['9007199254740991', 2 ** 53 - 1],
    ['5e-324', 5e-324],
    ['-5e-324', -5e-324],
    ['2.2250738585072011e-308', 2.225073858507201e-308],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['-1.7976931348623157e308', -Number.MAX_VALUE],
    ['0.1', 0.1],
    ['0.30000000000000004', 0.30000000000000004],
    ['123456789.12345679', 123456789.12345679],
    ['1e21', 1e21],
  ])('give the double %s back bit for bit', async (text, expected) => {
    const body = `{"playerId":"p${text}","score":${text},"columns":{"constructor":${text}}}`;
    const answer = await submit('doubles', body, WAIT);
    expect(answer.status, answer.text).toBe(200);
    const { entry } = (await read('doubles', `p${text}`)).body as {
      entry: { score: number; columns: Record<string, number> };
    };
    expect(Object.is((answer.body as { score: number }).score, expected)).toBe(true);
    expect(Object.is(entry.score, expected), String(entry.score)).toBe(true);
    expect(Object.keys(entry.columns)).toEqual(['constructor']);
    expect(Object.is(entry.columns['constructor'], expected), String(entry.columns['constructor'])).toBe(true);
    await submit('rising', `{"playerId":"p${text}","score":${text}}`, WAIT);
    const rising = (await read('rising', `p${text}`)).body as { entry: { score: number } };
    expect(Object.is(rising.entry.score, expected)).toBe(true);
    expect((await admin.get(`/v1/boards/rising/rank?score=${encodeURIComponent(text)}`)).status).toBe(200);
  });

  it('order those doubles as numbers', async () => {
    const page = (await admin.get('/v1/boards/rising/entries')).body as { entries: { score: number }[] };
    const scores = page.entries.map(({ score }) => score);
    expect(scores.length).toBe(12);
    expect(scores).toEqual([...scores].sort((a, b) => a - b));
  });

  it('wants the columns of the board, by their own names', async () => {
    for (const columns of [undefined, {}, { toString: 1 }, { constructor: 1, other: 1 }]) {
      expectProblem(await submit('doubles', { playerId: 'c', score: 1, columns }), 'COLUMNS_MISMATCH');
    }
    expectProblem(await submit('ids', { playerId: 'c', score: 1, columns: { constructor: 1 } }), 'COLUMNS_MISMATCH');
  });

  it('take 1,024 bytes of metadata and no more', async () => {
    const metadata = (bytes: number): object => ({
      constructor: 'é',
      x: 'x'.repeat(bytes - '{"constructor":"éé","x":""}'.length),
    });
    expect(Buffer.byteLength(JSON.stringify(metadata(1024)))).toBe(1024);
    const answer = await submit('metadata', { playerId: 'm', score: 1, metadata: metadata(1024) }, WAIT);
    expect(answer.status, answer.text).toBe(200);
    expect((await read('metadata', 'm')).body).toMatchObject({ entry: { metadata: metadata(1024) } });
    expectProblem(
      await submit('metadata', { playerId: 'm', score: 2, metadata: metadata(1025) }),
      'METADATA_TOO_LARGE',
    );
    const nested = { a: { b: [{ c: [1, null, true, 'line\nbreak\tand tab'] }] } };
    await submit('metadata', { playerId: 'n', score: 1, metadata: nested }, WAIT);
    expect((await read('metadata', 'n')).body).toMatchObject({ entry: { metadata: nested } });
  });

  describe('in a batch', () => {
    const run = (index: number): object => ({ board: 'batch', playerId: `p${index % 10}`, score: 1 });
    const many = (length: number): object[] => Array.from({ length }, (_, index) => run(index));

    it.each<[string, unknown]>([
      ['none', { submissions: [] }],
      ['1,001', { submissions: many(1001) }],
      ['an object', { submissions: { 0: run(0) } }],
      ['no batch', [run(0)]],
      ['another field', { submissions: [run(0)], atomic: true }],
      ['nothing', {}],
    ])('of %s are refused as a whole', async (_name, body) => {
      expectProblem(await admin.post('/v1/scores', body), 'VALIDATION_FAILED');
    });

    it('count one, and a thousand', async () => {
      const one = await admin.post('/v1/scores', { submissions: [run(0)] });
      expect(one.body).toMatchObject({ results: [{ playerId: 'p0', score: 1 }] });
      const thousand = await admin.post('/v1/scores', { submissions: many(1000) }, WAIT);
      expect(thousand.status).toBe(200);
      const { results } = thousand.body as { results: { score: number }[] };
      expect(results.length).toBe(1000);
      expect(results.slice(-10).map(({ score }) => score)).toEqual([101, ...Array.from({ length: 9 }, () => 100)]);
    });

    it('fail one by one, in their places', async () => {
      const bad: [unknown, ErrorCode][] = [
        [7, 'VALIDATION_FAILED'],
        [null, 'VALIDATION_FAILED'],
        [{ playerId: 'x', score: 1 }, 'VALIDATION_FAILED'],
        [{ board: '__proto__', playerId: 'x', score: 1 }, 'VALIDATION_FAILED'],
        [{ board: 'constructor', playerId: 'x', score: 1 }, 'BOARD_NOT_FOUND'],
        [{ board: 'batch', playerId: 'x\0', score: 1 }, 'VALIDATION_FAILED'],
        [{ board: 'batch', playerId: 'x', score: 1, columns: { a: 1 } }, 'COLUMNS_MISMATCH'],
        [{ board: 'batch', playerId: 'x', score: 1, achievedAt: '2999-01-01T00:00:00Z' }, 'ACHIEVED_AT_IN_FUTURE'],
      ];
      const submissions = bad.flatMap(([item], index) => [
        { board: 'batch', playerId: `good${index}`, score: 1 },
        item,
      ]);
      const answer = await admin.post('/v1/scores', { submissions });
      expect(answer.status).toBe(200);
      const { results } = answer.body as { results: Item[] };
      const told = results.map(({ playerId, problem }) => problem?.code ?? playerId);
      expect(told).toEqual(bad.flatMap(([, code], index) => [`good${index}`, code]));
      const instances = results.flatMap(({ problem }) => (problem ? [problem.instance] : []));
      expect(instances).toEqual(bad.map((_, index) => `/v1/scores#/submissions/${2 * index + 1}`));
    });

    it('are refused with an Idempotency-Key, which could not tell one from the other', async () => {
      const key = { 'Idempotency-Key': 'whole-batch' };
      const one = { board: 'batch', playerId: 'keyed', score: 1 };
      const { detail } = expectProblem(
        await admin.post('/v1/scores', { submissions: [one] }, key),
        'VALIDATION_FAILED',
      );
      expect(detail).toContain('submissionId');
      const uncounted = await admin.post('/v1/scores', { submissions: [one] });
      expect(uncounted.body).toMatchObject({ results: [{ score: 1 }] });
    });

    it('that leave the doubles fail alone', async () => {
      const most = { board: 'batch', playerId: 'huge', score: Number.MAX_VALUE };
      const answer = await admin.post('/v1/scores', { submissions: [most, most, { ...most, score: -1 }] });
      const { results } = answer.body as { results: Item[] };
      expect(results.map(({ problem }) => problem?.code)).toEqual([undefined, 'SCORE_OUT_OF_BOUNDS', undefined]);
    });
  });

  describe('with an operator', () => {
    it('set a total, as any run does, where their board takes it', async () => {
      const send = async (run: object) => (await submit('settable', { playerId: 'ada', ...run }, WAIT)).body as object;
      expect(await send({ score: 60 })).toMatchObject({ outcome: 'created', score: 60 });
      const set = { score: 90, operator: 'set', submissionId: 'set-1' };
      expect(await send(set)).toMatchObject({ outcome: 'changed', previousScore: 60, score: 90, replayed: false });
      expect(await send(set)).toMatchObject({ outcome: 'changed', previousScore: 60, score: 90, replayed: true });
      expect(await send({ score: -10, operator: 'sum' })).toMatchObject({ outcome: 'changed', score: 80 });
      for (const window of ['alltime', 'daily']) {
        const { body } = await admin.get(`/v1/boards/settable/players/ada?window=${window}&minVersion=0`);
        expect(body).toMatchObject({ entry: { score: 80, rank: 1 } });
      }
      expectProblem(await submit('settable', { playerId: 'ada', score: 101, operator: 'set' }), 'SCORE_OUT_OF_BOUNDS');
      expectProblem(await submit('settable', { ...set, playerId: 'ada', operator: 'sum' }), 'SUBMISSION_ID_REUSED');
      const item = { board: 'settable', playerId: 'bob', score: 7, operator: 'set' };
      const batch = await admin.post('/v1/scores', { submissions: [item, { ...item, board: 'batch' }, item] });
      expect(batch.body).toMatchObject({
        results: [{ outcome: 'created' }, { problem: { code: 'OPERATOR_REFUSED' } }, { outcome: 'changed', score: 7 }],
      });
    });

    it('are refused by name elsewhere', async () => {
      const set = { playerId: 'ada', score: 1, operator: 'set' };
      const ofSum = expectProblem(await submit('batch', set), 'OPERATOR_REFUSED');
      expect([ofSum.status, ofSum.detail]).toEqual([422, expect.stringContaining('submissionOperators')]);
      const ofBest = expectProblem(await submit('ids', { ...set, operator: 'sum' }), 'OPERATOR_REFUSED');
      expect(ofBest.detail).toContain('leave it out');
      const { errors } = expectProblem(await submit('settable', { ...set, operator: 'add' }), 'VALIDATION_FAILED');
      expect(errors).toMatchObject([{ pointer: '/operator' }]);
    });
  });

  describe('with an Idempotency-Key', () => {
    const run = { playerId: 'ada', score: 5 };

    it('count once, whether the id comes in the header or in the body', async () => {
      const first = await submit('retries', run, { 'Idempotency-Key': 'k1' });
      expect(first.body).toMatchObject({ submissionId: 'k1', replayed: false, score: 5 });
      const again = await submit('retries', { ...run, submissionId: 'k1' });
      expect(again.body).toMatchObject({ submissionId: 'k1', replayed: true, score: 5 });
      const both = await submit('retries', { ...run, submissionId: 'k1' }, { 'Idempotency-Key': 'k1' });
      expect(both.body).toMatchObject({ replayed: true, score: 5 });
    });

    it('are refused when header and body differ, or the header cannot be an id', async () => {
      const different = await submit('retries', { ...run, submissionId: 'k2' }, { 'Idempotency-Key': 'k3' });
      expect(expectProblem(different, 'VALIDATION_FAILED').errors![0]!.pointer).toBe('/submissionId');
      expectProblem(await submit('retries', run, { 'Idempotency-Key': 'k'.repeat(129) }), 'VALIDATION_FAILED');
      expectProblem(await submit('retries', run, { 'Idempotency-Key': '..' }), 'VALIDATION_FAILED');
      // The bytes of UTF-8, as a header carries them: read as they are, they would be another id than that of a body.
      const bytes = Buffer.from('São').toString('latin1');
      const { errors } = expectProblem(await submit('retries', run, { 'Idempotency-Key': bytes }), 'VALIDATION_FAILED');
      expect(errors![0]!.message).toMatch(/ASCII/);
    });

    it('are refused when the id was used for another body', async () => {
      expectProblem(await submit('retries', { ...run, score: 6 }, { 'Idempotency-Key': 'k1' }), 'SUBMISSION_ID_REUSED');
    });
  });
});
