import type { TextFile } from './source-tree.js';

/** What ties a file to one machine or one network: the next person has neither. */
const TRACES: [what: string, pattern: RegExp][] = [
  ['a package registry', /\bregistry\.(npmjs|yarnpkg)\.(org|com)\b/],
  ['a package registry', /\b(pypi\.org|files\.pythonhosted\.org|repo1?\.maven(\.apache)?\.org|proxy\.golang\.org)\b/],
  ['a mirror', /https?:\/\/[^\s"'`]*\b(registry|mirror|artifactory|nexus|npm|pypi)\b[^\s"'`]*/],
  ['a path of one machine', /(?<![\w.$}/-])\/(work|home|root|Users)\/[\w.]/],
];

/** What in a file would only be right where it was written. */
export function machineTraces({ path, text }: TextFile): string[] {
  return text.split('\n').flatMap((line, index) => {
    const trace = TRACES.find(([, pattern]) => pattern.test(line));
    return trace ? [`${path}:${index + 1} names ${trace[0]}: ${trace[1].exec(line)![0]}`] : [];
  });
}

/** Packages of a lock file that name the address they were downloaded from. */
export function resolvedAddresses(lockFile: string): string[] {
  const { packages } = JSON.parse(lockFile) as { packages: Record<string, { resolved?: string; link?: boolean }> };
  return Object.entries(packages)
    .filter(([, { resolved, link }]) => resolved !== undefined && !link)
    .map(([name, { resolved }]) => `${name} → ${resolved}`);
}
