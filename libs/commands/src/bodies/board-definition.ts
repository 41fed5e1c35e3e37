import {
  canKeepDense,
  faultOfPerPatch,
  faultOfTimeZone,
  isCleanText,
  LadderError,
  nameOfSpec,
  rollingHours,
  RUNS_KEEP_DAYS,
  validationFailed,
  wantsDense,
  withBoardDefaults,
  withoutNulls,
  type BoardDefinition,
  type Fault,
  type GivenBoard,
} from '@laddercast/domain';
import { BoardDefinitionDto, type ShardingDto } from './board-definition-dto.js';
import { checkedDefinition, definitionObject } from './definition-body.js';
import { faultsOfScopes, faultsOfWindows } from './window-options.js';

/**
 * The definition behind a body, with all defaults.
 * @param boardId the only `id` that the body may carry; without it the body takes none
 * @param template the only `template`, in the same way
 * @throws NOT_SUPPORTED for options that do not go together; VALIDATION_FAILED with every fault;
 * RANK_STYLE_NOT_KEPT for dense ranks over several hash shards
 */
export function parseBoardDefinition(body: unknown, boardId?: string, template?: string): BoardDefinition {
  const options = definitionObject(body, /^\/limits\/columns$/);
  assertBuilt(options);
  const { dto, faults } = checkedDefinition(BoardDefinitionDto, withoutNulls(options));
  faults.push(...crossFaults(dto, faults.length === 0, { id: boardId, template }));
  if (faults.length > 0) throw validationFailed(faults);
  assertOperatorsFit(dto);
  assertRunsAreKept(dto);
  assertEntriesPerRunFits(dto);
  assertDecayFits(dto);
  const definition = withBoardDefaults(
    JSON.parse(JSON.stringify({ ...dto, id: undefined, template: undefined })) as GivenBoard,
  );
  assertDenseCanBeKept(definition);
  return definition;
}

/** Options of the contract that this service does not have yet. */
const NOT_BUILT = ['archive', 'participation', 'tags', 'cohorts', 'league', 'tiers', 'rewards'];

/** @throws NOT_SUPPORTED */
function assertBuilt(options: Record<string, unknown>): void {
  const windows: unknown = options['windows'];
  const hasGaps =
    Array.isArray(windows) && windows.some((one: { durationSeconds?: unknown } | null) => one?.durationSeconds != null);
  const option = NOT_BUILT.find((name) => options[name] != null) ?? (hasGaps ? 'windows.durationSeconds' : undefined);
  if (option === undefined) return;
  throw new LadderError('NOT_SUPPORTED', `${option} is not built yet: leave it out.`, { option });
}

/** @throws NOT_SUPPORTED */
function assertOperatorsFit({ operator, submissionOperators }: BoardDefinitionDto): void {
  if (operator === 'sum' || submissionOperators == null) return;
  const detail = `submissionOperators are of sum boards alone, and this one is ${operator}. Leave them out.`;
  throw new LadderError('NOT_SUPPORTED', detail, { option: 'submissionOperators' });
}

/** @throws RUNS_NOT_KEPT */
function assertRunsAreKept({ runs, entriesPer, proof, counts, integrity }: BoardDefinitionDto): void {
  if (runs != null) return;
  const asked = {
    entriesPer: entriesPer === 'run',
    proof: proof === 'everyone',
    counts: counts === 'verified',
    integrity: integrity != null,
  };
  const option = Object.entries(asked).find(([, isAsked]) => isAsked)?.[0];
  if (option === undefined) return;
  const detail = `${option} is of boards that keep runs: put "runs": { "keepDays": 90 }, or leave ${option} out.`;
  throw new LadderError('RUNS_NOT_KEPT', detail, { option });
}

