import { someOf } from '../command-line/arguments.js';
import type { Options, ValuesOf } from '../command-line/options.js';
import type { BenchContext, Log } from '../installation/context.js';
import { onEachBoard } from '../boards/large-board.js';
import type { Definition } from '../boards/entries.js';
import { measureWrites, writeOptions } from '../writes/writes.js';
import { writeTables } from '../writes/tables.js';

/** Single submissions, durable, with the rank in the answer. */
export const description = 'single submissions to a large board, durable, with the rank in the answer';

export const logs: readonly Log[] = ['postgres', 'kafka'];

/** The boards that are measured, each from a clean state. */
const boards = {
  'one-shard': {},
  'four-shards': { sharding: { by: 'hash', count: 4 } },
  'with-runs': { runs: { keepDays: 90 } },
  // Every rule looks at every run, and none finds anything.
  'with-integrity': {
    runs: { keepDays: 90 },
    integrity: {
      jump: { factor: 1000, runsMin: 50 },
      rate: { runs: 10_000, seconds: 1 },
      cluster: { players: 1000, minutes: 1 },
    },
  },
  'four-windows': { windows: ['alltime', 'daily', 'weekly', 'monthly'] },
} satisfies Record<string, Definition>;
const names = Object.keys(boards) as (keyof typeof boards)[];

export const options = {
  ...writeOptions,
  boards: { type: 'string', help: `only some of ${names.join(',')}`, parse: someOf(names) },
} satisfies Options;

export async function run(context: BenchContext<ValuesOf<typeof options>>): Promise<string> {
  const wanted = context.options.boards ?? names;
  const found = await onEachBoard(context, wanted, (clean, name) =>
    measureWrites(clean, { definition: boards[name], batch: 0 }),
  );
  context.keep({ options: context.options, boards: found });
  return writeTables(found, context.options, 'submissions');
}
