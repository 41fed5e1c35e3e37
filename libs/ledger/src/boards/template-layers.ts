import { isDeepStrictEqual } from 'node:util';
import {
  withBoardDefaults,
  withoutNulls,
  type BoardDefinition,
  type GivenBoard,
  type GivenOptions,
} from '@laddercast/domain';

/**
 * What a board has of its template beside the template's definition. Over the definition lie the overrides, over these what
 * was changed by hand.
 */
export interface TemplateLink {
  /** The template's id. */
  id: string;
  /** What the template says of this board alone, its title among it. */
  overrides: GivenOptions;
  /** What was changed on the board itself, and differs from what the template says. */
  byHand: GivenOptions;
}

/** Options whose parts mean nothing without each other: they are replaced as a whole. */
const WHOLE: readonly string[] = ['sharding'];

/**
 * Lays options over others. Objects are merged part by part, everything else is replaced; a null stays, and means the
 * default.
 */
export const mergedOptions = (...layers: readonly GivenOptions[]): GivenOptions =>
  layers.reduce((under, over) => merged(under, over, WHOLE), {});

/** What options come to, with all defaults. Whether they go together is not looked at. */
export const definitionOfLayers = (...layers: readonly GivenOptions[]): BoardDefinition =>
  withBoardDefaults(withoutNulls(mergedOptions(...layers)) as GivenBoard);

/** What has to be laid over one set of options to make another of it; null where a name is gone. */
function optionsThatDiffer(from: GivenOptions, to: GivenOptions, whole: readonly string[] = WHOLE): GivenOptions {
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  const others = [...names].filter((name) => !isDeepStrictEqual(from[name], to[name]));
  return Object.fromEntries(
    others.map((name) => {
      const [before, after] = [from, to].map((options) => (Object.hasOwn(options, name) ? options[name] : undefined));
      const isInside = !whole.includes(name) && isPart(before) && isPart(after);
      return [name, isInside ? optionsThatDiffer(before, after, []) : (after ?? null)];
    }),
  );
}

/** The options but for those that others name. */
export function withoutNamed(
  options: GivenOptions,
  named: GivenOptions,
  whole: readonly string[] = WHOLE,
): GivenOptions {
  return Object.fromEntries(
    Object.entries(options).flatMap(([name, value]): [string, unknown][] => {
      if (!Object.hasOwn(named, name)) return [[name, value]];
      const other = named[name];
      if (whole.includes(name) || !isPart(value) || !isPart(other)) return [];
      const left = withoutNamed(value, other, []);
      return Object.keys(left).length > 0 ? [[name, left]] : [];
    }),
  );
}

/**
 * What is changed by hand once a board's definition was put: each option that was changed now or before, if it differs from
 * what the template says.
 * @param before what was changed by hand until now
 * @param said what the template says of the board
 */
export function changedByHand(
  before: GivenOptions,
  [from, to]: readonly [BoardDefinition, BoardDefinition],
  said: BoardDefinition,
): GivenOptions {
  const changed = differing(from, to);
  const others = differing(said, to);
  const own = namedByBoth(others, changed, { ...said });
  return mergedOptions(namedByBoth(withoutNamed(before, changed), others, { ...said }), own);
}

/** What has to be laid over one definition to make another. */
export const differing = (from: BoardDefinition, to: BoardDefinition): GivenOptions =>
  optionsThatDiffer({ ...from }, { ...to });

/** Those of the options that others name, too; a part that the template lacks is needed whole. */
function namedByBoth(options: GivenOptions, named: GivenOptions, template: GivenOptions): GivenOptions {
  return Object.fromEntries(
    Object.entries(options).flatMap(([name, value]): [string, unknown][] => {
      if (!Object.hasOwn(named, name)) return [];
      const [other, below] = [named[name], template[name]];
      if (WHOLE.includes(name) || !isPart(value) || !isPart(other) || !isPart(below)) return [[name, value]];
      const common = namedByBoth(value, other, below);
      return Object.keys(common).length > 0 ? [[name, common]] : [];
    }),
  );
}

function merged(under: GivenOptions, over: GivenOptions, whole: readonly string[]): GivenOptions {
  const result: Record<string, unknown> = { ...under };
  for (const [name, value] of Object.entries(over)) {
    const below = result[name];
    const isInside = !whole.includes(name) && isPart(value) && isPart(below);
    result[name] = isInside ? merged(below, value, []) : value;
  }
  return result;
}

const isPart = (value: unknown): value is GivenOptions =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
