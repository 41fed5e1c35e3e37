import { NUMBERS_BY_NAME, orNull, type JsonSchema } from '@laddercast/commands';
import { count, list, object, oneOf, score, string, time } from './schema-parts.js';

const point = object({
  at: time('When the entry came to be so.'),
  score: { ...orNull(score), description: 'null: the entry was removed.' },
  columns: NUMBERS_BY_NAME,
  version: count('Of the entry: it grows with each change.'),
  rank: {
    ...orNull(
      object({
        rank: count('1-based, ordinal, in the list of everybody.', 1),
        total: count('How many entries the list had.'),
        accuracy: {
          ...oneOf('exact', 'estimated'),
          description:
            'exact: the rank of this very state as of asOf; estimated: the list showed an earlier or later state of the entry.',
        },
        errorBound: {
          ...orNull(count()),
          description: '0 where it is exact; else null: nobody knows how far off it is.',
        },
        asOf: time('When it was read: a moment after `at`.'),
      }),
    ),
    description: 'Where the player stood when the point was written; null where that could not be looked up in time.',
  },
});

/** How far a row has moved. */
export const CHANGE_SCHEMA: JsonSchema = {
  type: ['integer', 'null'],
  description:
    'Only on boards with `change`, in the list of everybody: ordinal places moved up since the day began in the zone of the ' +
    'board, negative: down; null: not known.',
};

/** The answer to `GET …/history`. */
export const HISTORY_SCHEMA = object({
  board: string(),
  window: object({ id: string(), startsAt: orNull(time()), endsAt: orNull(time()), resetsAt: orNull(time()) }),
  playerId: string(),
  everyMinutes: count('Each stretch of so many minutes since 1970 has at most one point.', 1),
  points: list(point),
  next: { ...orNull(string()), description: 'The next cursor.' },
});
