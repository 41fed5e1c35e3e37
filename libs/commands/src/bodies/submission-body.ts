import {
  CLEAN_TEXT_PATTERN,
  escapePointer,
  faultOfNamedId,
  faultOfOpaqueId,
  isCleanText,
  OPAQUE_ID_BYTES_MAX,
  validationFailed,
  type Fault,
} from '@laddercast/domain';
import { Ajv, type ErrorObject } from 'ajv';
import { IsNumber, IsObject, IsString, Matches, MaxLength } from 'class-validator';
import { unknownFields } from './body-faults.js';
import { InSchema, IsNumbersByName, MayBeAbsent, Passes, type JsonSchema } from './body-rules.js';
import { schemaOfClass } from './class-schema.js';
import { faultOfUnsafeName, isUnsafeName } from './unsafe-names.js';

export const BATCH_MAX = 1000;

/** RFC 3339 date-time. */
const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/** Unix ms of an RFC 3339 time, null when it is none (or lies before 1970). */
export function parseTimestamp(text: string): number | null {
  const match = TIMESTAMP.exec(text);
  if (!match) return null;
  const [, year, month, day, hour] = match.map(Number) as [number, number, number, number, number];
  const daysInMonth = new Date(Date.UTC(year, month, 0)).getUTCDate();
  // Date.parse accepts 30 February, and 24:00.
  const ms = day > daysInMonth || hour > 23 ? NaN : Date.parse(text);
  return Number.isFinite(ms) && ms >= 0 ? ms : null;
}

function faultOfTimestamp(text: string): string | null {
  return parseTimestamp(text) === null
    ? 'must be an RFC 3339 time such as 2026-11-20T18:00:00.000Z, not before 1970'
    : null;
}

/** What is wrong with a text of each format. */
const FORMATS = { 'opaque-id': faultOfOpaqueId, 'named-id': faultOfNamedId, timestamp: faultOfTimestamp };
const HasFormat = (format: keyof typeof FORMATS, words: JsonSchema = {}): PropertyDecorator =>
  Passes(FORMATS[format], { format, ...words });

const AJV = new Ajv({
  allErrors: false,
  strict: true,
  formats: Object.fromEntries(
    Object.entries(FORMATS).map(([format, faultOf]) => [format, (text: string) => faultOf(text) === null]),
  ),
});

const IsIdOfClient = (): PropertyDecorator => HasFormat('opaque-id', { maxLength: OPAQUE_ID_BYTES_MAX });

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
  @IsNumbersByName()
  columns?: Record<string, number>;

  @MayBeAbsent()
  @HasFormat('timestamp')
  @InSchema({ description: 'RFC 3339; default: now, by the database.' })
  achievedAt?: string;

  @MayBeAbsent()
  @IsString()
  @MaxLength(64)
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
}

/** A submission of a batch names its board. */
export class BatchedSubmissionBody extends SubmissionBody {
  @HasFormat('named-id')
  board!: string;
}

/** Compiled once from the class: runs are too many for class-validator. */
const validateSubmission = AJV.compile<SubmissionBody>(schemaOfClass(SubmissionBody));
const validateBatched = AJV.compile<BatchedSubmissionBody>(schemaOfClass(BatchedSubmissionBody));

/** @throws VALIDATION_FAILED */
export function parseSubmission(body: unknown): SubmissionBody {
  if (!validateSubmission(body)) throw validationFailed(faultsOfAjv(validateSubmission.errors ?? [], body));
  return withCleanMetadata(body);
}

/** @throws VALIDATION_FAILED */
export function parseBatchedSubmission(body: unknown): BatchedSubmissionBody {
  if (!validateBatched(body)) throw validationFailed(faultsOfAjv(validateBatched.errors ?? [], body));
  return withCleanMetadata(body);
}

/**
 * The items of a batch, not parsed yet: each is parsed by itself, so that one bad item fails alone. Only their number
 * is checked, by hand.
 * @throws VALIDATION_FAILED when the batch itself is not well formed
 */
export function parseBatch(body: unknown): unknown[] {
  const { submissions, ...unknown } = (body ?? {}) as { submissions?: unknown };
  if (!Array.isArray(submissions)) {
    throw validationFailed([{ pointer: '/submissions', message: `must be an array of 1-${BATCH_MAX} submissions` }]);
  }
  const faults = unknownFields(unknown);
  if (submissions.length < 1 || submissions.length > BATCH_MAX) {
    faults.push({
      pointer: '/submissions',
      message: `must hold 1-${BATCH_MAX} submissions, not ${submissions.length}`,
    });
  }
  if (faults.length > 0) throw validationFailed(faults);
  return submissions;
}

function withCleanMetadata<Body extends SubmissionBody>(body: Body): Body {
  if (body.metadata !== undefined && !isClean(body.metadata)) {
    const message = `must not hold NUL, control characters or lone surrogates, nor be nested deeper than ${METADATA_DEPTH_MAX}`;
    throw validationFailed([faultOfUnsafeName(body.metadata, '/metadata') ?? { pointer: '/metadata', message }]);
  }
  return body;
}

const METADATA_DEPTH_MAX = 32;

/** Line breaks and tabs are allowed; other control characters are not. */
function isClean(value: unknown, depth = 0): boolean {
  if (depth > METADATA_DEPTH_MAX) return false;
  if (typeof value === 'string') return isCleanText(value.replaceAll(/[\t\n\r]/g, ''));
  if (Array.isArray(value)) return value.every((item) => isClean(item, depth + 1));
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(
    ([name, field]) => isClean(name) && !isUnsafeName(name, field) && isClean(field, depth + 1),
  );
}

function faultsOfAjv(errors: ErrorObject[], body: unknown): Fault[] {
  return errors.map((error) => {
    const params = error.params as Record<string, string>;
    const at = (name: string): string => `${error.instancePath}/${escapePointer(name)}`;
    if (error.keyword === 'additionalProperties')
      return { pointer: at(params['additionalProperty']!), message: 'is not a known field' };
    if (error.keyword === 'required') return { pointer: at(params['missingProperty']!), message: 'is required' };
    if (error.keyword === 'format') {
      const value = String((body as Record<string, unknown>)[error.instancePath.slice(1)]);
      const format = params['format'] as keyof typeof FORMATS;
      return { pointer: error.instancePath, message: FORMATS[format](value) ?? 'is not valid' };
    }
    if (error.keyword === 'pattern') {
      return { pointer: error.instancePath, message: 'must not hold control characters' };
    }
    return { pointer: error.instancePath, message: error.message ?? 'is not valid' };
  });
}
