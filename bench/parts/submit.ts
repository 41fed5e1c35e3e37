import { someOf } from '../command-line/arguments.js';
import { onEachBoard } from '../boards/large-board.js';
import { measureWrites, writeOptions } from '../writes/writes.js';
import { writeTables } from '../writes/tables.js';

/** Single submissions, durable, with the rank in the answer. */
export const description = 'single submissions to a large board, durable, with the rank in the answer';

export const logs = ['postgres', 'kafka'];

/** The boards that are measured, each from a clean state. */
const boards = {
  'one-shard': {},
  'four-shards': { sharding: { by: 'hash', count: 4 } },
  'four-windows': { windows: ['alltime', 'daily', 'weekly', 'monthly'] },
};

export const options = {
  ...writeOptions,
  boards: { type: 'string', help: `only some of ${Object.keys(boards).join(',')}`, parse: someOf(Object.keys(boards)) },
};

export async function run(context) {
  const wanted = context.options.boards ?? Object.keys(boards);
  const found = await onEachBoard(context, wanted, (clean, name) =>
    measureWrites(clean, { definition: boards[name], batch: 0 }),
  );
  context.keep({ options: context.options, boards: found });
  return writeTables(found, context.options, 'submissions');
}
