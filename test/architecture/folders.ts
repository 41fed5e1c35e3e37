import { posix } from 'node:path';
import { importsOf } from './imports.js';
import { isTest, type TextFile } from './source-tree.js';

/** What composes a lib sees all of its folders; nobody inside imports it. */
const COMPOSES = /^(index\.ts|[^/]+\.module\.ts|[^/]+\.providers\.ts)$/;

/** A folder of a lib, and one file in it with what it imports of another folder. */
interface Step {
  from: string;
  to: string;
  because: string;
}

/**
 * Circles among the folders of each lib, and of bench/: each as `a → b (file → file)` steps in one line. The files beside `index.ts` count as
 * one folder, `.`.
 */
export function folderCircles(files: readonly TextFile[]): string[] {
  const steps = stepsOf(files);
  const reached = new Map([...new Set(steps.map(({ from }) => from))].map((from) => [from, reachedFrom(from, steps)]));
  return steps
    .filter(({ from, to }) => reached.get(to)?.has(from))
    .map(({ from, to, because }) => `${from} → ${to} (${because})`);
}

function stepsOf(files: readonly TextFile[]): Step[] {
  const steps = new Map<string, Step>();
  for (const file of files) {
    const from = folderOf(file.path);
    if (from === null || isTest(file.path)) continue;
    for (const { specifier } of importsOf(file)) {
      if (!specifier.startsWith('.')) continue;
      const target = posix.normalize(posix.join(posix.dirname(file.path), specifier));
      const to = folderOf(target);
      if (to === null || to === from || libOf(to) !== libOf(from) || steps.has(`${from} ${to}`)) continue;
      steps.set(`${from} ${to}`, { from, to, because: `${posix.basename(file.path)} → ${posix.basename(target)}` });
    }
  }
  return [...steps.values()];
}

const libOf = (folder: string): string => folder.split('/')[0]!;

/**
 * `libs/ledger/src/lanes/lane-queue.ts` → `ledger/lanes`, `bench/load/wire.ts` → `bench/load`; null for what composes a lib or
 * the benchmark, and for what is in neither.
 */
function folderOf(path: string): string | null {
  const [, lib, inside] = /^libs\/([^/]+)\/src\/(.+)$/.exec(path) ?? /^(bench)\/(.+\/.+)$/.exec(path) ?? [];
  if (lib === undefined || inside === undefined || COMPOSES.test(inside.replace(/\.js$/, '.ts'))) return null;
  return `${lib}/${inside.includes('/') ? inside.split('/')[0] : '.'}`;
}

function reachedFrom(start: string, steps: readonly Step[]): Set<string> {
  const reached = new Set<string>();
  const open = [start];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const { from, to } of steps) {
      if (from !== folder || reached.has(to)) continue;
      reached.add(to);
      open.push(to);
    }
  }
  return reached;
}
