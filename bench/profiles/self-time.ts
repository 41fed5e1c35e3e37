import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Frame, Profile } from './profile-format.js';

export interface SelfTimes {
  busyMs: number;
  idleMs: number;
  /** Most first; `part` is of the busy time. */
  rows: { name: string; ms: number; part: number }[];
}

/**
 * Where a process spent its time, from a .cpuprofile: the time of each function without those that it calls.
 * @param keyOf names what is counted together
 */
export function selfTimes(
  { nodes, samples, timeDeltas }: Pick<Profile, 'nodes' | 'samples' | 'timeDeltas'>,
  keyOf: (frame: Frame) => string,
): SelfTimes {
  const keys = new Map(nodes.map(({ id, callFrame }) => [id, keyOf(callFrame)]));
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id));
  const micros = new Map<string, number>();
  let [busy, idleFor] = [0, 0];
  samples.forEach((id, index) => {
    // The first interval is from the start of the profile to the first sample: each sample stands for the time after it.
    const time = timeDeltas[index + 1] ?? 0;
    if (idle.has(id)) return void (idleFor += time);
    busy += time;
    const key = keys.get(id);
    if (key === undefined) throw new Error(`The profile has a sample of node ${id}, which it does not have.`);
    micros.set(key, (micros.get(key) ?? 0) + time);
  });
  const rows = [...micros].sort(([, one], [, other]) => other - one);
  return {
    busyMs: busy / 1000,
    idleMs: idleFor / 1000,
    rows: rows.map(([name, time]) => ({ name, ms: time / 1000, part: time / busy })),
  };
}

/** One function, with where it stands: `name file:line`. */
export const functionOf =
  (root: string) =>
  ({ functionName, url, lineNumber }: Frame): string =>
    url === '' ? functionName : `${functionName || '(anonymous)'} ${placeOf(url, root)}:${lineNumber + 1}`;

/** The package, lib or part of node that a function belongs to. */
export const packageOf =
  (root: string) =>
  ({ functionName, url }: Frame): string => {
    if (url === '') return functionName.startsWith('(') ? functionName : '(native)';
    const place = placeOf(url, root);
    const [, name] = /^((?:@[^/]+\/)?[^/]+)\//.exec(innermost(place) ?? '') ?? [];
    if (name !== undefined) return name;
    const [, part] = /^(?:dist\/)?((?:libs|apps)\/[^/]+)\//.exec(place) ?? [];
    return part ?? place.replace(/^(node:[^/]+).*/, '$1');
  };

/** The path inside the innermost node_modules; null outside of them. */
function innermost(path: string): string | null {
  const at = path.lastIndexOf('node_modules/');
  return at === -1 ? null : path.slice(at + 'node_modules/'.length);
}

function placeOf(url: string, root: string): string {
  if (url.startsWith('node:')) return url;
  const path = url.startsWith('file:') ? fileURLToPath(url) : url;
  const inside = innermost(path);
  return inside === null ? relative(root, path) : `node_modules/${inside}`;
}
