import type { Apps, BenchContext, Log } from '../installation/context.js';

/** One option of the command line. */
export interface Option {
  type: 'string' | 'boolean';
  /** One line. */
  help: string;
  default?: string;
  /** @throws Problem when the text is not what the option takes */
  parse?(text: string, name: string): unknown;
}

export type Options = Record<string, Option>;

type ValueOf<One extends Option> = One extends { parse: (text: string, name: string) => infer Value }
  ? Value
  : One extends { type: 'boolean' }
    ? boolean
    : string;

/** What options are once they were read: those without a default may be missing. */
export type ValuesOf<All extends Options> = {
  [Name in keyof All]: All[Name] extends { default: string } ? ValueOf<All[Name]> : ValueOf<All[Name]> | undefined;
};

/** What options of every part are. */
export interface CommonValues {
  kafka?: boolean;
  apps: Apps;
  'api-processes': number;
  limits: 'on' | 'off';
  rounds: number;
  json?: string;
}

/** Something that `npm run bench` measures: what a module of bench/parts exports. */
export interface Part {
  /** One line of the help. */
  description: string;
  /** Options of its own; parts may share one. */
  options?: Options;
  /** The logs it is measured with when none is asked for: PostgreSQL when it says nothing. */
  logs?: readonly Log[];
  /** It is left out of a run of all parts. */
  onlyByName?: boolean;
  /** It looks into one api process, and takes no `--api-processes`. */
  oneApiProcess?: boolean;
  /** Measures, and returns the text of its tables. */
  run(context: BenchContext<Record<string, unknown>>): Promise<string>;
}

export type Parts = Record<string, Part>;
