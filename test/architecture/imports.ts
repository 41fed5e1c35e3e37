import ts from 'typescript';
import { lineOf, nodesOf, oncePerFile, parse } from './source-tree.js';

/** One place where a file names another module. */
export interface Import {
  /** The path of the importing file. */
  from: string;
  line: number;
  specifier: string;
  /** Nothing of it is left when the types are gone. */
  typeOnly: boolean;
}

/** All imports of a file: `import`, `export … from`, `import type`, `import(…)` as a call and as a type, `require`. */
export const importsOf = oncePerFile((file): readonly Import[] =>
  [...nodesOf(parse(file))].flatMap((node) => {
    const found = importAt(node);
    return found ? [{ from: file.path, line: lineOf(node), ...found }] : [];
  }),
);

type Found = Pick<Import, 'specifier' | 'typeOnly'>;

function importAt(node: ts.Node): Found | null {
  if (ts.isImportDeclaration(node)) return found(node.moduleSpecifier, isTypeOnlyClause(node.importClause));
  if (ts.isExportDeclaration(node)) {
    return node.moduleSpecifier ? found(node.moduleSpecifier, isTypeOnlyExport(node)) : null;
  }
  if (ts.isImportTypeNode(node)) {
    return ts.isLiteralTypeNode(node.argument) ? found(node.argument.literal, true) : null;
  }
  if (ts.isExternalModuleReference(node)) return found(node.expression, false);
  if (ts.isCallExpression(node)) {
    const isImport = node.expression.kind === ts.SyntaxKind.ImportKeyword;
    const isRequire = ts.isIdentifier(node.expression) && node.expression.text === 'require';
    return isImport || isRequire ? found(node.arguments[0], false) : null;
  }
  return null;
}

/** What is computed at run time cannot be judged and is left out. */
function found(specifier: ts.Node | undefined, typeOnly: boolean): Found | null {
  return specifier && ts.isStringLiteralLike(specifier) ? { specifier: specifier.text, typeOnly } : null;
}

function isTypeOnlyClause(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const { namedBindings } = clause;
  if (clause.name || !namedBindings || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.length > 0 && namedBindings.elements.every((element) => element.isTypeOnly);
}

function isTypeOnlyExport(node: ts.ExportDeclaration): boolean {
  if (node.isTypeOnly) return true;
  const { exportClause } = node;
  return (
    exportClause !== undefined &&
    ts.isNamedExports(exportClause) &&
    exportClause.elements.length > 0 &&
    exportClause.elements.every((element) => element.isTypeOnly)
  );
}

/** The package behind a bare specifier (`@nestjs/common`, `ajv`); null for relative ones and for Node's own modules. */
export function packageOf(specifier: string): string | null {
  if (specifier.startsWith('.') || specifier.startsWith('/') || specifier.startsWith('node:')) return null;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
