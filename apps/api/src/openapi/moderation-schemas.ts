import { orNull, schemaOfClass } from '@laddercast/commands';
import { SANCTION_KINDS } from '@laddercast/domain';
import { SanctionBody } from '../http/moderation-bodies.js';
import { count, list, namedId, object, oneOf, string, time } from './schema-parts.js';

const sanction = object({
  sanctionId: count('Grows with time.', 1),
  kind: oneOf(...SANCTION_KINDS),
  reason: string('Why; the player never sees it.'),
  publicReason: { ...orNull(string()), description: 'What a banned player is told.' },
  until: { ...orNull(time()), description: 'When the clock lifts it; null: never.' },
  boards: { ...orNull(list(namedId)), description: 'The boards that it holds on; null: all.' },
  putBy: string('The keyId of the API key.'),
  putAt: time(),
  endedAt: { ...orNull(time()), description: 'Since when it is not in force; null: it is.' },
  endedBy: { ...orNull(string()), description: 'The keyId of the API key; `clock` where `until` was over.' },
  endReason: { ...orNull(string()), description: 'Why it was lifted; of a replaced one, why the next one was put.' },
  progress: {
    ...object({ isDone: { type: 'boolean' }, entries: count('How many entries were changed for it so far.') }),
    description: 'How far the entries of the player follow it, or its end.',
  },
});

/** Schemas of what moderators do. */
export const MODERATION_SCHEMAS = {
  NewSanction: schemaOfClass(SanctionBody),
  PutSanction: object({ playerId: string(), sanction }),
  LiftedSanction: object({
    playerId: string(),
    sanction: { ...orNull(sanction), description: 'The one that was lifted; null: none was in force.' },
  }),
  SanctionList: object({
    playerId: string(),
    sanctions: list(sanction),
    next: { ...orNull(string()), description: 'The next cursor.' },
  }),
};
