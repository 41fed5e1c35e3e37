import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../installation/apps.js';
import { count, oneOf } from '../command-line/arguments.js';
import type { Options, ValuesOf } from '../command-line/options.js';
import type { BenchContext } from '../installation/context.js';
import { cpuSecondsOf } from '../meters/cpu.js';
import { spread, table } from '../figures/live-figures.js';
import type { Profile } from '../profiles/profile-format.js';
import { phasesOf, type StartupPhases } from '../profiles/startup-phases.js';
import { unbundled } from '../profiles/unbundled.js';

/**
 * How long it takes from when the process is made until GET /health/ready answers 200, with all services running; and, by a
 * CPU profile of one more start, where that time goes.
 */
export const description = 'from the start of the standalone to ready, and where the time goes';

export const oneApiProcess = true;

export const options = {
  starts: { type: 'string', help: 'how many starts (10)', default: '10', parse: count },
  app: {
    type: 'string',
    help: 'what is started (standalone)',
    default: 'standalone',
    parse: oneOf(['standalone', 'api', 'projector', 'gateway'] as const),
  },
} satisfies Options;

type Context = BenchContext<ValuesOf<typeof options>>;

const busiestShown = 12;

export async function run(context: Context): Promise<string> {
  const { options: given, installation, step } = context;
  const { starts, app: name } = given;
  await installation.stop();
  const found: number[] = [];
  const cpu: number[] = [];
  for (let number = 1; number <= starts; number += 1) {
    const app = await startApp(context, name);
    const seconds = app.msToReady / 1000;
    const cpuSeconds = cpuSecondsOf(app.pid);
    await app.stop();
    found.push(seconds);
    cpu.push(cpuSeconds);
    step(`start ${number}: ${seconds.toFixed(2)} s, ${cpuSeconds.toFixed(2)} s of CPU`);
  }
  const { phases, busiest } = await profiled(context, name);
  return [
    table(
      ['', 'minimum / median / maximum of ' + starts],
      [
        [`${name}, to ready`, `${spread(found, (seconds) => seconds.toFixed(2))} s`],
        ['its CPU until then', `${spread(cpu, (seconds) => seconds.toFixed(2))} s`],
      ],
    ),
    '',
    'Under the profiler, which makes it somewhat slower:',
    '',
    table(
      ['phase', 'ms', 'of which idle (waiting)'],
      phases.map(({ name: phase, ms, idleMs }) => [phase, ms.toFixed(0), idleMs.toFixed(0)]),
    ),
    '',
    table(
      ['most CPU in', 'ms'],
      busiest.slice(0, busiestShown).map(({ name: where, ms }) => [where, ms.toFixed(0)]),
    ),
  ].join('\n');
}

async function profiled(context: Context, name: Context['options']['app']): Promise<StartupPhases> {
  const folder = mkdtempSync(join(tmpdir(), 'startup-'));
  try {
    const app = await startApp(context, name, { nodeArgs: ['--cpu-prof', `--cpu-prof-dir=${folder}`] });
    await app.stop();
    const [file] = readdirSync(folder);
    if (file === undefined) throw new Error(`The ${name} wrote no profile:\n${app.output}`);
    return phasesOf(unbundled(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile), app);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
