import { Problem } from '../problem.mjs';
import { achievements, patches, players } from './patch-runs.mjs';

const CALLS_AT_ONCE = 16;

export const FAMILY = 'demo-eu4';
const PER_PATCH = 0.1;

/** Makes the family with its first patches, or finds it as an earlier run of the demo left it. */
export async function prepareFamily(client) {
  for (const { patch, ...rest } of patches) {
    await client.call('PUT', pathOfPatch(patch), { family: FAMILY, ...rest });
  }
  return readPatches(client);
}

/** The published patches of the family, in their order, each with `behind`. */
export async function readPatches(client) {
  const { body } = await client.call('GET', `/v1/patches?family=${FAMILY}`);
  return body.patches.filter(({ status }) => status !== 'scheduled');
}

/** Publishes a patch now. */
export async function publish(client, patch) {
  await client.call('PUT', pathOfPatch(patch), { family: FAMILY });
}

/** The patch that comes after all there are: 1.32 after 1.31. */
export function patchAfter(known) {
  const minors = known.map(({ patch }) => Number(/^1\.(\d+)/.exec(patch)?.[1] ?? 0));
  return `1.${Math.max(...minors) + 1}`;
}

/** All boards in one: they differ in their titles. */
const template = {
  definition: {
    ...{ order: 'asc', operator: 'best', tiebreak: 'earliest', windows: ['alltime'] },
    ...{ limits: { scoreMin: 1 }, decay: { family: FAMILY, perPatch: PER_PATCH } },
    ...{ format: { kind: 'number', decimals: 0, unit: 'd' }, push: { intervalMs: 250, top: 100 } },
  },
  boards: achievements.map(({ board, title }) => ({ board, title })),
};

/**
 * Makes the board of each achievement, by one template.
 * @returns whether all were made just now, and so are empty
 * @throws Problem when a board is there that the demo did not make; then none is made
 */
export async function prepareBoards(client) {
  const path = `/v1/board-templates/${FAMILY}`;
  const { results } = (await client.call('PUT', `${path}?dryRun`, template)).body;
  const strange = results.find(({ status }) => status === 'problem');
  if (strange) {
    const { board, problem } = strange;
    throw new Problem(`The board "${board}" is not as this demo makes it, so it is left alone. ${problem.detail}`);
  }
  await client.call('PUT', path, template);
  return results.every(({ status }) => status === 'created');
}

/** Tells the service the names of the players. Doing it again changes nothing. */
export async function preparePlayers(client) {
  let next = 0;
  const worker = async () => {
    while (next < players.length) {
      const { playerId, displayName } = players[next++];
      await client.call('PUT', `/v1/players/${playerId}`, { displayName });
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, worker));
}

/** What tax a board shows, and which is on its way. */
export async function readTax(client, board) {
  const { body } = await client.call('GET', `${pathOfBoard(board)}/entries?limit=1`);
  return body.decay;
}

const pathOfBoard = (board) => `/v1/boards/${encodeURIComponent(board)}`;
const pathOfPatch = (patch) => `/v1/patches/${encodeURIComponent(patch)}?family=${FAMILY}`;
