import { setTimeout as sleep } from 'node:timers/promises';
import { call } from './call.js';
import type { FaultInstallation } from './installation.js';

/** Boards of each operator and layout: what one of them hides, another shows. */
export const FAULT_BOARDS = {
  // Counted twice, a run shows in its player's total.
  'faults-sum': { order: 'desc', operator: 'sum', sharding: { by: 'hash', count: 2 } },
  'faults-best': { order: 'desc', operator: 'best', windows: ['alltime', 'daily'] },
  'faults-latest': { order: 'asc', operator: 'latest', columns: [{ name: 'moves', order: 'asc' }] },
  // Totals that grow cross from shard to shard; how many there are of each is counted, too.
  'faults-range': { order: 'desc', operator: 'sum', dense: true, sharding: { by: 'range', boundaries: [200, 1000] } },
} as const;

export type FaultBoard = keyof typeof FAULT_BOARDS;

export const ALL_BOARDS = Object.keys(FAULT_BOARDS) as FaultBoard[];

/** A season that runs when the boards are made, and ends while they are written; later runs count elsewhere alone. */
export const SEASON = { board: 'faults-best', id: 'season:early', runsMs: 10_000 } as const;

const KNOWN_WITHIN_MS = 30_000;

/**
 * Makes the boards, and waits until every api and gateway knows them.
 * @returns when {@link SEASON} ends
 */
export async function makeBoards(installation: FaultInstallation, boards: readonly FaultBoard[]): Promise<number> {
  const key = installation.adminKey;
  let seasonEndsAtMs = Infinity;
  // The board of the season is the last: somebody has to play in it before it ends.
  const inOrder = [...boards].sort((one, other) => Number(one === SEASON.board) - Number(other === SEASON.board));
  for (const board of inOrder) {
    const body: Record<string, unknown> = { ...FAULT_BOARDS[board], push: { intervalMs: 100, top: 100 } };
    if (board === SEASON.board) {
      seasonEndsAtMs = Date.now() + SEASON.runsMs;
      const endsAt = new Date(seasonEndsAtMs).toISOString();
      const season = { season: 'early', startsAt: '2026-01-01T00:00:00Z', endsAt };
      Object.assign(body, { windows: [...FAULT_BOARDS[board].windows, season], graceSeconds: 0 });
    }
    const { status, body: answer } = await call(`${installation.apis[0]!.url}/v1/boards/${board}`, {
      method: 'PUT',
      key,
      body,
    });
    if (status !== 201) throw new Error(`the board ${board} was not made: ${status} ${JSON.stringify(answer)}`);
  }
  const endsAtMs = Date.now() + KNOWN_WITHIN_MS;
  for (const board of boards) {
    for (const { url } of installation.apis) {
      while ((await call(`${url}/v1/boards/${board}`, { key })).status !== 200) {
        if (Date.now() > endsAtMs) throw new Error(`${url} does not know ${board} after ${KNOWN_WITHIN_MS} ms`);
        await sleep(50);
      }
    }
  }
  return seasonEndsAtMs;
}
