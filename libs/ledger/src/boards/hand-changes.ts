import type { BoardDefinition, GivenOptions } from '@laddercast/domain';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import type { BoardRow } from './board-rows.js';
import { changedByHand, definitionOfLayers, type TemplateLink } from './template-layers.js';

/** Whoever puts the template anew meanwhile waits until the board is as it will be. */
const TEMPLATE_NOW = prepared('SELECT definition FROM board_templates WHERE template_id = $1 FOR SHARE');

/**
 * The link of a board to its template once its definition is put by hand: what differs from what the template says stays,
 * also when the template is put again. null for a board of no template.
 */
export async function linkAfterHand(
  transaction: SqlRunner,
  { template, definition: before }: BoardRow,
  definition: BoardDefinition,
): Promise<TemplateLink | null> {
  if (template === null) return null;
  const [row] = await transaction.query<{ definition: GivenOptions }>(TEMPLATE_NOW, [template.id]);
  if (!row) return null;
  const said = definitionOfLayers(row.definition, template.overrides);
  return { ...template, byHand: changedByHand(template.byHand, [before, definition], said) };
}
