import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Where a process spent its time, from a .cpuprofile: the time of each function without those that it calls.
 * @param keyOf names what is counted together, of `{ functionName, url, lineNumber }`
 * @returns `{ busyMs, idleMs, rows: [{ name, ms, part }] }`, most first; `part` is of the busy time
 */
export function selfTimes({ nodes, samples, timeDeltas }, keyOf) {
  const keys = new Map(nodes.map(({ id, callFrame }) => [id, keyOf(callFrame)]));
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id));
  const micros = new Map();
  let [busy, idleFor] = [0, 0];
  samples.forEach((id, index) => {
    // The first interval is from the start of the profile to the first sample: each sample stands for the time after it.
    const time = timeDeltas[index + 1] ?? 0;
    if (idle.has(id)) return void (idleFor += time);
    busy += time;
    micros.set(keys.get(id), (micros.get(keys.get(id)) ?? 0) + time);
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
  (root) =>
  ({ functionName, url, lineNumber }) =>
    url === '' ? functionName : `${functionName || '(anonymous)'} ${placeOf(url, root)}:${lineNumber + 1}`;

/** The package, lib or part of node that a function belongs to. */
export const packageOf =
  (root) =>
  ({ functionName, url }) => {
    if (url === '') return functionName.startsWith('(') ? functionName : '(native)';
    const place = placeOf(url, root);
    const [, name] = /^((?:@[^/]+\/)?[^/]+)\//.exec(innermost(place) ?? '') ?? [];
    if (name !== undefined) return name;
    const [, part] = /^(?:dist\/)?((?:libs|apps)\/[^/]+)\//.exec(place) ?? [];
    return part ?? place.replace(/^(node:[^/]+).*/, '$1');
  };

/** The path inside the innermost node_modules; null outside of them. */
function innermost(path) {
  const at = path.lastIndexOf('node_modules/');
  return at === -1 ? null : path.slice(at + 'node_modules/'.length);
}

function placeOf(url, root) {
  if (url.startsWith('node:')) return url;
  const path = url.startsWith('file:') ? fileURLToPath(url) : url;
  const inside = innermost(path);
  return inside === null ? relative(root, path) : `node_modules/${inside}`;
}
