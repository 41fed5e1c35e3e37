import { count } from '../command-line/arguments.js';
import type { Options, ValuesOf } from '../command-line/options.js';
import type { BenchContext, Log } from '../installation/context.js';
import { measureWrites, writeOptions } from '../writes/writes.js';
import { writeTables } from '../writes/tables.js';

/** Many submissions in one request. */
export const description = 'submissions by the hundred in a request';

export const logs: readonly Log[] = ['postgres', 'kafka'];

export const options = {
  ...writeOptions,
  size: { type: 'string', help: 'how many submissions a request has (100)', default: '100', parse: count },
} satisfies Options;

export async function run(context: BenchContext<ValuesOf<typeof options>>): Promise<string> {
  const { size } = context.options;
  const found = { 'one-shard': await measureWrites(context, { definition: {}, batch: size }) };
  context.keep({ options: context.options, boards: found });
  return writeTables(found, context.options, `submissions, ${size} a request`);
}
