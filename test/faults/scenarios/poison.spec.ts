// Real: api, projector and gateway processes on PostgreSQL, Redis and Kafka, under load: events that no saga can handle
// among those that are well, and what was said in one of them is made good by replaying it.
import { isDeepStrictEqual } from 'node:util';
import { logsUnderTest } from '@laddercast/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { call, type Answer } from '../call.js';
import { openPostgres, type PostgresSession } from '../postgres-session.js';
import { lastEvents, redeliver } from '../redelivery.js';
import { Scenario } from '../scenario.js';

const PARKED_WITHIN_MS = 60_000;
const BOARD = 'faults-poison';

interface Letter {
  group: string;
  lane: number;
  key: string;
  payload: string;
  cause: string;
}

describe.each(logsUnderTest())('poison events under load, over the log in %s', (log) => {
  let scenario: Scenario | undefined;
  let database: PostgresSession | undefined;
  afterEach(async () => {
    await database?.end();
    await scenario?.stop();
  });

  it('are parked with their cause, listed and replayed, and hold up nobody', async () => {
    scenario = await Scenario.start({ fault: '7 poison events', log });
    const { installation, chance } = scenario;
    const session = (database = await openPostgres(installation.databaseUrl));
    const ask = (method: string, path: string, body?: object): Promise<Answer> =>
      call(`${installation.apis[0]!.url}${path}`, { method, key: installation.adminKey, ...(body && { body }) });
    const submit = async (playerId: string, score: number): Promise<void> => {
      const run = { submissionId: `${playerId}-${score}`, playerId, score };
      expect((await ask('POST', `/v1/boards/${BOARD}/scores`, run)).status).toBe(200);
    };
    expect((await ask('PUT', `/v1/boards/${BOARD}`, { order: 'desc', operator: 'best' })).status).toBe(201);
    await submit('ada', 10);

    // Nobody projects, while what PostgreSQL has just said of two players is damaged.
    await Promise.all(installation.projectors.map((projector) => projector.kill()));
    await submit('ada', 50);
    await submit('bob', 40);
    await damage(session, 'ada', `jsonb_set(payload::jsonb, '{changes}', '7')::text`);
    await damage(session, 'bob', `'{"type":"entry-changed","boardUid"'`);
    await Promise.all(installation.projectors.map((projector) => installation.restart(projector)));
    const [sample] = await lastEvents(session, 1, `topic = 'entry-changed' AND key LIKE 'p%'`);
    const { boardUid } = JSON.parse(sample!.payload) as { boardUid: number };
    const holed = { type: 'entry-changed', boardUid, playerId: 'odd', version: 1, changes: [null] };
    const odd = ['null', '[]', '"\\u0000"', '{"type":"window-closed"}', JSON.stringify(holed)];
    await redeliver(
      session,
      odd.map((payload, at) => ({ ...sample!, key: `odd-${at}`, payload })),
    );

    const parked = (): Promise<Letter[]> =>
      session.query<Letter>(
        `SELECT consumer_group AS "group", lane::int, key, payload, cause FROM dead_letters ORDER BY dead_letter_id`,
      );
    await expect
      .poll(async () => new Set((await parked()).filter(({ group }) => group === 'score').map(({ key }) => key)), {
        timeout: PARKED_WITHIN_MS,
      })
      .toEqual(new Set(['ada', 'bob', ...odd.map((_, at) => `odd-${at}`)]));
    for (const { cause } of await parked()) expect(cause).toMatch(/\w*Error: /);
    const shown = async (): Promise<[string, number][]> =>
      (
        (await ask('GET', `/v1/boards/${BOARD}/entries`)).body as { entries: { playerId: string; score: number }[] }
      ).entries.map(({ playerId, score }) => [playerId, score]);
    // Other groups may park theirs between the two looks.
    let letters: { id: string; key: string }[] = [];
    const keysOf = (all: readonly { key: string }[]): string[] => all.map(({ key }) => key).sort();
    const isListed = async (): Promise<boolean> => {
      letters = await listed(ask, chance.from(1, 5));
      return isDeepStrictEqual(keysOf(letters), keysOf(await parked()));
    };
    await expect.poll(isListed).toBe(true);
    for (const { id, key } of letters) {
      const { status, body } = await ask('POST', `/v1/admin/dead-letters/${id}/replay`);
      expect(status, JSON.stringify(body)).toBe(200);
      // Of the others there is nothing to be said: there are no such players.
      const outcome = ['ada', 'bob'].includes(key) ? 'replayed' : 'obsolete';
      expect(body, key).toMatchObject({ outcome });
    }
    await expect.poll(shown, { timeout: PARKED_WITHIN_MS }).toEqual([
      ['ada', 50],
      ['bob', 40],
    ]);
    expect((await ask('POST', '/v1/admin/dead-letters/999999999/replay')).status).toBe(404);
    await scenario.prove(`${letters.length} letters of ${odd.length + 2} events parked, listed and replayed`);
  });
});

/** Of a player on the board: what the log has not carried yet. */
async function damage(database: PostgresSession, playerId: string, payload: string): Promise<void> {
  const rows = await database.query(
    `UPDATE outbox SET payload = ${payload} WHERE topic = 'entry-changed' AND key = $1 AND position =
       (SELECT max(version) FROM entries JOIN boards USING (board_uid) WHERE board_id = '${BOARD}' AND player_id = $1)
     RETURNING position`,
    [playerId],
  );
  expect(rows, `the event of ${playerId} is not in the outbox`).toHaveLength(1);
}

/** All letters, page by page. */
async function listed(
  ask: (method: string, path: string) => Promise<Answer>,
  limit: number,
): Promise<{ id: string; key: string }[]> {
  const letters: { id: string; key: string }[] = [];
  for (let cursor: string | null = null; ;) {
    const page: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await ask('GET', `/v1/admin/dead-letters?limit=${limit}${page}`);
    expect(status, JSON.stringify(body)).toBe(200);
    const answer = body as { deadLetters: { id: string; key: string }[]; next: string | null };
    letters.push(...answer.deadLetters);
    cursor = answer.next;
    if (!cursor) return letters;
  }
}
