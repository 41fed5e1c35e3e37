// Real: the built service with scores arriving while the board is reset, and deleted and made again.
import { startStandalone, type RunningStandalone } from '@laddercast/testing';
import supertest from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const CLIENTS = 6;

interface Entry {
  playerId: string;
  score: number;
}

describe('a board that is emptied while scores arrive', () => {
  let app: RunningStandalone;
  let admin: { Authorization: string };
  const definition = { order: 'desc', operator: 'sum', sharding: { by: 'hash', count: 2 }, push: { intervalMs: 100 } };

  beforeAll(async () => {
    app = await startStandalone();
    admin = { Authorization: `Bearer ${app.adminKey}` };
  });
  afterAll(() => app?.stop());

  const entriesOf = async (board: string): Promise<Entry[]> =>
    (await supertest(app.url).get(`/v1/boards/${board}/entries?limit=500`).expect(200)).body.entries as Entry[];

  /** Resolves with the score that each player was answered last; it is of runs that count on the empty board alone. */
  async function whileScoresArrive(board: string, empty: () => Promise<void>): Promise<Map<string, number>> {
    let counting = true;
    let when: 'before' | 'while' | 'after' = 'before';
    const players = Array.from({ length: CLIENTS }, (_, client) => ({
      playerId: `p${client}`,
      last: 0,
      // Taken before it was emptied, at some time since that began, and sent when it was done.
      taken: { before: 0, since: 0, after: 0 },
    }));
    const clients = players.map(async (player, client) => {
      for (let i = 0; counting; i += 1) {
        const begun = when;
        const run = { submissionId: `${client}-${i}`, playerId: player.playerId, score: 1 };
        const { status, body } = await supertest(app.url).post(`/v1/boards/${board}/scores`).set(admin).send(run);
        expect([200, 404]).toContain(status);
        if (status !== 200) continue;
        player.last = (body as Entry).score;
        if (when === 'before') player.taken.before += 1;
        else player.taken.since += 1;
        if (begun === 'after') player.taken.after += 1;
      }
    });
    const eachTook = (count: 'before' | 'after'): Promise<void> =>
      expect.poll(() => Math.min(...players.map(({ taken }) => taken[count])), { timeout: 30_000 }).toBeGreaterThan(5);
    try {
      await eachTook('before');
      when = 'while';
      await empty();
      when = 'after';
      await eachTook('after');
    } finally {
      counting = false;
      await Promise.all(clients);
    }
    for (const { last, taken } of players) {
      expect(last).toBeGreaterThanOrEqual(taken.after);
      expect(last).toBeLessThanOrEqual(taken.since);
    }
    return new Map(players.map(({ playerId, last }) => [playerId, last]));
  }

  it.each([
    ['reset', (board: string) => supertest(app.url).post(`/v1/admin/boards/${board}/reset`).set(admin).expect(200)],
    [
      'deleted and made again',
      async (board: string) => {
        await supertest(app.url).delete(`/v1/boards/${board}`).set(admin).expect(204);
        await supertest(app.url).put(`/v1/boards/${board}`).set(admin).send(definition).expect(201);
      },
    ],
  ])('starts empty when it is %s, also for events and writes under way', async (how, empty) => {
    const board = how.startsWith('reset') ? 'reset' : 'again';
    await supertest(app.url).put(`/v1/boards/${board}`).set(admin).send(definition).expect(201);
    const scores = await whileScoresArrive(board, async () => void (await empty(board)));
    // The answer to a marker says that everything before it in its lane is projected; every lane gets one.
    for (const playerId of ['m0', 'm1', 'm2', 'm3']) {
      const marker = { playerId, score: 5 };
      const { body } = await supertest(app.url)
        .post(`/v1/boards/${board}/scores`)
        .set(admin)
        .set('Prefer', 'wait=10')
        .send(marker)
        .expect(200);
      expect(body).toMatchObject({ outcome: 'created', rank: { accuracy: 'exact' } });
      scores.set(playerId, 5);
    }
    await expect
      .poll(async () => Object.fromEntries((await entriesOf(board)).map(({ playerId, score }) => [playerId, score])))
      .toEqual(Object.fromEntries(scores));
    // An id that counted before the board was emptied is new on the new board.
    const { body } = await supertest(app.url)
      .post(`/v1/boards/${board}/scores`)
      .set(admin)
      .send({ submissionId: '0-0', playerId: 'p0', score: 1 })
      .expect(200);
    expect(body).toMatchObject({ replayed: false, score: scores.get('p0')! + 1 });
  });
});
