import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import type { BoardTemplate } from './board-template.js';

const COLUMNS = 'template_id AS id, revision, definition, boards';
const TEMPLATE = prepared(`SELECT ${COLUMNS} FROM board_templates WHERE template_id = $1`);
const TEMPLATE_TO_CHANGE = prepared(`SELECT ${COLUMNS} FROM board_templates WHERE template_id = $1 FOR UPDATE`);
const REVISION_TO_KEEP = prepared('SELECT revision FROM board_templates WHERE template_id = $1 FOR SHARE');

export async function findTemplate(runner: SqlRunner, id: string): Promise<BoardTemplate | undefined> {
  return (await runner.query<BoardTemplate>(TEMPLATE, [id]))[0];
}

/** The template, which nobody else changes until the transaction ends; it waits for boards that are being brought to it. */
export async function templateToChange(transaction: SqlRunner, id: string): Promise<BoardTemplate | undefined> {
  return (await transaction.query<BoardTemplate>(TEMPLATE_TO_CHANGE, [id]))[0];
}

/** The revision of the template, which stays until the transaction ends; undefined: it is gone. */
export async function revisionToKeep(transaction: SqlRunner, id: string): Promise<number | undefined> {
  return (await transaction.query<{ revision: number }>(REVISION_TO_KEEP, [id]))[0]?.revision;
}

export type TemplateContent = Pick<BoardTemplate, 'definition' | 'boards'>;

/** The revision of a new template; undefined where somebody else made it a moment ago. */
export async function insertTemplate(
  transaction: SqlRunner,
  id: string,
  { definition, boards }: TemplateContent,
): Promise<number | undefined> {
  const [row] = await transaction.query<{ revision: number }>(
    `INSERT INTO board_templates (template_id, definition, boards) VALUES ($1, $2, $3)
     ON CONFLICT (template_id) DO NOTHING RETURNING revision`,
    [id, JSON.stringify(definition), JSON.stringify(boards)],
  );
  return row?.revision;
}

/** The new revision of a template that this transaction may change. */
export async function changeTemplate(
  transaction: SqlRunner,
  id: string,
  { definition, boards }: TemplateContent,
): Promise<number> {
  const [row] = await transaction.query<{ revision: number }>(
    `UPDATE board_templates SET definition = $2, boards = $3, revision = nextval('board_template_revisions')
     WHERE template_id = $1 RETURNING revision`,
    [id, JSON.stringify(definition), JSON.stringify(boards)],
  );
  return row!.revision;
}

/** The revision of a template that is being deleted from now on, or was already. */
export async function beginDeletion(transaction: SqlRunner, id: string): Promise<number> {
  const [row] = await transaction.query<{ revision: number }>(
    'UPDATE board_templates SET revision = -abs(revision) WHERE template_id = $1 RETURNING revision',
    [id],
  );
  return row!.revision;
}

/** Whether the template was still there at that revision, and is not any more. */
export async function deleteTemplate(transaction: SqlRunner, id: string, revision: number): Promise<boolean> {
  const rows = await transaction.query(
    'DELETE FROM board_templates WHERE template_id = $1 AND revision = $2 RETURNING 1 AS deleted',
    [id, revision],
  );
  return rows.length > 0;
}

/** A template in a list of them. */
export type ListedTemplate = Pick<BoardTemplate, 'id' | 'definition'> & { boardCount: number };

/** Templates by id, after a given one. */
export const listTemplates = (runner: SqlRunner, after: string, limit: number): Promise<ListedTemplate[]> =>
  runner.query<ListedTemplate>(
    `SELECT template_id AS id, definition, jsonb_array_length(boards) AS "boardCount" FROM board_templates
     WHERE template_id > $1 ORDER BY template_id LIMIT $2`,
    [after, limit],
  );
