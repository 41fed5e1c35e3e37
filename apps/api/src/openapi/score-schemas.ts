import { orNull } from '@laddercast/commands';
import { count, list, object, oneOf, ref, score, string, time } from './schema-parts.js';

const movement = object({
  before: { ...orNull(count(undefined, 1)), description: 'The rank that the previous entry would have now.' },
  after: count('1-based, ordinal whatever the style of the board, in the list of everybody.', 1),
  delta: { type: ['integer', 'null'], description: 'before − after: positive when the player moved up.' },
  accuracy: oneOf('exact', 'estimated'),
  errorBound: count('How far off `before` and `after` can be, as of asOf.'),
  total: count(),
  asOf: time(),
});

const submissionResult = object(
  {
    submissionId: string(),
    board: string(),
    playerId: string(),
    outcome: {
      ...oneOf('created', 'improved', 'changed', 'unchanged', 'held'),
      description:
        'held: it waits for a moderator, and changes no entry yet. With `entriesPer: run`: created, or unchanged where the run is ' +
        'not among the best of its player.',
    },
    replayed: {
      type: 'boolean',
      description: 'true: this submissionId was seen before, and this is the first answer again.',
    },
    score: { ...score, description: 'Of the named window, else of the first of the board.' },
    previousScore: orNull({ type: 'number' }),
    version: count('Grows with each change of the entry; not a count.'),
    windows: list(string()),
    entryId: string(
      "With `entriesPer: run`: the entry that score and rank are of; the player's best where the run does not stand.",
    ),
    displaced: string('With `entriesPer: run`: the entry of the player that the run pushed out.'),
    rawScore: { ...score, description: 'On boards with decay: `score` without its tax.' },
    patch: string('On boards with decay: the patch of the entry as it stands.'),
    patchesBehind: count('On boards with decay: how many patches that is behind the latest one.'),
    kept: {
      type: 'boolean',
      description: 'On boards with decay: whether this run is kept, be it that another one stands.',
    },
    rank: { anyOf: [ref('RankMovement'), { type: 'null' }], description: 'null when nothing can be said now.' },
  },
  ['entryId', 'displaced', 'rawScore', 'patch', 'patchesBehind', 'kept'],
);

/** Schemas of answers to submissions. */
export const SCORE_SCHEMAS = { RankMovement: movement, SubmissionResult: submissionResult };