/** What does not go with an entry for each run. @throws NOT_SUPPORTED */
function assertEntriesPerRunFits(dto: BoardDefinitionDto): void {
  if (dto.entriesPer !== 'run') {
    if (dto.entriesPerPlayerMax == null) return;
    const detail = 'entriesPerPlayerMax goes with "entriesPer": "run", and only with it.';
    throw new LadderError('NOT_SUPPORTED', detail, { option: 'entriesPerPlayerMax' });
  }
  const asked: [option: string, isAsked: boolean, remedy: string][] = [
    ['operator', dto.operator !== 'best', 'must be "best"'],
    [
      'scopes',
      dto.scopes?.includes('guild') ?? false,
      'must not have "guild": a guild adds up one score for each member',
    ],
    ['history', dto.history != null, 'must be left out: it records one score for each player'],
    ['change', dto.change === true, 'must be left out: it compares one entry of each player'],
    ['windows', dto.windows?.some(isRolling) ?? false, 'must not have a rolling one'],
    ['limits.entryLifetimeSeconds', dto.limits?.entryLifetimeSeconds != null, 'must be left out: a run is not renewed'],
  ];
  const fault = asked.find(([, isAsked]) => isAsked);
  if (!fault) return;
  throw new LadderError('NOT_SUPPORTED', `Where each run is an entry, ${fault[0]} ${fault[2]}.`, { option: fault[0] });
}

/** What a tax does not go with. @throws DECAY_NEEDS_POSITIVE_SCORES, NOT_SUPPORTED */
function assertDecayFits(dto: BoardDefinitionDto): void {
  if (dto.decay == null) return;
  const limits = dto.limits ?? {};
  const asked: [option: string, isAsked: boolean, remedy: string][] = [
    ['operator', dto.operator !== 'best', 'must be "best"'],
    ['windows', dto.windows?.some(isRolling) ?? false, 'must not have a rolling one'],
    [
      'scopes',
      dto.scopes?.includes('guild') ?? false,
      'must not have "guild": its totals would change with each patch',
    ],
    ['entriesPer', dto.entriesPer === 'run', 'must be "player": an entry is made of runs of several patches'],
    ['history', dto.history != null, 'must be left out: it would record scores under different taxes'],
    ['change', dto.change === true, 'must be left out: yesterday may have had another tax'],
    ['limits.entriesMax', limits.entriesMax != null, 'must be left out: what is trimmed under one tax may come back'],
    ['limits.entryLifetimeSeconds', limits.entryLifetimeSeconds != null, 'must be left out: a run of each patch stays'],
  ];
  const fault = asked.find(([, isAsked]) => isAsked);
  if (fault) throw new LadderError('NOT_SUPPORTED', `With decay, ${fault[0]} ${fault[2]}.`, { option: fault[0] });
  if (limits.scoreMin != null && limits.scoreMin >= 0) return;
  const detail = 'Put "limits": { "scoreMin": 0 }, or more: of a negative score a tax is a gift.';
  throw new LadderError('DECAY_NEEDS_POSITIVE_SCORES', detail, { option: 'limits.scoreMin' });
}

const isRolling = (window: object | string): boolean => typeof window === 'object' && 'rolling' in window;

/** @throws RANK_STYLE_NOT_KEPT */
function assertDenseCanBeKept(definition: BoardDefinition): void {
  if (!wantsDense(definition) || canKeepDense(definition.sharding)) return;
  const detail =
    'Dense ranks need all entries of a score in one shard: take one hash shard or sharding by range, or leave dense out.';
  throw new LadderError('RANK_STYLE_NOT_KEPT', detail);
}

/** Hash shards have a count, range shards have boundaries. */
function faultsOfSharding({ by, count, boundaries }: ShardingDto): Fault[] {
  const [own, other] = by === 'hash' ? (['count', 'boundaries'] as const) : (['boundaries', 'count'] as const);
  const given = { count, boundaries };
  const faults: Fault[] = [];
  if (given[own] == null) faults.push({ pointer: `/sharding/${own}`, message: 'is required' });
  if (given[other] != null) faults.push({ pointer: `/sharding/${other}`, message: `does not go with "${by}"` });
  if (boundaries?.some((score, at) => at > 0 && !(score > boundaries[at - 1]!))) {
    faults.push({ pointer: '/sharding/boundaries', message: 'must ascend, each greater than the one before' });
  }
  return faults;
}

