// Real: the built service with its PostgreSQL and Redis, and the demo as a user runs it.
import { startStandalone } from '@laddercast/testing';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Entry {
  rank: number;
  playerId: string;
  score: number;
  achievedAt: string;
}
interface Page {
  total: number;
  boardVersion: number;
  entries: Entry[];
}

const fromRoot = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const SUBMISSIONS = '48,124';
const NATIONS = 259;
const GAMES = 24_062;

/** The table by another way than the demo's: every row's points added up, then sorted by what the contract says. */
async function tableOfFile(): Promise<{ team: string; points: number; lastRow: number }[]> {
  const text = await readFile(fromRoot('data/football-results-1872-1999.csv'), 'utf8');
  const points = new Map<string, number>();
  const lastRow = new Map<string, number>();
  text
    .trimEnd()
    .split('\n')
    .slice(1)
    .forEach((line, index) => {
      // The first five fields are never quoted in this file; only a city is.
      const [, home, away, homeGoals, awayGoals] = line.split(',') as [string, string, string, string, string];
      const difference = Number(homeGoals) - Number(awayGoals);
      for (const [team, lead] of [
        [home, difference],
        [away, -difference],
      ] as const) {
        const won = lead > 0 ? 3 : lead === 0 ? 1 : 0;
        if (won > 0 || !points.has(team)) lastRow.set(team, index + 1);
        points.set(team, (points.get(team) ?? 0) + won);
      }
    });
  return [...points]
    .map(([team, total]) => ({ team, points: total, lastRow: lastRow.get(team)! }))
    .sort(
      (a, b) =>
        b.points - a.points || a.lastRow - b.lastRow || Buffer.compare(Buffer.from(a.team), Buffer.from(b.team)),
    );
}

