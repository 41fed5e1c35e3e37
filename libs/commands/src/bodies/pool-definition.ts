import {
  FED_COLUMNS,
  ratingPoolOf,
  validationFailed,
  withoutNulls,
  type Fault,
  type RatingAlgorithm,
  type RatingPool,
  type RatingPoolDefinition,
} from '@laddercast/domain';
import type { NamedBoard, PoolDefinition } from '@laddercast/ledger';
import { checkedDefinition, definitionObject } from './definition-body.js';
import { FED_BOARDS_MAX, PoolDefinitionDto } from './pool-definition-dto.js';

/**
 * The definition behind a body, with all defaults.
 * @param poolId the only `id` that the body may carry
 * @param algorithms all that this process has
 * @throws VALIDATION_FAILED with every fault; ALGORITHM_UNKNOWN naming the known; NOT_SUPPORTED for what others offer and
 * we do not
 */
export function parsePoolDefinition(
  body: unknown,
  poolId: string,
  algorithms: readonly RatingAlgorithm[],
): PoolDefinition {
  const options = definitionObject(body, namesBoards(body) ? /^\/boards\/\d+\/columns$/ : null);
  const { parameters } = options;
  // null may be the value of a parameter.
  const given = { ...withoutNulls(options), ...(parameters != null && { parameters }) };
  const { dto, faults } = checkedDefinition(PoolDefinitionDto, given);
  if (faults.length === 0 && dto.id !== undefined && dto.id !== poolId) {
    faults.push({ pointer: '/id', message: 'must be the id of the path, or absent' });
  }
  if (faults.length > 0) throw validationFailed(faults);
  return definitionOf(dto, algorithms);
}

const namesBoards = (body: unknown): boolean =>
  Array.isArray((body as { boards?: unknown } | null | undefined)?.boards);

function definitionOf(dto: PoolDefinitionDto, algorithms: readonly RatingAlgorithm[]): PoolDefinition {
  const { algorithm, title = null, onVoid = 'recompute', history, visibility = 'public' } = dto;
  const boards = boardsOf(dto);
  const plain = JSON.parse(JSON.stringify(dto)) as RatingPoolDefinition;
  const pool = ratingPoolOf(plain, algorithms);
  refuseSides(pool);
  const { parameters, update, periods, sides, results, provisional, rankable } = pool;
  refuseBoards(dto, boards.length, pool);
  return {
    ...{ title, algorithm, parameters: parameters as Record<string, unknown>, update, periods },
    ...{ sides, results, provisional, rankable, onVoid, boards, visibility },
    history: { keepDays: history?.keepDays ?? null },
  };
}

/** `board` is short for one of the value rating; it comes last, so that pointers to the others stay right. */
function boardsOf({ board, boards = [] }: PoolDefinitionDto): NamedBoard[] {
  const named = boards.map(({ board: id, value, columns = {} }) => ({ board: id, value, columns }));
  return board === undefined || named.some((one) => one.board === board)
    ? named
    : [...named, { board, value: 'rating', columns: {} }];
}

/**
 * Refuses sides of which the algorithm takes none: no game would fit both.
 * @throws VALIDATION_FAILED
 */
function refuseSides({ algorithm, parameters, sides: { min } }: RatingPool): void {
  const { sides } = algorithm.limits(parameters);
  if (sides === null || min <= sides) return;
  const message = `must be at most ${sides}: ${algorithm.name} takes no more sides`;
  throw validationFailed([{ pointer: '/sides/min', message }]);
}

/**
 * @param count how many boards are named, the short form among them
 * @throws VALIDATION_FAILED
 */
function refuseBoards({ boards = [] }: PoolDefinitionDto, count: number, { algorithm }: RatingPool): void {
  const faults = boards.flatMap(({ board, columns = {} }, index): Fault[] => {
    const pointer = `/boards/${index}`;
    const isNamedBefore = boards.findIndex((one) => one.board === board) < index;
    const unknown = Object.entries(columns).filter(([, column]) => !FED_COLUMNS.includes(column));
    const isWithoutDeviation = !algorithm.hasDeviation && Object.values(columns).includes('deviation');
    return [
      ...(isNamedBefore ? [{ pointer: `${pointer}/board`, message: 'must not be named twice' }] : []),
      ...unknown.map(([name]) => ({
        pointer: `${pointer}/columns/${name}`,
        message: `must be one of ${FED_COLUMNS.join(', ')}`,
      })),
      ...(isWithoutDeviation
        ? [{ pointer: `${pointer}/columns`, message: `must not name deviation: ${algorithm.name} knows none` }]
        : []),
    ];
  });
  if (count > FED_BOARDS_MAX) {
    faults.push({ pointer: '/board', message: `must not be there: a pool feeds ${FED_BOARDS_MAX} boards at most` });
  }
  if (faults.length > 0) throw validationFailed(faults);
}
