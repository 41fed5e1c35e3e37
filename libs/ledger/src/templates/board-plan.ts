import { isDeepStrictEqual } from 'node:util';
import { LadderError, type BoardDefinition, type GivenOptions } from '@laddercast/domain';
import type { BoardRow } from '../boards/board-rows.js';
import { differing, mergedOptions, withoutNamed, type TemplateLink } from '../boards/template-layers.js';
import type { DefinitionMaker, GivenTemplate } from './board-template.js';

/** What is to be done to a board, so that it is as its template says. */
export interface BoardPlan {
  /**
   * `join`: it has this definition, and becomes one of the template; `link`: only what is remembered of its overrides is
   * another.
   */
  step: 'create' | 'update' | 'join' | 'link' | 'nothing';
  definition: BoardDefinition;
  link: TemplateLink;
}

type Board = Pick<BoardRow, 'definition' | 'template'>;

/**
 * What is to be done to a board that a template names.
 * @param current the live board of that id
 * @throws BOARD_NOT_OF_TEMPLATE, and what `make` throws of the template together with what was changed by hand
 */
export function planOf(
  id: string,
  { definition: ofAll }: Pick<GivenTemplate, 'definition'>,
  { board, overrides, definition: said }: GivenTemplate['boards'][number],
  current: Board | undefined,
  make: DefinitionMaker,
): BoardPlan {
  if (!current?.template) {
    const plan = { definition: said, link: { id, overrides, byHand: {} } };
    if (!current) return { step: 'create', ...plan };
    if (isDeepStrictEqual(current.definition, said)) return { step: 'join', ...plan };
    throw notOfTemplate(id, board, current.definition, said);
  }
  if (current.template.id !== id) throw ofAnother(id, board, current.template.id);
  const byHand = withoutNamed(current.template.byHand, overrides);
  const isAsSaid = Object.keys(byHand).length === 0;
  const definition = isAsSaid ? said : made(mergedOptions(ofAll, overrides, byHand), Object.keys(byHand), make);
  const link = { id, overrides, byHand };
  const step = stepFrom(current, definition, link);
  return { step, definition, link };
}

/** Whether a stored template was not brought to a board yet; what was changed by hand since then does not count. */
export function isLeft(
  id: string,
  { definition: ofAll }: Pick<GivenTemplate, 'definition'>,
  { overrides, definition: said }: GivenTemplate['boards'][number],
  current: Board | undefined,
  make: DefinitionMaker,
): boolean {
  if (!current) return true;
  if (!current.template) return isDeepStrictEqual(current.definition, said);
  if (current.template.id !== id) return false;
  if (!isDeepStrictEqual(current.template.overrides, overrides)) return true;
  const { byHand } = current.template;
  try {
    const isAsSaid = Object.keys(byHand).length === 0;
    return !isDeepStrictEqual(current.definition, isAsSaid ? said : make(mergedOptions(ofAll, overrides, byHand)));
  } catch (error) {
    if (error instanceof LadderError) return false;
    throw error;
  }
}

/** What was changed by hand may not go with the template as it is now. */
function made(given: GivenOptions, byHand: readonly string[], make: DefinitionMaker): BoardDefinition {
  try {
    return make(given);
  } catch (error) {
    if (!(error instanceof LadderError)) throw error;
    const detail = `${error.detail} So it is with ${byHand.join(', ')} as changed by hand on the board: name these in its overrides, or put the board as the template has it.`;
    throw new LadderError(error.code, detail, error.extensions, { cause: error });
  }
}

function stepFrom(current: Board, definition: BoardDefinition, link: TemplateLink): BoardPlan['step'] {
  if (!isDeepStrictEqual(current.definition, definition)) return 'update';
  return isDeepStrictEqual(current.template, link) ? 'nothing' : 'link';
}

function notOfTemplate(id: string, board: string, has: BoardDefinition, said: BoardDefinition): LadderError {
  const options = Object.keys(differing(said, has));
  return new LadderError(
    'BOARD_NOT_OF_TEMPLATE',
    `Board "${board}" exists, and is of no template. It differs in ${options.join(', ')}: give template "${id}" these as overrides of the board, change the board, or name another.`,
    { differing: options },
  );
}

const ofAnother = (id: string, board: string, other: string): LadderError =>
  new LadderError(
    'BOARD_NOT_OF_TEMPLATE',
    `Board "${board}" is of template "${other}": take it out of that one before it becomes one of "${id}".`,
  );
