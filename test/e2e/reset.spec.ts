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

  async function whileScoresArrive(board: string, empty: () => Promise<void>): Promise<void> {
    let counting = true;
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let i = 0; counting; i += 1) {
        const run = { submissionId: `${client}-${i}`, playerId: `p${client}`, score: 1 };
        const response = await supertest(app.url).post(`/v1/boards/${board}/scores`).set(admin).send(run);
        expect([200, 404]).toContain(response.status);
      }
    });
    await new Promise((resolve) => setTimeout(resolve, 400));
    await empty();
    counting = false;
    await Promise.all(clients);
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
    await whileScoresArrive(board, async () => void (await empty(board)));
    await empty(board);
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
    }
    const markersAlone = ['m0', 'm1', 'm2', 'm3'].map((playerId) => ({ playerId, score: 5 }));
    await expect
      .poll(async () => (await entriesOf(board)).map(({ playerId, score }) => ({ playerId, score })))
      .toEqual(markersAlone);
    // An id that counted before the board was emptied is new on the new board.
    const { body } = await supertest(app.url)
      .post(`/v1/boards/${board}/scores`)
      .set(admin)
      .send({ submissionId: '0-0', playerId: 'p0', score: 1 })
      .expect(200);
    expect(body).toMatchObject({ outcome: 'created', replayed: false, score: 1 });
  });
});
