import type { JsonSchema } from '@laddercast/commands';
import { list, object, oneOf, string, time } from './schema-parts.js';

const stateOf = (states: string[], more: Record<string, JsonSchema> = {}, optional: string[] = []): JsonSchema =>
  object({ state: oneOf(...states), since: time('When this process first saw it so.'), ...more }, optional);

const answering = (more: Record<string, JsonSchema> = {}, optional: string[] = []): JsonSchema =>
  stateOf(['ok', 'missing'], more, optional);

/** What `GET /health/ready` says. */
export const READINESS_SCHEMA = object(
  {
    status: oneOf('ok', 'missing'),
    missing: list(string('What does not answer, and has to for requests to be answered.')),
    components: object(
      {
        postgresql: answering(
          { awaySince: time('Since when it has not answered at all: writes are refused at once.') },
          ['awaySince'],
        ),
        redis: stateOf(
          ['ok', 'missing', 'refused'],
          {
            shards: list(
              answering({ slots: string('The slots of the cluster that it serves; `all` for one server.') }),
            ),
            reason: string('Why it is refused, and what to do.'),
          },
          ['reason'],
        ),
        ranks: stateOf(
          ['ok', 'recovering'],
          { lanes: list({ type: 'integer', description: 'Lanes whose entries are being brought back.' }) },
          ['lanes'],
        ),
        schema: stateOf(['ok', 'older', 'newer'], {
          version: string("The database's last migration; older or newer than this process knows in an upgrade."),
        }),
        kafka: answering(),
      },
      ['schema', 'kafka'],
    ),
    notes: list(string('What stands still or is refused, while other requests are answered.')),
  },
  ['notes'],
);
