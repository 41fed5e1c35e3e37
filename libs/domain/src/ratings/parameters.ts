import { escapePointer, LadderError, validationFailed, type Fault } from '../errors.js';

interface NumberRule {
  readonly kind: 'number';
  readonly default: number | null;
  readonly min: number;
  readonly max: number;
  /** The least itself is too little. */
  readonly isMinExcluded?: boolean;
  readonly isInteger?: boolean;
  /** null is an answer, too. */
  readonly isNullable?: boolean;
}

interface ChoiceRule {
  readonly kind: 'choice';
  readonly default: string;
  readonly oneOf: readonly string[];
  /** Values that others offer and we do not, each with the reason: 422, not 400. */
  readonly refused?: Readonly<Record<string, string>>;
}

/** A parameter that others offer and we do not: 422, not 400. */
interface RefusedRule {
  readonly kind: 'refused';
  readonly reason: string;
}

interface FlagRule {
  readonly kind: 'flag';
  readonly default: boolean;
}

/** A value with a check of its own. */
interface OwnRule {
  readonly kind: 'own';
  readonly default: unknown;
  /** What it may be, in words. */
  readonly says: string;
  faultsOf(value: unknown, pointer: string): Fault[];
}

/** What one parameter of an algorithm may be, and what it is where nothing is said. */
export type ParameterRule = NumberRule | ChoiceRule | FlagRule | OwnRule | RefusedRule;

/** The parameters of an algorithm by their names: the only description of them, for checks, schemas and pages. */
export type ParameterRules = Readonly<Record<string, ParameterRule>>;

/**
 * The given parameters, with defaults for those that were left out.
 * @throws VALIDATION_FAILED with a fault for each that is wrong or unknown, under `/parameters`
 * @throws NOT_SUPPORTED for what others offer and we do not
 */
export function checkedParameters<Parameters extends object>(
  rules: ParameterRules,
  given: Readonly<Record<string, unknown>>,
  faultsBetween: (parameters: Parameters) => Fault[] = () => [],
): Parameters {
  const offered = Object.entries(rules).filter(([, rule]) => rule.kind !== 'refused');
  const known = offered.map(([name]) => name).join(', ');
  const faults: Fault[] = [];
  for (const [name, value] of Object.entries(given)) {
    const rule = Object.hasOwn(rules, name) ? rules[name]! : null;
    const pointer = pointerTo(escapePointer(name));
    if (rule === null) faults.push({ pointer, message: `must not be there; known: ${known}` });
    else refuseWhatIsNotOffered(rule, value, pointer);
  }
  const parameters: Record<string, unknown> = {};
  for (const [name, rule] of offered as [string, Exclude<ParameterRule, RefusedRule>][]) {
    const value = given[name] === undefined ? rule.default : given[name];
    faults.push(...faultsOfParameter(rule, value, pointerTo(name)));
    parameters[name] = value;
  }
  if (faults.length === 0) faults.push(...faultsBetween(parameters as Parameters));
  if (faults.length > 0) throw validationFailed(faults);
  return parameters as Parameters;
}

/** Where a parameter stands in the definition of a pool. */
export const pointerTo = (name: string): string => `/parameters/${name}`;

/** What is wrong with a number, as faults of a request. */
export function faultsOfNumber(rule: Omit<NumberRule, 'kind' | 'default'>, value: unknown, pointer: string): Fault[] {
  const { min, max, isMinExcluded, isInteger, isNullable } = rule;
  if (value === null && isNullable) return [];
  const isInside = typeof value === 'number' && value <= max && (isMinExcluded ? value > min : value >= min);
  if (isInside && (!isInteger || Number.isInteger(value))) return [];
  const kind = isInteger ? 'a whole number' : 'a number';
  const range = isMinExcluded ? `above ${min} and at most ${max}` : `from ${min} to ${max}`;
  return [{ pointer, message: `must be ${kind} ${range}${isNullable ? ', or null' : ''}` }];
}

function refuseWhatIsNotOffered(rule: ParameterRule, value: unknown, pointer: string): void {
  const reason =
    rule.kind === 'refused' ? rule.reason : rule.kind === 'choice' ? reasonAgainst(rule, String(value)) : null;
  if (reason) throw new LadderError('NOT_SUPPORTED', `${pointer}: ${reason}`);
}

const reasonAgainst = ({ refused = {} }: ChoiceRule, value: string): string | null =>
  Object.hasOwn(refused, value) ? refused[value]! : null;

function faultsOfParameter(rule: Exclude<ParameterRule, RefusedRule>, value: unknown, pointer: string): Fault[] {
  switch (rule.kind) {
    case 'number':
      return faultsOfNumber(rule, value, pointer);
    case 'choice':
      return rule.oneOf.includes(value as string)
        ? []
        : [{ pointer, message: `must be one of ${rule.oneOf.join(', ')}` }];
    case 'flag':
      return typeof value === 'boolean' ? [] : [{ pointer, message: 'must be true or false' }];
    case 'own':
      return rule.faultsOf(value, pointer);
  }
}
