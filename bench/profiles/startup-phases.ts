import type { Frame, Profile } from './profile-format.js';

export interface StartupPhases {
  /** In order, each with its time and how much of it nothing ran. */
  phases: { name: string; ms: number; idleMs: number }[];
  /** What took most CPU until ready, by package or folder. */
  busiest: { name: string; ms: number }[];
}

/** Functions of libs/leaderboard/src/process/start-app.ts and of Nest; each begins the phase that is named beside. */
const beginnings: readonly [name: string, phase: string][] = [
  ['startApp', 'settings and tracing'],
  ['createApp', 'modules and providers'],
  ['init', 'connections, migrations, catalogues'],
  ['startAllMicroservices', 'sagas begin'],
  ['listen', 'ports open'],
];

/**
 * Where the time of a start goes, by a CPU profile of it (Chrome DevTools Protocol, `Profiler.Profile`).
 * @param profile with functions where they come from, see `unbundled`
 * @param when the process was made and answered that it is ready, by the clock that the profile has, too: that of
 *   `process.hrtime`
 */
export function phasesOf(profile: Profile, when: { madeAtMs: number; readyAtMs: number }): StartupPhases {
  const { madeAtMs, readyAtMs } = when;
  const samples = timedSamples(profile);
  const began = new Map<string, number>();
  for (const { ms, stack } of samples) {
    for (const [name] of beginnings) if (!began.has(name) && stack.has(name)) began.set(name, ms);
  }
  const beganAtMs = profile.startTime / 1000;
  const marks: [name: string, fromMs: number][] = [
    ['Node itself', 0],
    ['imports', 0],
    ...beginnings.flatMap(([name, phase]): [string, number][] => {
      const at = began.get(name);
      return at === undefined ? [] : [[phase, at]];
    }),
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

interface Sample {
  /** From the start of the profile to its end. */
  ms: number;
  tookMs: number;
  /** Which of our functions were running. */
  stack: ReadonlySet<string>;
  place: string;
}

function timedSamples({ nodes, samples, timeDeltas }: Profile): Sample[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parentOf = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child): [number, number] => [child, id])),
  );
  const stacks = new Map<number, ReadonlySet<string>>();
  const frameOf = (id: number): Frame => {
    const node = byId.get(id);
    if (node === undefined) throw new Error(`The profile names node ${id}, which it does not have.`);
    return node.callFrame;
  };
  const stackOf = (id: number): ReadonlySet<string> => {
    const known = stacks.get(id);
    if (known !== undefined) return known;
    const names = new Set<string>();
    for (let at: number | undefined = id; at !== undefined; at = parentOf.get(at)) {
      const { functionName, url } = frameOf(at);
      if (isOurStart(functionName, url)) names.add(functionName);
    }
    stacks.set(id, names);
    return names;
  };
  let ms = 0;
  return samples.map((id, at) => {
    const tookMs = timeDeltas[at]! / 1000;
    ms += tookMs;
    return { ms, tookMs, stack: stackOf(id), place: placeOf(frameOf(id)) };
  });
}

/** Other things are called `init` and `listen`, too. */
const isOurStart = (name: string, url: string): boolean =>
  url.includes('/start-app.') ||
  (url.includes('/@nestjs/') &&
    ['init', 'startAllMicroservices', 'listen'].includes(name) &&
    /nest-application/.test(url));

/** The package, the lib or app, or the part of Node that a function is of. */
function placeOf({ functionName, url }: Frame): string {
  const [, ofPackage] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (ofPackage) return ofPackage;
  const [, own] = /\/((?:libs|apps)\/[^/]+)\/src\//.exec(url) ?? [];
  if (own) return own;
  if (url.startsWith('node:')) return url.split('/').slice(0, 3).join('/');
  return functionName.startsWith('(') ? functionName : 'Node, native';
}

function busiestOf(samples: readonly Sample[]): StartupPhases['busiest'] {
  const ms = new Map<string, number>();
  for (const { place, tookMs } of samples) {
    if (place !== '(idle)') ms.set(place, (ms.get(place) ?? 0) + tookMs);
  }
  return [...ms].map(([name, took]) => ({ name, ms: took })).sort((a, b) => b.ms - a.ms);
}
