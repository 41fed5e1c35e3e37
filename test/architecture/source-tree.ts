import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** A file of the repository; `path` is relative to its top, with forward slashes. */
export interface TextFile {
  path: string;
  text: string;
}

export const repositoryRoot = fileURLToPath(new URL('../../', import.meta.url));

const NOT_SOURCE = new Set(['.git', '.data', 'node_modules', 'dist', 'coverage', '.env', 'vendor']);
const NOT_TEXT = /\.(png|jpe?g|gif|ico|woff2?|csv|log|tsbuildinfo)$/;

let everyFile: readonly TextFile[] | undefined;

/** Every text file that belongs to the repository, in a stable order; read once for all tests of a process. */
export function repositoryFiles(): readonly TextFile[] {
  return (everyFile ??= pathsUnder('').map(readRepositoryFile));
}

/** Has each file looked at once: to parse all of them takes seconds. */
export function oncePerFile<Result>(look: (file: TextFile) => Result): (file: TextFile) => Result {
  const known = new WeakMap<TextFile, { result: Result }>();
  return (file) => {
    const { result } = known.get(file) ?? { result: look(file) };
    known.set(file, { result });
    return result;
  };
}

export function readRepositoryFile(path: string): TextFile {
  return { path, text: readFileSync(join(repositoryRoot, path), 'utf8') };
}

function pathsUnder(folder: string): string[] {
  return readdirSync(join(repositoryRoot, folder), { withFileTypes: true })
    .filter((entry) => !NOT_SOURCE.has(entry.name) && !entry.isSymbolicLink())
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name).split(sep).join('/');
      if (entry.isDirectory()) return pathsUnder(path);
      return NOT_TEXT.test(entry.name) ? [] : [path];
    });
}

export const isTypeScript = ({ path }: TextFile): boolean => /\.tsx?$/.test(path);

export const isCode = ({ path }: TextFile): boolean => /\.(tsx?|mjs|js)$/.test(path);

/** Tests, and what only tests use: they may reach further than the code they look at. */
export function isTest(path: string): boolean {
  return /\.spec\.(ts|mjs)$/.test(path) || /^test\//.test(path) || /^(libs|clients)\/[^/]+\/test\//.test(path);
}

export function parse({ path, text }: TextFile): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

/** 1-based. */
export function lineOf(node: ts.Node): number {
  const source = node.getSourceFile();
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
}

/** Every node of a file, the file itself first. */
export function* nodesOf(node: ts.Node): Generator<ts.Node> {
  yield node;
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of children) yield* nodesOf(child);
}
