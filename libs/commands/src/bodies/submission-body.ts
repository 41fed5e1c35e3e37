import {
  CLEAN_TEXT_PATTERN,
  PATCH_ID_PATTERN,
  SUBMISSION_OPERATORS,
  WINDOW_ID_LENGTH_MAX,
  type SubmissionOperator,
} from '@laddercast/domain';
import { IsIn, IsNumber, IsObject, IsString, Matches, MaxLength } from 'class-validator';
import { InSchema, IsNumbersByName, MayBeAbsent } from './body-rules.js';
import { compiledBody, HasFormat, IsIdOfClient, itemsOf } from './compiled-body.js';

export const BATCH_MAX = 1000;

/** A submission as the client sent it; well formed, not yet checked against its board. */
export class SubmissionBody {
  @MayBeAbsent()
  @IsIdOfClient()
  @InSchema({ description: 'Makes retries safe; or the Idempotency-Key header.' })
  submissionId?: string;

  @IsIdOfClient()
  playerId!: string;

  @IsNumber()
  @InSchema({ description: 'A finite double; on sum boards the increment.' })
  score!: number;

  @MayBeAbsent()
  @IsIn(SUBMISSION_OPERATORS)
  @InSchema({
    description: 'On boards with these submissionOperators: `set` makes the score the total; default: `sum`.',
  })
  operator?: SubmissionOperator;

  @MayBeAbsent()
  @IsNumbersByName()
  columns?: Record<string, number>;

  @MayBeAbsent()
  @HasFormat('timestamp')
  @InSchema({ description: 'RFC 3339; default: now, by the database.' })
  achievedAt?: string;

  @MayBeAbsent()
  @IsString()
  @MaxLength(WINDOW_ID_LENGTH_MAX)
  @Matches(new RegExp(CLEAN_TEXT_PATTERN))
  @InSchema({
    description:
      'The full id of the window it was played in; with the achievedAt of the run where that window is over: without, it is ' +
      'a run of now, and 422 WINDOW_MISMATCH.',
  })
  window?: string;

  @MayBeAbsent()
  @IsObject()
  @InSchema({ description: 'At most 1,024 bytes of JSON.' })
  metadata?: Record<string, unknown>;

  @MayBeAbsent()
  @IsIdOfClient()
  sourceId?: string;

  @MayBeAbsent()
  @Matches(new RegExp(PATCH_ID_PATTERN))
  @InSchema({ description: 'On boards with decay, and only there: the patch that it was played on.' })
  patch?: string;

  @MayBeAbsent()
  @HasFormat('https-url')
  @InSchema({
    description: 'On boards that keep runs: where the proof of the run is, an https URL of at most 512 bytes.',
  })
  proof?: string;

  @MayBeAbsent()
  @IsIn([true])
  @InSchema({ description: 'On boards that keep runs: that somebody has looked at the run. For keys only.' })
  verified?: true;
}

/** A submission of a batch names its board. */
export class BatchedSubmissionBody extends SubmissionBody {
  @HasFormat('named-id')
  board!: string;
}

/** @throws VALIDATION_FAILED */
export const parseSubmission = compiledBody(SubmissionBody);

/** @throws VALIDATION_FAILED */
export const parseBatchedSubmission = compiledBody(BatchedSubmissionBody);

/** @throws VALIDATION_FAILED */
export const parseBatch = (body: unknown): unknown[] => itemsOf(body, 'submissions', BATCH_MAX);
