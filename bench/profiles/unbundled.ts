import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapping } from 'node:module';
import { resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Frame, ProfileNode } from './profile-format.js';

const folder = `${sep}dist${sep}bundle${sep}`;
/** What the bundler writes before the code of each module. */
const moduleComment = /^\/\/ ((?:dist|node_modules)\/.+\.[cm]?js)$/;
/** Two functions of modules in one file cannot have one name: the bundler numbers them. */
const number = /\$\d+$/;

/**
 * A .cpuprofile of a bundled app, with its functions where they come from: own code with the line of its TypeScript, packages
 * with a line that is counted from where the module begins in the bundle (there are no maps of them). What is not of a bundle
 * stays as it is.
 */
export function unbundled<One extends { nodes: ProfileNode[] }>(profile: One): One {
  const files = new Map<string, Unbundle | null>();
  const fileOf = (url: string): Unbundle | null => {
    const known = files.get(url);
    if (known !== undefined) return known;
    const found = bundledFile(url);
    files.set(url, found);
    return found;
  };
  const nodes = profile.nodes.map((node) => {
    const file = fileOf(node.callFrame.url);
    return file === null ? node : { ...node, callFrame: file(node.callFrame) };
  });
  return { ...profile, nodes };
}

/** Where a function of a bundled file comes from. */
type Unbundle = (frame: Frame) => Frame;

function bundledFile(url: string): Unbundle | null {
  if (!url.startsWith('file:')) return null;
  const path = fileURLToPath(url);
  const at = path.lastIndexOf(folder);
  if (at === -1 || !existsSync(path)) return null;
  const root = path.slice(0, at);
  const modules = modulesOf(readFileSync(path, 'utf8'));
  const map = existsSync(`${path}.map`) ? new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8'))) : null;
  return ({ functionName, lineNumber, columnNumber = 0 }) => {
    const name = functionName.replace(number, '');
    const module = modules.findLast(({ line }) => line <= lineNumber);
    if (module === undefined) return { functionName: name, url, lineNumber };
    // An empty object where the map says nothing.
    const entry: Partial<SourceMapping> =
      (module.place.startsWith('dist/') && map?.findEntry(lineNumber, columnNumber)) || {};
    if (entry.originalSource === undefined || entry.originalLine === undefined) {
      return {
        functionName: name,
        url: pathToFileURL(resolve(root, module.place)).href,
        lineNumber: lineNumber - module.line,
      };
    }
    const source = resolve(path, '..', entry.originalSource);
    return { functionName: name, url: pathToFileURL(source).href, lineNumber: entry.originalLine };
  };
}

function modulesOf(text: string): { line: number; place: string }[] {
  return text.split('\n').flatMap((words, line) => {
    const [, place] = moduleComment.exec(words) ?? [];
    return place === undefined ? [] : [{ line, place }];
  });
}
