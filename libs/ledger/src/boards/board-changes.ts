import { isDeepStrictEqual } from 'node:util';
import { LadderError, nameOfSpec, wantsDense, type BoardDefinition, type Layout } from '@laddercast/domain';
import { keptAfterEndMs } from '../entries/entry-rows.js';

/** Options that decide which entries there are, and their order. */
const ORDERING_OPTIONS = [
  'order',
  'operator',
  'tiebreak',
  'columns',
  'entriesPer',
  'entriesPerPlayerMax',
  'decay',
] as const;
/** Options that the stored data depend on; a later release may change some of them in the background. */
const LAYOUT_OPTIONS = ['submitters', 'keepEndedSeconds'] as const;
/** Options that hold from the next window on. */
const WINDOW_OPTIONS = ['windows', 'timeZone'] as const;
/** Options for which every running entry is written anew. */
const SCOPE_OPTIONS = ['scopes', 'guildAggregate'] as const;

const differing = <Option extends keyof BoardDefinition>(
  options: readonly Option[],
  a: BoardDefinition,
  b: BoardDefinition,
): Option[] => options.filter((option) => !isDeepStrictEqual(a[option], b[option]));

export const differsInWindows = (from: BoardDefinition, to: BoardDefinition): boolean =>
  differing(WINDOW_OPTIONS, from, to).length > 0;

export const differsInScopes = (from: BoardDefinition, to: BoardDefinition): boolean =>
  differing(SCOPE_OPTIONS, from, to).length > 0;

/** Whether lists are kept as the definition asks. */
export const fitsLayout = (
  { sharding, dense }: Pick<Layout, 'sharding' | 'dense'>,
  definition: Pick<BoardDefinition, 'sharding' | 'dense' | 'rankStyle'>,
): boolean => dense === wantsDense(definition) && isDeepStrictEqual(sharding, definition.sharding);

/** Windows without end have no next one: they come and go only while the board is empty. */
function endlessWindowsDiffering(from: BoardDefinition, to: BoardDefinition): string[] {
  const endless = (definition: BoardDefinition): string[] =>
    definition.windows.map(nameOfSpec).filter((name) => name === 'alltime' || name.startsWith('rolling:'));
  const [before, after] = [endless(from), endless(to)];
  const removed = before.filter((name) => !after.includes(name));
  // A rolling window fills itself; one over all time would lack what came before it.
  return [...removed, ...after.filter((name) => name === 'alltime' && !before.includes(name))];
}

/**
 * A rolling window loses its hours, and what came before runs were kept stands in one sum: so such a board keeps runs from
 * its first one on.
 */
const beginsRunsOfRolling = (from: BoardDefinition, to: BoardDefinition): boolean =>
  from.runs === null && to.runs !== null && to.windows.some((window) => nameOfSpec(window).startsWith('rolling:'));

/** The projection has dropped ended windows by the old definition, and does not bring them back. */
const keepsLonger = (from: BoardDefinition, to: BoardDefinition): boolean => keptAfterEndMs(to) > keptAfterEndMs(from);

/** Whether a board that has entries may take the new definition. */
export function keepsEntries(from: BoardDefinition, to: BoardDefinition): boolean {
  const differs = differing([...ORDERING_OPTIONS, ...LAYOUT_OPTIONS], from, to).length > 0;
  const isInPlace = !differs && !keepsLonger(from, to) && !beginsRunsOfRolling(from, to);
  return isInPlace && endlessWindowsDiffering(from, to).length === 0;
}

export function refusalOfChange(from: BoardDefinition, to: BoardDefinition): LadderError {
  const remedy = 'cannot change while the board has entries: reset it first, or make another board.';
  const ordering = differing(ORDERING_OPTIONS, from, to);
  if (ordering.length > 0) return new LadderError('BOARD_NOT_EMPTY', `${ordering.join(', ')} ${remedy}`);
  const endless = endlessWindowsDiffering(from, to);
  if (endless.length > 0) {
    return new LadderError('BOARD_NOT_EMPTY', `The windows ${endless.join(', ')}, which have no end, ${remedy}`);
  }
  if (beginsRunsOfRolling(from, to)) {
    return new LadderError('BOARD_NOT_EMPTY', `runs of a board with a rolling window ${remedy}`);
  }
  const layout: string[] = differing(LAYOUT_OPTIONS, from, to);
  if (layout.length === 0) layout.push('graceSeconds beyond keepEndedSeconds');
  return new LadderError(
    'NOT_SUPPORTED',
    `${layout.join(', ')} of a board with entries cannot be changed yet: reset it first, or make another board.`,
    { option: layout[0] },
  );
}