function faultsOfColumnLimits({ columns, limits }: BoardDefinitionDto): Fault[] {
  const known = new Set((columns ?? []).map(({ name }) => name));
  return Object.entries(limits?.columns ?? {}).flatMap(([name, { min, max }]): Fault[] => {
    const pointer = `/limits/columns/${name}`;
    if (!known.has(name)) return [{ pointer, message: 'is no column of this board' }];
    return min != null && max != null && min > max ? [{ pointer, message: 'min must not be above max' }] : [];
  });
}

/** A run that still counts in a rolling window is kept. */
function faultsOfRuns({ runs, windows }: BoardDefinitionDto): Fault[] {
  if (runs == null || windows === undefined || faultsOfWindows(windows).length > 0) return [];
  const rolling = windows.filter((window) => typeof window === 'object' && 'rolling' in window).map(nameOfSpec);
  const daysMin = Math.ceil(Math.max(0, ...rolling.map(rollingHours)) / 24) + 1;
  if ((runs.keepDays ?? RUNS_KEEP_DAYS) >= daysMin) return [];
  return [{ pointer: '/runs/keepDays', message: `must be at least ${daysMin}: the longest rolling window, and a day` }];
}

/** Rules between fields. */
function crossFaults(
  dto: BoardDefinitionDto,
  fieldsAreFine: boolean,
  board: { id: string | undefined; template: string | undefined },
): Fault[] {
  if (!fieldsAreFine) return [];
  const faults: Fault[] = [];
  if (dto.id !== undefined && dto.id !== board.id) {
    faults.push({ pointer: '/id', message: 'must be the id of the path, or absent' });
  }
  if (dto.template !== undefined && dto.template !== board.template) {
    faults.push({ pointer: '/template', message: 'must be the template that the board is of, or absent' });
  }
  const { scoreMin, scoreMax } = dto.limits ?? {};
  if (scoreMin != null && scoreMax != null && scoreMin > scoreMax) {
    faults.push({ pointer: '/limits/scoreMin', message: 'must not be above scoreMax' });
  }
  faults.push(...faultsOfColumnLimits(dto));
  if (dto.operator === 'sum' && dto.limits?.entriesMax != null) {
    faults.push({ pointer: '/limits/entriesMax', message: 'a sum board keeps every entry: a total goes on growing' });
  }
  if (dto.operator === 'sum' && dto.integrity?.jump != null) {
    faults.push({ pointer: '/integrity/jump', message: 'a sum board has increments, of which a large one is no jump' });
  }
  if (dto.submissionOperators != null && !dto.submissionOperators.includes('sum')) {
    faults.push({ pointer: '/submissionOperators', message: 'must have "sum": a sum board takes increments' });
  }
  if (dto.operator === 'sum' && (dto.columns?.length ?? 0) > 0) {
    faults.push({ pointer: '/columns', message: 'a sum board takes no extra columns' });
  }
  if (dto.sharding) faults.push(...faultsOfSharding(dto.sharding));
  faults.push(...faultsOfWindows(dto.windows ?? []), ...(dto.scopes ? faultsOfScopes(dto.scopes) : []));
  faults.push(...faultsOfRuns(dto));
  const taxFault = dto.decay == null ? null : faultOfPerPatch(dto.decay.perPatch);
  if (taxFault) faults.push({ pointer: '/decay/perPatch', message: taxFault });
  const zoneFault = dto.timeZone === undefined ? null : faultOfTimeZone(dto.timeZone);
  if (zoneFault) faults.push({ pointer: '/timeZone', message: zoneFault });
  const { kind, k } = dto.guildAggregate ?? {};
  if ((kind === 'top') !== (k != null)) {
    faults.push({ pointer: '/guildAggregate/k', message: 'goes with the kind "top", and only with it' });
  }
  for (const [pointer, text] of [
    ['/title', dto.title],
    ['/format/unit', dto.format?.unit],
  ] as const) {
    if (text != null && !isCleanText(text))
      faults.push({ pointer, message: 'must not hold control characters or lone surrogates' });
  }
  return faults;
}
