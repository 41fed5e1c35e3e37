import { InSchema, IsText, parseTimestamp, Passes } from '@laddercast/commands';
import { faultOfNamedId, NAMED_ID_PATTERN } from '@laddercast/domain';
import { IsOptional, Matches } from 'class-validator';

const TITLE_LENGTH_MAX = 200;
const NAMED_ID = new RegExp(NAMED_ID_PATTERN);
const NO_ID = { message: faultOfNamedId('')! };

/** Query parameters of the list of patches. */
export class PatchListParameters {
  @Matches(NAMED_ID, NO_ID)
  family!: string;
}

/** Query parameters of one patch. */
export class PatchParameters {
  @IsOptional()
  @Matches(NAMED_ID, NO_ID)
  family?: string;
}

/** The body of `PUT /v1/patches/{patch}`. */
export class PatchBody {
  @Passes(faultOfNamedId, { pattern: NAMED_ID_PATTERN, format: 'named-id' })
  @InSchema({ description: 'It begins with its first patch.' })
  family!: string;

  @IsOptional()
  @Passes((text) => (parseTimestamp(text) === null ? 'must be an RFC 3339 time, or null' : null), {
    format: 'timestamp',
  })
  @InSchema({
    description: 'RFC 3339. Ahead: it is published then. Default: as it is, and of a new patch now.',
  })
  publishedAt: string | null = null;

  @IsOptional()
  @Passes(faultOfNamedId, { pattern: NAMED_ID_PATTERN, format: 'named-id' })
  @InSchema({ description: 'Of a hotfix: the patch of the family as which its runs count. Default: null, itself.' })
  sameAs: string | null = null;

  @IsOptional()
  @IsText(TITLE_LENGTH_MAX)
  title: string | null = null;
}
