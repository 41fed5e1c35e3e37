import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { helpOf, readArguments, type Arguments } from './command-line/arguments.js';
import { Ending } from './command-line/ending.js';
import type { Part } from './command-line/options.js';
import type { BenchContext, CleanState, Log, Settings } from './installation/context.js';
import { startInstallation } from './installation/installation.js';
import { machineOf } from '../tools/machine.mjs';
import { parts } from './parts/parts.js';
import { prepare, projectRoot } from '../tools/build.mjs';
import { dataDirectory, makeDataDirectory } from '../tools/data-directory.mjs';
import { onInterruption } from '../tools/interruption.mjs';
import { step } from '../tools/progress.mjs';

const sharedDir = dataDirectory(projectRoot, process.env);
const runDir = join(sharedDir, `bench-${process.pid}`);
const command = `npm run bench -- ${process.argv.slice(2).join(' ')}`.replace(/ -- $/, '');
const ending = new Ending(runDir);

/** Before anything of ours runs: whether others keep the machine busy. */
const machine = machineOf(projectRoot);
let started = 0;

const withoutLimits = Object.fromEntries(
  ['KEY', 'PLAYER', 'ADDRESS'].map((party) => [`RATE_LIMIT_${party}_PER_SECOND`, '0']),
);

type Options = Arguments['options'];

/** What a part is started on. */
interface Start extends Pick<Options, 'apps' | 'limits'> {
  log: Log;
  apiCount: number;
}

function startClean({ log, apps, apiCount, limits }: Start, settings?: Settings): Promise<CleanState> {
  started += 1;
  return startInstallation({
    root: projectRoot,
    cacheDir: join(sharedDir, 'cache'),
    dataDir: join(runDir, String(started)),
    log,
    apps,
    apiCount,
    command,
    settings: { ...(limits === 'off' && withoutLimits), ...settings },
    onDeath: (error) => ending.fail(error),
    onRunning: (processes) => (ending.running = processes),
  });
}

/** One part on one log, from a clean state to a clean state. */
async function runPart(part: Part, name: string, log: Log, options: Options): Promise<{ text: string; kept: object }> {
  const kept = {};
  const how: Start = { log, apiCount: part.oneApiProcess ? 1 : options['api-processes'], ...options };
  let clean = await startClean(how);
  const contextOf = (): BenchContext<Options> => ({
    ...clean,
    step,
    options,
    rounds: options.rounds,
    keep: (figures) => void Object.assign(kept, figures),
    renew: async (settings, renewedApiCount = how.apiCount) => {
      await clean.end();
      clean = await startClean({ ...how, apiCount: renewedApiCount }, settings);
      return contextOf();
    },
  });
  const text = await part.run(contextOf());
  const { services, apps, apiCount } = clean.installation;
  await clean.end();
  const of = `\`${name}\`, the log in ${log === 'kafka' ? 'Kafka' : 'PostgreSQL'}, ${apps === 'one' ? 'one process' : `processes apart${apiCount > 1 ? `, ${apiCount} of the api` : ''}`}`;
  const { commit, load, node } = machine;
  const where = `${machine.machine}, Node ${node}, ${services}; commit ${commit}; load before ${load.toFixed(2)}; \`${command}\``;
  return {
    text: `${of}\n${where}\n\n${text}`,
    kept: { part: name, log, apps, apiCount, services, command, ...machine, ...kept },
  };
}

async function main(): Promise<void> {
  const { name, options, help } = readArguments(parts, process.argv.slice(2));
  if (help) return console.log(helpOf(parts));
  makeDataDirectory(sharedDir);
  await prepare(projectRoot);
  makeDataDirectory(runDir);
  const wanted = Object.entries(parts).filter(([one, { onlyByName }]) => (name === null ? !onlyByName : one === name));
  const texts: string[] = [];
  const all: object[] = [];
  for (const [one, part] of wanted) {
    for (const log of logsOf(part, { isAlone: name !== null, kafka: options.kafka })) {
      step(`${one}, the log in ${log === 'kafka' ? 'Kafka' : 'PostgreSQL'}`);
      const { text, kept } = await runPart(part, one, log, options);
      texts.push(text);
      all.push(kept);
      if (options.json) writeFileSync(options.json, `${JSON.stringify(all, null, 2)}\n`);
      console.log(`\n${text}\n`);
    }
  }
  if (texts.length > 1) console.log(`\n${texts.join('\n\n\n')}\n`);
}

/** A part that is asked for by its name is measured on PostgreSQL alone. */
function logsOf(part: Part, { isAlone, kafka }: { isAlone: boolean; kafka?: boolean }): readonly Log[] {
  if (kafka) return ['kafka'];
  return isAlone ? ['postgres'] : (part.logs ?? ['postgres']);
}

onInterruption(() => void ending.end(130));
try {
  await main();
  await ending.end(0);
} catch (error) {
  ending.fail(error);
}
