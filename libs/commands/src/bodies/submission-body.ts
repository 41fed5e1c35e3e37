import {
  CLEAN_TEXT_PATTERN,
  escapePointer,
  faultOfNamedId,
  faultOfOpaqueId,
  isCleanText,
  validationFailed,
  type Fault,
} from '@laddercast/domain';
import { Ajv, type ErrorObject } from 'ajv';
import { unknownFields } from './body-faults.js';
import { faultOfUnsafeName, isUnsafeName } from './unsafe-names.js';

/** A submission as the client sent it; well formed, not yet checked against its board. */
export interface SubmissionBody {
  submissionId?: string;
  playerId: string;
  score: number;
  columns?: Record<string, number>;
  achievedAt?: string;
  window?: string;
  metadata?: Record<string, unknown>;
  sourceId?: string;
}

/** A submission of a batch names its board. */
export interface BatchedSubmissionBody extends SubmissionBody {
  board: string;
}

export const BATCH_MAX = 1000;

const properties = {
  submissionId: {
    type: 'string',
    format: 'opaque-id',
    maxLength: 128,
    description: 'Makes retries safe; or the Idempotency-Key header.',
  },
  playerId: { type: 'string', format: 'opaque-id', maxLength: 128 },
  score: { type: 'number', description: 'A finite double; on sum boards the increment.' },
  columns: { type: 'object', additionalProperties: { type: 'number' }, maxProperties: 4 },
  achievedAt: { type: 'string', format: 'timestamp', description: 'RFC 3339; default: now, by the database.' },
  window: {
    type: 'string',
    maxLength: 64,
    pattern: CLEAN_TEXT_PATTERN,
    description:
      'The full id of the window it was played in; with the achievedAt of the run where that window is over: without, it is ' +
      'a run of now, and 422 WINDOW_MISMATCH.',
  },
  metadata: { type: 'object', description: 'At most 1,024 bytes of JSON.' },
  sourceId: { type: 'string', format: 'opaque-id', maxLength: 128 },
} as const;

/** JSON Schema (2020-12) of one submission; it validates requests and stands in openapi.json. */
export const SUBMISSION_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['playerId', 'score'],
  properties,
} as const;

export const BATCHED_SUBMISSION_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['board', 'playerId', 'score'],
  properties: { board: { type: 'string', format: 'named-id' }, ...properties },
} as const;

/** RFC 3339 date-time. */
const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/** Unix ms of an RFC 3339 time, null when it is none (or lies before 1970). */
export function parseTimestamp(text: string): number | null {
  const match = TIMESTAMP.exec(text);
  if (!match) return null;
  const [, year, month, day, hour] = match.map(Number) as [number, number, number, number, number];
  const daysInMonth = new Date(Date.UTC(year, month, 0)).getUTCDate();
  // Date.parse would take the 30th of February, and 24:00.
  const ms = day > daysInMonth || hour > 23 ? NaN : Date.parse(text);
  return Number.isFinite(ms) && ms >= 0 ? ms : null;
}

const ajv = new Ajv({
  allErrors: false,
  strict: true,
  formats: {
    'opaque-id': (text: string) => faultOfOpaqueId(text) === null,
    'named-id': (text: string) => faultOfNamedId(text) === null,
    timestamp: (text: string) => parseTimestamp(text) !== null,
  },
});

const validateSubmission = ajv.compile(SUBMISSION_SCHEMA);
const validateBatched = ajv.compile(BATCHED_SUBMISSION_SCHEMA);

/** @throws VALIDATION_FAILED */
export function parseSubmission(body: unknown): SubmissionBody {
  if (!validateSubmission(body)) throw validationFailed(faultsOfAjv(validateSubmission.errors ?? [], body));
  return withCleanMetadata(body as unknown as SubmissionBody);
}

/** @throws VALIDATION_FAILED */
export function parseBatchedSubmission(body: unknown): BatchedSubmissionBody {
  if (!validateBatched(body)) throw validationFailed(faultsOfAjv(validateBatched.errors ?? [], body));
  return withCleanMetadata(body as unknown as BatchedSubmissionBody);
}

/**
 * The submissions of a batch, not yet looked into: each is parsed by itself, so that one bad item fails alone.
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

/** Line breaks and tabs are text; other control characters are not. */
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
      return { pointer: error.instancePath, message: faultOfFormat(params['format']!, value) };
    }
    if (error.keyword === 'pattern') {
      return { pointer: error.instancePath, message: 'must not hold control characters' };
    }
    return { pointer: error.instancePath, message: error.message ?? 'is not valid' };
  });
}

function faultOfFormat(format: string, value: string): string {
  if (format === 'timestamp') return 'must be an RFC 3339 time such as 2026-11-20T18:00:00.000Z, not before 1970';
  return (format === 'named-id' ? faultOfNamedId(value) : faultOfOpaqueId(value)) ?? 'is not valid';
}
