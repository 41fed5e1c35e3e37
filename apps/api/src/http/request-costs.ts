import { BATCH_MAX, GAMES_BATCH_MAX } from '@laddercast/commands';
import { PREDICTION_SIDES_MAX, SPLIT_PLAYERS_MAX } from '@laddercast/domain';
import type { FastifyRequest } from 'fastify';
import { BOARDS_DEFAULT, LOOKUPS_MAX, PAGE_MAX } from './parameters.js';

/** Routes that may take many items at once. */
export const BATCH_ROUTES: readonly string[] = ['/v1/scores', '/v1/games'];
/** What a read of one player costs is what this many cost that are read together. */
const READ_FOR_ONE = 25;

/** What it takes to predict grows with the pairs: so many sides, or players to be split, are computed as fast as all else is. */
const SIDES_FOR_ONE = 20;
const SPLIT_FOR_ONE = 2.5;

type Asked = Pick<FastifyRequest, 'query' | 'body'>;
/** How many boards a template has. */
type BoardsOfTemplate = (template: string) => number;

/** Routes that cost more than one request by what they ask for, and how much. */
const COSTS: Readonly<Record<string, (request: Asked, boardsOf: BoardsOfTemplate) => number>> = {
  '/v1/scores': ({ body }) => lengthOf(body, 'submissions', BATCH_MAX),
  '/v1/games': ({ body }) => lengthOf(body, 'games', GAMES_BATCH_MAX),
  '/v1/boards/:board/lookups': ({ body }) => lengthOf(body, 'playerIds', LOOKUPS_MAX) / READ_FOR_ONE,
  '/v1/pools/:pool/lookups': ({ body }) => lengthOf(body, 'playerIds', LOOKUPS_MAX) / READ_FOR_ONE,
  '/v1/pools/:pool/predictions': ({ body }) =>
    lengthOf(body, 'sides', PREDICTION_SIDES_MAX) ** 2 / SIDES_FOR_ONE ** 2 +
    lengthOf(body, 'players', SPLIT_PLAYERS_MAX) ** 2 / SPLIT_FOR_ONE ** 2,
  '/v1/players/:player/standings': ({ query }, boardsOf) => {
    const { limit, template } = query as { limit?: unknown; template?: unknown };
    const most = typeof template === 'string' ? boardsOf(template) : PAGE_MAX;
    const boards = limit === undefined ? (template === undefined ? BOARDS_DEFAULT : most) : Number(limit);
    return Number.isNaN(boards) ? 1 : Math.min(most, boards) / READ_FOR_ONE;
  },
};

/** Whether it is counted as a whole, or not at all. */
export const isBatch = ({ routeOptions }: FastifyRequest): boolean => BATCH_ROUTES.includes(routeOptions.url ?? '');

/** How many requests a request counts as, at least 1; whether it can be answered is not looked at. */
export function costOf(request: FastifyRequest, boardsOf: BoardsOfTemplate): number {
  const cost = COSTS[request.routeOptions.url ?? '']?.(request, boardsOf) ?? 1;
  return Math.max(1, Math.ceil(cost));
}

/** How many there are; what is no list, or too long, is refused later. */
function lengthOf(body: unknown, field: string, most: number): number {
  const list = ((body ?? {}) as Record<string, unknown>)[field];
  return Array.isArray(list) ? Math.min(most, list.length) : 1;
}
