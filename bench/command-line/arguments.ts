import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Problem } from '../../tools/problem.mjs';

/** A whole number of at least 1. */
export function count(text, name) {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Problem(`--${name} must be a number such as 20000.`);
}

/** One of these words. */
export const oneOf = (words) => (text, name) => {
  if (words.includes(text)) return text;
  throw new Problem(`--${name} has no "${text}"; it has ${words.join(', ')}.`);
};

/** Some of these words, separated by commas. */
export const someOf = (words) => (text, name) => text.split(',').map((word) => oneOf(words)(word, name));

/** Options of every part. */
export const commonOptions = {
  kafka: { type: 'boolean', help: 'with the log in Kafka instead of PostgreSQL' },
  apps: {
    type: 'string',
    help: 'one: the service is one process; apart: api, projector and gateway are three (apart)',
    default: 'apart',
    parse: oneOf(['one', 'apart']),
  },
  'api-processes': {
    type: 'string',
    help: 'how many processes the api is, on one port (1)',
    default: '1',
    parse: count,
  },
  limits: {
    type: 'string',
    help: 'off: without rate limits, to see what they cost (on)',
    default: 'on',
    parse: oneOf(['on', 'off']),
  },
  rounds: { type: 'string', help: 'how often each figure is measured (3)', default: '3', parse: count },
  json: { type: 'string', help: 'keeps the figures in this file, too', parse: (path) => resolve(path) },
};

/**
 * Reads the command line.
 * @param parts the modules of bench/parts/parts.ts
 * @returns `{ name, options, help }`; `name`: of the one part that is asked for, null for all; `help`: true when asked for
 * @throws Problem
 */
export function readArguments(parts, args) {
  const known = { ...commonOptions };
  for (const part of Object.values(parts)) Object.assign(known, part.options);
  const types = Object.fromEntries(Object.entries(known).map(([name, { type }]) => [name, { type }]));
  const { values, positionals } = parse(args, { ...types, help: { type: 'boolean', short: 'h' } });
  const name = positionals[0] ?? null;
  if (positionals.length > 1 || (name !== null && !Object.hasOwn(parts, name))) {
    throw new Problem(`There is no part "${positionals.join(' ')}"; there are ${Object.keys(parts).join(', ')}.`);
  }
  if (name !== null) refuseForeign(parts, name, values);
  const options = {};
  for (const [option, { parse: read = (text) => text, default: byDefault }] of Object.entries(known)) {
    const text = values[option] ?? byDefault;
    options[option] = text === undefined || typeof text === 'boolean' ? text : read(text, option);
  }
  if (options['api-processes'] > 1) refuseSeveral(parts[name], name, options);
  return { name, options, help: values.help === true };
}

/** The text of `--help`. */
export function helpOf(parts) {
  const linesOf = (options) =>
    Object.entries(options).map(([name, { type, help }]) => {
      return `  ${`--${name}${type === 'string' ? ' <…>' : ''}`.padEnd(20)} ${help}`;
    });
  const own = Object.entries(parts)
    .filter(([, { options }]) => options !== undefined)
    .map(([name, { options }]) => `${name}:\n${linesOf(options).join('\n')}`);
  return `Measures the service on this machine, on services and data of its own.

  npm run bench                  everything, one part after the other
${Object.entries(parts)
  .map(([name, { description, onlyByName }]) => {
    return `  npm run bench -- ${name.padEnd(12)}  ${description}${onlyByName ? ' (only when asked for)' : ''}`;
  })
  .join('\n')}

${linesOf(commonOptions).join('\n')}

${own.join('\n\n')}
`;
}

function parse(args, options) {
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    throw new Problem(`${error.message}\nnpm run bench -- --help says what there is.`);
  }
}

/** Several api processes, where there is none of its own, or where one is looked into. */
function refuseSeveral(part, name, { apps }) {
  if (apps === 'one') throw new Problem('--api-processes is for --apps apart: with --apps one there is one process.');
  if (part?.oneApiProcess) throw new Problem(`--api-processes is not for ${name}, which looks into one api process.`);
}

/** An option that the part does not have would be ignored in silence. */
function refuseForeign(parts, name, values) {
  const foreign = Object.keys(values).find(
    (option) => option !== 'help' && !(option in commonOptions) && !(option in (parts[name].options ?? {})),
  );
  if (foreign === undefined) return;
  const owners = Object.keys(parts).filter((other) => foreign in (parts[other].options ?? {}));
  throw new Problem(`--${foreign} is for ${owners.join(' and ')}, not for ${name}.`);
}
