import { parseBoardDefinition, type BoardDefinitionDto } from '@laddercast/commands';
import { faultOfNamedId, type BoardDefinition } from '@laddercast/domain';

/** A board that a module brings along. */
export interface DefinedBoard {
  id: string;
  definition: BoardDefinition;
}

/**
 * Checks a board's definition when the module is loaded: the fields are those of `PUT /v1/boards/{board}`.
 * @throws LadderError VALIDATION_FAILED, NOT_SUPPORTED
 */
export function defineBoard({ id, ...definition }: { id: string } & BoardDefinitionDto): DefinedBoard {
  const fault = faultOfNamedId(id);
  if (fault) throw new Error(`defineBoard: the id "${id}" ${fault}.`);
  return { id, definition: parseBoardDefinition(definition) };
}
