import { TeamDatabase } from '@laddercast/leaderboard';
import { startTestService } from '@laddercast/testing';
import { expect, onTestFinished, test } from 'vitest';
import { TrailModule } from './trail.module.js';

test('the podium has names, and no bots', { timeout: 120_000 }, async () => {
  const service = await startTestService({ modules: [TrailModule] });
  onTestFinished(() => service.close(), 60_000);
  const run = async (playerId: string, score: number) =>
    (await service.request('POST', '/v1/boards/trail/scores', { body: { playerId, score } })).status;
  expect([await run('ada', 61), await run('bob', 59), await run('ada', 58)]).toEqual([200, 200, 200]);
  expect(await run('bot-1', 1)).toBe(422);
  await service.whenApplied();
  const { body } = await service.request('GET', '/trail/podium', { token: await service.playerToken('ada') });
  expect(body).toEqual({ shownTo: 'player', podium: ['Runner ada', 'Runner bob'] });
  const rows = await service.get(TeamDatabase).query('SELECT player, changes FROM runners ORDER BY player');
  expect(rows).toMatchObject([{ changes: 2 }, { changes: 1 }]);
});
