import {
  FED_COLUMNS,
  LadderError,
  ratingPoolOf,
  validationFailed,
  type Fault,
  type RatingAlgorithm,
  type RatingPool,
  type RatingPoolDefinition,
} from '@laddercast/domain';
import type { NamedBoard, PoolDefinition } from '@laddercast/ledger';
import { checkedDefinition, definitionObject, withoutNulls } from './definition-body.js';
import { PoolDefinitionDto } from './pool-definition-dto.js';

/**
 * The definition behind a body, with all defaults.
 * @param poolId the only `id` that the body may carry
 * @param algorithms all that this process has
 * @throws NOT_SUPPORTED for options of the contract that are not built yet; VALIDATION_FAILED with every fault;
 * ALGORITHM_UNKNOWN naming the known
 */
export function parsePoolDefinition(
  body: unknown,
  poolId: string,
  algorithms: readonly RatingAlgorithm[],
): PoolDefinition {
  const options = definitionObject(body);
  refuseUnbuilt(options);
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

function definitionOf(dto: PoolDefinitionDto, algorithms: readonly RatingAlgorithm[]): PoolDefinition {
  const { algorithm, title = null, visibility = 'public' } = dto;
  const boards = boardsOf(dto);
  const plain = JSON.parse(JSON.stringify(dto)) as RatingPoolDefinition;
  const pool = ratingPoolOf(plain, algorithms);
  const { parameters, update, periods, sides, results, provisional, rankable } = pool;
  refuseBoards(boards, pool);
  return {
    ...{ title, algorithm, parameters: parameters as Record<string, unknown>, update, periods },
    ...{ sides, results, provisional, rankable, boards, visibility },
  };
}

/** `board` is short for one of the value rating. */
function boardsOf({ board, boards = [] }: PoolDefinitionDto): NamedBoard[] {
  const named = boards.map(({ board: id, value, columns = {} }) => ({ board: id, value, columns }));
  return board === undefined || named.some((one) => one.board === board)
    ? named
    : [{ board, value: 'rating', columns: {} }, ...named];
}

/** @throws VALIDATION_FAILED */
function refuseBoards(boards: readonly NamedBoard[], { algorithm }: RatingPool): void {
  const faults = boards.flatMap(({ board, columns }, index): Fault[] => {
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
  if (faults.length > 0) throw validationFailed(faults);
}

/** What the contract promises and is not built is never stored and ignored. */
function refuseUnbuilt({ onVoid }: Record<string, unknown>): void {
  if (onVoid === 'refund' || onVoid === 'keep') throw notBuilt('onVoid');
}

function notBuilt(option: string): LadderError {
  return new LadderError('NOT_SUPPORTED', `Not built yet: ${option}. Leave it out, or take another.`, { option });
}
