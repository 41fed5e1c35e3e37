import { LadderError, type BoardDefinition, type GivenOptions } from '@laddercast/domain';

/** The most boards of a template. */
export const TEMPLATE_BOARDS_MAX = 2000;

/** A board that a template names, with what it says of this one alone; its title is among the overrides. */
export interface NamedBoardOfTemplate {
  board: string;
  overrides: GivenOptions;
}

/** A template as it is stored. */
export interface BoardTemplate {
  id: string;
  /** It changes with every change, and never comes back; with a minus while the template is being deleted. */
  revision: number;
  /** As it was given: what it does not name has the default of boards. */
  definition: GivenOptions;
  boards: NamedBoardOfTemplate[];
}

/** What is to be put: each board also with the definition that it comes to where nothing was changed by hand. */
export interface GivenTemplate {
  definition: GivenOptions;
  boards: (NamedBoardOfTemplate & { definition: BoardDefinition })[];
}

/**
 * The definition that options come to, with all defaults.
 * @throws LadderError where they do not go together
 */
export type DefinitionMaker = (given: GivenOptions) => BoardDefinition;

/** What was done to a board, or what would be. `problem`: it was left as it was. */
export type TemplateResult =
  | { board: string; status: 'created' | 'updated' | 'unchanged' }
  | { board: string; status: 'problem'; problem: LadderError };

export interface TemplateOutcome {
  /** null where nothing was written. */
  revision: number | null;
  /** Whether the template is new. */
  created: boolean;
  /** In the order of the list. */
  results: TemplateResult[];
  /** Boards that the list names no longer: they stay as they are, and are of no template. */
  released: string[];
}

/** A template's entity tag; while it is being deleted still that, so that the same call can finish it. */
export const entityTagOfTemplate = ({ revision }: Pick<BoardTemplate, 'revision'>): string =>
  `"t${Math.abs(revision)}"`;

export const templateNotFound = (id: string): LadderError =>
  new LadderError('TEMPLATE_NOT_FOUND', `There is no board template "${id}".`);

/** Somebody else put or deleted the template while its boards were brought to it. */
export const templateChanged = (id: string): LadderError =>
  new LadderError(
    'PRECONDITION_FAILED',
    `Template "${id}" was put or deleted by somebody else meanwhile, and its boards follow that. Read it, and send yours again if it still holds.`,
  );
