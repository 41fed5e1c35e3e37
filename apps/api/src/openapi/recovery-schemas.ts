import { orNull, type JsonSchema } from '@laddercast/commands';
import { count, list, object, oneOf, ref, string, time } from './schema-parts.js';

/** What operators read of dead letters, rebuilding and comparing. */
export const RECOVERY_SCHEMAS: Record<string, JsonSchema> = {
  DeadLetter: object({
    id: string(),
    group: string('Whose handler it failed in: a consumer group, kafka-relay, in.scores or in.games.'),
    topic: string(),
    lane: count('The lane; of in.scores and in.games the partition.'),
    position: count('The log position; of in.scores and in.games the offset.'),
    key: string(),
    payload: string('At most 8,192 characters of it.'),
    isPayloadCut: { type: 'boolean' },
    cause: string('The error with its stack; of in.scores and in.games the problem, as JSON.'),
    parkedAt: time(),
    replayedAt: { ...orNull(time()), description: 'null: never.' },
  }),
  DeadLetterList: object({
    deadLetters: list(ref('DeadLetter')),
    next: { ...orNull(string()), description: 'The next cursor.' },
  }),
  DeadLetterReplay: object(
    {
      id: string(),
      outcome: {
        ...oneOf('replayed', 'obsolete', 'refused'),
        description:
          'replayed: what is now went into the log, or the submission counts; obsolete: what it was about is gone; ' +
          'refused: the submission is refused still.',
      },
      problem: ref('Problem'),
    },
    ['problem'],
  ),
  SettlementFailure: object({
    board: string(),
    window: string(),
    kind: {
      ...oneOf('final', 'frozen', 'kept'),
      description:
        'The standings of its end, of its freeze, or of how it stood a moment ago (`snapshot.keepEveryMinutes`).',
    },
    closedAt: { ...orNull(time()), description: 'null: it is open.' },
    failures: count('How many tries have failed in a row.', 1),
    error: string('Why the last one did.'),
    failedAt: time(),
    retryAt: { ...time(), description: 'When the next one is due.' },
  }),
  SettlementFailureList: object({
    settlementFailures: list(ref('SettlementFailure')),
    next: { ...orNull(string()), description: 'The next cursor.' },
  }),
  Rebuild: object({
    state: { ...oneOf('none', 'running', 'finished'), description: 'none: it was never asked for.' },
    requestedAt: orNull(time()),
    finishedAt: orNull(time()),
    boards: count('How many boards it is for.'),
    done: count('How many of them serve from new lists.'),
    underWay: list(
      object({
        board: string(),
        generation: count(undefined, 1),
        state: oneOf('filling', 'proving'),
        entriesRead: count(),
      }),
    ),
  }),
  Reconciliation: object({
    board: string(),
    state: oneOf('none', 'waiting', 'running', 'finished', 'failed'),
    requestedAt: orNull(time()),
    startedAt: orNull(time()),
    finishedAt: orNull(time()),
    report: object({
      windows: count('Windows that were compared.'),
      lists: count('Lists that were looked through.'),
      compared: count('Entries that were compared, in both directions.'),
      missing: count('Entries that a list did not have.'),
      stale: count('Entries that a list had otherwise.'),
      stray: count('Entries that a list had and PostgreSQL has not.'),
      values: count('Distinct values that were missing, or too many.'),
      counters: count('Shards whose counter was missing, or too low.'),
      unsettled: count('Entries that changed all the while; their next change puts them right.'),
      examples: list(
        object(
          {
            ...{ window: string(), scope: string(), playerId: string() },
            entryId: string('With `entriesPer: run`: the id of the submission.'),
            kind: oneOf('missing', 'stale', 'stray'),
          },
          ['entryId'],
        ),
      ),
      failure: { ...orNull(string()), description: 'Why it ended early.' },
    }),
  }),
};
