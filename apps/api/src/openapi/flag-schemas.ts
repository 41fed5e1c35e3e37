import { orNull, schemaOfClass, type JsonSchema } from '@laddercast/commands';
import { FlagDecisionBody } from '../http/bodies.js';
import { count, list, object, oneOf, ref, string, time } from './schema-parts.js';

/** What moderators read of flags, and decide. */
export const FLAG_SCHEMAS: Record<string, JsonSchema> = {
  Flag: object({
    flagId: string(),
    rule: string('jump, rate, cluster, held, or the name of a rule or check of a team.'),
    severity: oneOf('low', 'medium', 'high'),
    board: string(),
    playerId: { ...orNull(string()), description: 'null: it is about several players.' },
    submissionIds: { ...list(string()), maxItems: 100, description: 'Of the first 100 runs.' },
    count: count('How many runs it is about, listed or not.', 1),
    summary: string(),
    details: { type: 'object' },
    raisedAt: time(),
    state: oneOf('open', 'decided'),
    decision: {
      ...orNull(oneOf('accept', 'void', 'ban', 'dismiss')),
      description: 'Of an open flag: what was decided before it was reopened, and stands until it is decided anew.',
    },
    decidedBy: { ...orNull(string()), description: 'A key, or clock.' },
    decidedAt: orNull(time()),
    reason: orNull(string()),
  }),
  FlagPage: object({
    flags: list(ref('Flag')),
    next: { ...orNull(string()), description: 'The next cursor.' },
  }),
  FlagDecision: schemaOfClass(FlagDecisionBody),
};