describe('npm run demo', () => {
  let service: Awaited<ReturnType<typeof startStandalone>>;

  beforeAll(async () => {
    service = await startStandalone();
  });
  afterAll(() => service?.stop());

  const demo = (...args: string[]) => demoWith(service.adminKey, ...args);

  function demoWith(key: string, ...args: string[]): Promise<{ code: number; output: string }> {
    const env = { ...process.env, LADDER_URL: service.url, LADDER_KEY: key };
    return new Promise((resolve) => {
      execFile(process.execPath, [fromRoot('tools/demo.mjs'), ...args], { env }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr });
      });
    });
  }

  async function board(id: string): Promise<Page> {
    const response = await fetch(`${service.url}/v1/boards/${id}/entries?limit=500`);
    expect(response.status).toBe(200);
    return (await response.json()) as Page;
  }

  async function pool(id: string): Promise<object> {
    return (await (await fetch(`${service.url}/v1/pools/${id}`)).json()) as object;
  }

  it('fills the board with the table of the file, points and order; a second run of the replay changes nothing', async () => {
    const first = await demo('--speed', 'max');
    expect(first.output).toMatch(/equals the table computed from the file/);
    expect(first.output).toContain(`${SUBMISSIONS} results counted, 0 had been counted before, 0 refused`);
    expect(first.code).toBe(0);

    const filled = await board('football');
    const expected = await tableOfFile();
    expect(expected).toHaveLength(NATIONS);
    expect(filled.total).toBe(NATIONS);
    expect(filled.entries.map(({ rank, playerId, score }) => ({ rank, team: playerId, points: score }))).toEqual(
      expected.map(({ team, points }, index) => ({ rank: index + 1, team, points })),
    );
    const id = /--replay (\S+)\)/.exec(first.output)![1]!;
    const startsAtMs = Number.parseInt(id.slice(1), 36);
    expect(filled.entries.map(({ achievedAt }) => Date.parse(achievedAt) - startsAtMs)).toEqual(
      expected.map(({ lastRow }) => lastRow),
    );

    expect(first.output).toContain(`equal World Football Elo computed from the file: ${NATIONS} nations`);
    const rated = await board('world-elo');
    expect(rated.total).toBe(NATIONS);
    // What one side gains the other loses.
    expect(rated.entries.reduce((sum, { score }) => sum + score, 0)).toBeCloseTo(NATIONS * 1500, 6);
    expect(await pool('world-elo')).toMatchObject({ games: GAMES, pending: 0, players: NATIONS });

    const second = await demo('--speed', 'max', '--replay', id);
    expect(second.output).toContain(`0 results counted, ${SUBMISSIONS} had been counted before, 0 refused`);
    expect(second.code).toBe(0);
    expect(await pool('world-elo')).toMatchObject({ games: GAMES });
    expect((await board('world-elo')).entries).toEqual(rated.entries);
    const after = await board('football');
    expect(after.entries).toEqual(filled.entries);
    expect(after.boardVersion).toBe(filled.boardVersion);
  }, 600_000);

  it('starts a new replay with an empty board, so that nothing is counted twice', async () => {
    const args = ['--board', 'demo-again', '--speed', 'max', '--limit', '500'];
    expect((await demo(...args)).code).toBe(0);
    const before = await board('demo-again');
    const again = await demo(...args);
    expect(again.output).toMatch(/was emptied/);
    expect(again.code).toBe(0);
    const shape = ({ entries }: Page) => entries.map(({ rank, playerId, score }) => [rank, playerId, score]);
    expect(shape(await board('demo-again'))).toEqual(shape(before));
  });

  it('ends with a failure, and says why, when the board shows something else', async () => {
    const replay = ['--board', 'demo-spoilt', '--speed', 'max', '--limit', '100'];
    const first = await demo(...replay);
    const id = /--replay (\S+)\)/.exec(first.output)![1]!;
    const response = await fetch(`${service.url}/v1/boards/demo-spoilt/scores`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json', prefer: 'wait=5' },
      body: JSON.stringify({ playerId: 'Scotland', score: 1000 }),
    });
    expect(response.status).toBe(200);
    const second = await demo(...replay, '--replay', id);
    expect(second.output).toMatch(/does not equal the table/);
    expect(second.output).toMatch(/ratings equal World Football Elo/);
    expect(second.code).toBe(1);
  });

  it('ends with a failure, and says whose rating it is, when a game is rated that the file does not have', async () => {
    const replay = ['--board', 'demo-more', '--speed', 'max', '--limit', '100'];
    const first = await demo(...replay);
    expect(first.code).toBe(0);
    const players = ['Scotland', 'England'].map((playerId, at) => ({ playerId, place: at + 1 }));
    const response = await fetch(`${service.url}/v1/games`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json', prefer: 'wait=5' },
      body: JSON.stringify({ pool: 'demo-more-elo', gameId: 'more', players }),
    });
    expect(response.status).toBe(200);
    const id = /--replay (\S+)\)/.exec(first.output)![1]!;
    const second = await demo(...replay, '--replay', id);
    expect(second.output).toMatch(/ratings do not equal World Football Elo/);
    expect(second.output).toMatch(/Scotland: the file says/);
    expect(second.code).toBe(1);
  });

  it('leaves a board alone that it did not make', async () => {
    const response = await fetch(`${service.url}/v1/boards/mine`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ order: 'asc', operator: 'best' }),
    });
    expect(response.status).toBe(201);
    const result = await demo('--board', 'mine', '--limit', '10');
    expect(result.output).toMatch(/left alone/);
    expect(result.code).toBe(1);
  });

  it('says in one message that there is no service, or that the key is wrong, without a stack', async () => {
    const away = await demo('--url', 'http://127.0.0.1:9', '--limit', '10');
    expect(away.output).toMatch(/no answer from .*\n.*npm start/);
    expect(away.output).not.toMatch(/ {4}at /);
    const stranger = await demoWith('not-a-key', '--board', 'of-a-stranger');
    expect(stranger.output).toMatch(/40[13]/);
    expect(stranger.output).not.toMatch(/ {4}at /);
    expect([away.code, stranger.code]).toEqual([1, 1]);
  });
});
