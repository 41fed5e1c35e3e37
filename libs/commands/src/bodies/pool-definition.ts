import {
  LadderError,
  ratingPoolOf,
  validationFailed,
  type RatingAlgorithm,
  type RatingPoolDefinition,
} from '@laddercast/domain';
import type { PoolDefinition } from '@laddercast/ledger';
import { checkedDefinition, definitionObject, withoutNulls } from './definition-body.js';
import { PoolDefinitionDto } from './pool-definition-dto.js';

/** Algorithms that pools do not rate by yet: this one needs periods. */
const UNBUILT_ALGORITHMS: readonly string[] = ['fide'];

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
  const plain = JSON.parse(JSON.stringify(dto)) as RatingPoolDefinition;
  const offered = algorithms.filter(({ name }) => !UNBUILT_ALGORITHMS.includes(name));
  const pool = ratingPoolOf(plain, offered);
  const { parameters, update, sides, results, provisional, rankable } = pool;
  if (update !== 'per-game') throw notBuilt('update');
  return {
    ...{ title, algorithm, parameters: parameters as Record<string, unknown>, update },
    ...{ sides, results, provisional, rankable, visibility },
  };
}

/** What the contract promises and is not built is never stored and ignored. */
function refuseUnbuilt({ algorithm, board, boards, periods, onVoid }: Record<string, unknown>): void {
  if (board != null || (Array.isArray(boards) && boards.length > 0)) throw notBuilt('boards');
  if (periods != null) throw notBuilt('periods');
  if (onVoid === 'refund' || onVoid === 'keep') throw notBuilt('onVoid');
  if (UNBUILT_ALGORITHMS.includes(algorithm as string)) throw notBuilt('algorithm', String(algorithm));
}

function notBuilt(option: string, what = option): LadderError {
  return new LadderError('NOT_SUPPORTED', `Not built yet: ${what}. Leave it out, or take another.`, { option });
}
