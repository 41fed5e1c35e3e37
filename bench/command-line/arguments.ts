import { resolve } from 'node:path';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { Problem } from '../../tools/problem.mjs';
import type { CommonValues, Option, Options, Part, Parts } from './options.js';

/** A whole number of at least 1. */
export function count(text: string, name: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Problem(`--${name} must be a number such as 20000.`);
}

/** One of these words. */
export const oneOf =
  <Word extends string>(words: readonly Word[]) =>
  (text: string, name: string): Word => {
    const found = words.find((word) => word === text);
    if (found !== undefined) return found;
    throw new Problem(`--${name} has no "${text}"; it has ${words.join(', ')}.`);
  };

/** Some of these words, separated by commas. */
export const someOf =
  <Word extends string>(words: readonly Word[]) =>
  (text: string, name: string): Word[] =>
    text.split(',').map((word) => oneOf(words)(word, name));

/** Options of every part. */
const commonOptions = {
  kafka: { type: 'boolean', help: 'with the log in Kafka instead of PostgreSQL' },
  apps: {
    type: 'string',
    help: 'one: the service is one process; apart: api, projector and gateway are three (apart)',
    default: 'apart',
    parse: oneOf(['one', 'apart'] as const),
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
    parse: oneOf(['on', 'off'] as const),
  },
  rounds: { type: 'string', help: 'how often each figure is measured (3)', default: '3', parse: count },
  json: { type: 'string', help: 'keeps the figures in this file, too', parse: (path: string) => resolve(path) },
} satisfies Options;

/** What the command line asks for. */
export interface Arguments {
  /** Of the one part that is asked for; null for all. */
  name: string | null;
  options: CommonValues & Record<string, unknown>;
  help: boolean;
}

/**
 * Reads the command line.
 * @throws Problem
 */
export function readArguments(parts: Parts, args: readonly string[]): Arguments {
  const known = knownOptions(parts, args);
  const types = Object.fromEntries(Object.entries(known).map(([name, { type }]) => [name, { type }]));
  const { values, positionals } = parse(args, { ...types, help: { type: 'boolean', short: 'h' } });
  const name = positionals[0] ?? null;
  if (positionals.length > 1 || (name !== null && !Object.hasOwn(parts, name))) {
    throw new Problem(`There is no part "${positionals.join(' ')}"; there are ${Object.keys(parts).join(', ')}.`);
  }
  if (name === null) refuseDifferent(parts, values);
  else refuseForeign(parts, name, values);
  const found = Object.fromEntries(
    Object.entries(known).map(([option, how]) => [option, valueOf(option, how, values[option])]),
  );
  // As `commonOptions` parses them.
  const options = found as CommonValues & Record<string, unknown>;
  if (options['api-processes'] > 1) refuseSeveral(name, name === null ? undefined : parts[name], options);
  return { name, options, help: values.help === true };
}

/** All options; what several parts call by one name is that of the part that is asked for. */
function knownOptions(parts: Parts, args: readonly string[]): Options {
  const known: Options = { ...commonOptions };
  for (const part of Object.values(parts)) Object.assign(known, part.options);
  const asked = args.find((word) => Object.hasOwn(parts, word));
  return Object.assign(known, asked === undefined ? {} : parts[asked]!.options);
}

function valueOf(name: string, { parse, default: byDefault }: Option, given: string | boolean | undefined): unknown {
  const text = given ?? byDefault;
  return typeof text === 'string' && parse !== undefined ? parse(text, name) : text;
}

/** The text of `--help`. */
export function helpOf(parts: Parts): string {
  const linesOf = (options: Options): string[] =>
    Object.entries(options).map(([name, { type, help }]) => {
      return `  ${`--${name}${type === 'string' ? ' <…>' : ''}`.padEnd(20)} ${help}`;
    });
  const own = Object.entries(parts)
    .filter(([, { options }]) => options !== undefined)
    .map(([name, { options = {} }]) => `${name}:\n${linesOf(options).join('\n')}`);
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

type Given = { values: Record<string, string | boolean | undefined>; positionals: string[] };

function parse(args: readonly string[], options: NonNullable<ParseArgsConfig['options']>): Given {
  try {
    return parseArgs({ args, allowPositionals: true, options }) as Given;
  } catch (error) {
    throw new Problem(`${(error as Error).message}\nnpm run bench -- --help says what there is.`);
  }
}

/** Several api processes, where there is none of its own, or where one is looked into. */
function refuseSeveral(name: string | null, part: Part | undefined, { apps }: CommonValues): void {
  if (apps === 'one') throw new Problem('--api-processes is for --apps apart: with --apps one there is one process.');
  if (part?.oneApiProcess) throw new Problem(`--api-processes is not for ${name}, which looks into one api process.`);
}

/** An option that parts understand each in its own way says nothing about all of them. */
function refuseDifferent(parts: Parts, values: Given['values']): void {
  for (const option of Object.keys(values)) {
    const owners = Object.keys(parts).filter((part) => option in (parts[part]!.options ?? {}));
    const meanings = new Set(owners.map((part) => parts[part]!.options![option]));
    if (meanings.size > 1) throw new Problem(`--${option} is another for ${owners.join(' and ')}: name the part.`);
  }
}

/** An option that the part does not have would be ignored in silence. */
function refuseForeign(parts: Parts, name: string, values: Given['values']): void {
  const has = (part: string, option: string): boolean => option in (parts[part]?.options ?? {});
  const foreign = Object.keys(values).find(
    (option) => option !== 'help' && !(option in commonOptions) && !has(name, option),
  );
  if (foreign === undefined) return;
  const owners = Object.keys(parts).filter((other) => has(other, foreign));
  throw new Problem(`--${foreign} is for ${owners.join(' and ')}, not for ${name}.`);
}
