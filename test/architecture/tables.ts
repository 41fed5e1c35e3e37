import ts from 'typescript';
import { lineOf, nodesOf, parse, type TextFile } from './source-tree.js';

/** What SQL in a file reads or writes: a table by its name, or a name that is put together at run time. */
export interface TableUse {
  line: number;
  /** null: the name is put together. */
  table: string | null;
}

const BEFORE_A_TABLE = String.raw`\b(?:FROM|JOIN|INTO|UPDATE|USING|TABLE|ONLY|TRUNCATE)\s+"?`;
const SQL = new RegExp(BEFORE_A_TABLE);
const NAMES_LATER = new RegExp(`${BEFORE_A_TABLE}$`);

/** The tables that migrations make, by the names that they have in the end; partitions belong to theirs. */
export function tablesMade(migrations: readonly TextFile[]): string[] {
  const upwards = migrations.map(({ text }) => text.split(/\bdown\(/)[0]!);
  const named = new Map(
    upwards.flatMap((text) =>
      [...text.matchAll(/\bALTER TABLE (\w+) RENAME TO (\w+)/g)].map(([, from, to]) => [from!, to!] as const),
    ),
  );
  const made = upwards.flatMap((text) =>
    [...text.matchAll(/\bCREATE TABLE (\w+)\b(?! PARTITION OF)/g)].map(([, table]) => table!),
  );
  return made.map((table) => named.get(table) ?? table);
}

/** Every place where a string of the file names one of the tables as SQL does, or leaves the name open. */
export function tableUses(file: TextFile, tables: readonly string[]): TableUse[] {
  if (!SQL.test(file.text)) return [];
  const named = new RegExp(String.raw`${BEFORE_A_TABLE}(${tables.join('|')})\b`, 'g');
  return [...nodesOf(parse(file))].flatMap((node) => {
    const text = textOf(node);
    if (text === null) return [];
    const line = lineOf(node);
    const uses: TableUse[] = [...text.matchAll(named)].map(([, table]) => ({ line, table: table! }));
    const goesOn = ts.isTemplateHead(node) || ts.isTemplateMiddle(node);
    return goesOn && NAMES_LATER.test(text) ? [...uses, { line, table: null }] : uses;
  });
}

function textOf(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
    return node.text;
  }
  return null;
}
