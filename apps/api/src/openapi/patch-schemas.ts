import { orNull, schemaOfClass } from '@laddercast/commands';
import { PATCHES_MAX } from '@laddercast/domain';
import { PatchBody } from '../http/patch-parameters.js';
import { count, list, namedId, object, oneOf, ref, string, time } from './schema-parts.js';

/** Schemas of patches. */
export const PATCH_SCHEMAS = {
  PatchDefinition: schemaOfClass(PatchBody),
  Patch: object({
    patch: namedId,
    family: namedId,
    publishedAt: time('When it is published; the order of patches is by this, then by acceptance.'),
    sameAs: { ...orNull(namedId), description: 'The patch as which it counts; null: itself.' },
    title: orNull(string()),
    behind: { ...orNull(count()), description: 'How many patches it is behind the newest; null: not published yet.' },
    runs: count('How many runs of boards that exist name it.'),
    status: {
      ...oneOf('published', 'scheduled', 'retaxing'),
      description: 'retaxing: published, and a board of the family does not show yet what that changed.',
    },
  }),
  PatchList: object({ family: namedId, patches: { ...list(ref('Patch')), maxItems: PATCHES_MAX } }),
};
