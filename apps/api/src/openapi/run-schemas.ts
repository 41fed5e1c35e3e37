import { NUMBERS_BY_NAME, orNull, schemaOfClass, type JsonSchema } from '@laddercast/commands';
import { RUN_STATES } from '@laddercast/domain';
import { RunVerificationBody } from '../http/bodies.js';
import { count, list, object, oneOf, ref, score, string, time } from './schema-parts.js';

const entry = object({ score, columns: NUMBERS_BY_NAME, achievedAt: time() });

/** What rows say of the run that an entry rests on, on boards that keep runs, or that tax them. */
export const ofRun = {
  entryId: string("With `entriesPer: run`: the id of the submission. With the player's it names the row."),
  verified: {
    type: 'boolean',
    description:
      'On boards that keep runs: whether somebody has looked at the run that the entry rests on; false of sums, and of what is ' +
      'no longer kept as a run.',
  },
  proof: {
    ...orNull({ type: 'string', format: 'https-url' }),
    description: 'Of that run, on boards with `proof: everyone`.',
  },
  rawScore: { ...score, description: 'On boards with decay: the score without its tax.' },
  patch: string('On boards with decay: the patch as which the run counts.'),
  patchesBehind: count('On boards with decay: how many patches that is behind the latest one that the tax knows.'),
};

/** Their names: other boards have none of them. */
export const OF_RUN = Object.keys(ofRun);

/** Schemas of runs, and of acts on them. */
export const RUN_SCHEMAS: Record<string, JsonSchema> = {
  RunVerification: schemaOfClass(RunVerificationBody),
  Run: object(
    {
      submissionId: string(),
      playerId: string(),
      kind: {
        ...oneOf('run', 'set', 'override', 'removal', 'trim'),
        description:
          'set: a total that was set; override, removal: by an operator; trim: taken away by a limit. All but run stand in ' +
          'place of what was accepted before.',
      },
      state: { ...oneOf(...RUN_STATES), description: 'Whether it counts, waits for a moderator, or was taken out.' },
      score: { ...orNull(score), description: 'null: it took the entry away.' },
      columns: NUMBERS_BY_NAME,
      achievedAt: time(),
      acceptedAt: time(),
      windows: list(string('The full id of a window that it counts in, or would.')),
      entryOf: list(string('A window whose entry rests on it.')),
      metadata: orNull({ type: 'object', additionalProperties: true }),
      proof: orNull(string('An https URL.')),
      verified: { type: 'boolean' },
      sourceId: orNull(string()),
      patch: {
        ...orNull(string()),
        description:
          'On boards with decay alone: the patch as which it counts; null: of what took the entry away. `score` is the raw one.',
      },
      version: count('Its place in the order of acceptance.'),
      reason: { ...orNull(string()), description: 'What a moderator said of it last; not for the player itself.' },
    },
    ['reason', 'patch'],
  ),
  EntryChange: object({
    board: string(),
    playerId: string(),
    windows: list(string()),
    version: count(),
    submissionId: { ...orNull(string()), description: 'On boards that keep runs: the id that it has among them.' },
  }),
  RunsPage: object({ runs: list(ref('Run')), next: { ...orNull(string()), description: 'The next cursor.' } }),
  RunActResult: object({
    submissionId: string(),
    outcome: oneOf('voided', 'restored', 'verified', 'unverified', 'unchanged'),
    version: count('Of the entries that changed, else of the run.'),
    windows: list(
      object({
        window: string('Its full id.'),
        before: {
          ...orNull(entry),
          description: 'The entry before the act, with `entriesPer: run` the one that went; null: none.',
        },
        after: {
          ...orNull(entry),
          description: 'The entry after the act, with `entriesPer: run` the one that came; null: none.',
        },
        revising: { type: 'boolean', description: 'Its final standings follow, as their next edition.' },
      }),
    ),
  }),
};
