/** Functions of libs/leaderboard/src/process/start-app.ts and of Nest; each begins the phase that is named beside. */
const beginnings = [
  ['startApp', 'settings and tracing'],
  ['createApp', 'modules and providers'],
  ['init', 'connections, migrations, catalogues'],
  ['startAllMicroservices', 'sagas begin'],
  ['listen', 'ports open'],
];

/**
 * Where the time of a start goes, by a CPU profile of it (Chrome DevTools Protocol, `Profiler.Profile`).
 * @param profile with functions where they come from, see `unbundled`
 * @param {{ madeAtMs: number, readyAtMs: number }} when the process was made and answered that it is ready, by the clock that
 *   the profile has, too: that of `process.hrtime`
 * @returns `{ phases, busiest }`: the phases in order with their time and how much of it nothing ran; and what took most CPU
 *   until ready, by package or folder
 */
export function phasesOf(profile, { madeAtMs, readyAtMs }) {
  const samples = timedSamples(profile);
  const began = new Map();
  for (const { ms, stack } of samples) {
    for (const [name] of beginnings) if (!began.has(name) && stack.has(name)) began.set(name, ms);
  }
  const beganAtMs = profile.startTime / 1000;
  const marks = [
    ['Node itself', 0],
    ['imports', 0],
    ...beginnings.flatMap(([name, phase]) => (began.has(name) ? [[phase, began.get(name)]] : [])),
  ];
  const readyMs = readyAtMs - beganAtMs;
  const phases = marks.map(([name, from], at) => {
    const to = name === 'Node itself' ? 0 : (marks[at + 1]?.[1] ?? readyMs);
    const within = samples.filter(({ ms }) => ms >= from && ms < to);
    const idleMs = within.filter(({ place }) => place === '(idle)').reduce((sum, { tookMs }) => sum + tookMs, 0);
    return { name, ms: name === 'Node itself' ? beganAtMs - madeAtMs : to - from, idleMs };
  });
  return { phases, busiest: busiestOf(samples.filter(({ ms }) => ms <= readyMs)) };
}

function timedSamples({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parentOf = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const stacks = new Map();
  const stackOf = (id) => {
    if (!stacks.has(id)) {
      const names = new Set();
      for (let at = id; at !== undefined; at = parentOf.get(at)) {
        const { functionName, url } = byId.get(at).callFrame;
        if (isOurStart(functionName, url)) names.add(functionName);
      }
      stacks.set(id, names);
    }
    return stacks.get(id);
  };
  let ms = 0;
  return samples.map((id, at) => {
    const tookMs = timeDeltas[at] / 1000;
    ms += tookMs;
    return { ms, tookMs, stack: stackOf(id), place: placeOf(byId.get(id).callFrame) };
  });
}

/** Other things are called `init` and `listen`, too. */
const isOurStart = (name, url) =>
  url.includes('/start-app.') ||
  (url.includes('/@nestjs/') &&
    ['init', 'startAllMicroservices', 'listen'].includes(name) &&
    /nest-application/.test(url));

/** The package, the lib or app, or the part of Node that a function is of. */
function placeOf({ functionName, url }) {
  const [, ofPackage] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (ofPackage) return ofPackage;
  const [, own] = /\/((?:libs|apps)\/[^/]+)\/src\//.exec(url) ?? [];
  if (own) return own;
  if (url.startsWith('node:')) return url.split('/').slice(0, 3).join('/');
  return functionName.startsWith('(') ? functionName : 'Node, native';
}

function busiestOf(samples) {
  const ms = new Map();
  for (const { place, tookMs } of samples) {
    if (place !== '(idle)') ms.set(place, (ms.get(place) ?? 0) + tookMs);
  }
  return [...ms].map(([name, took]) => ({ name, ms: took })).sort((a, b) => b.ms - a.ms);
}
