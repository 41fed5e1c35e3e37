import {
  escapePointer,
  faultOfNamedId,
  faultOfOpaqueId,
  isCleanText,
  OPAQUE_ID_BYTES_MAX,
  validationFailed,
  type Fault,
} from '@laddercast/domain';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { unknownFields } from './body-faults.js';
import { Passes, type JsonSchema } from './body-rules.js';
import { schemaOfClass } from './class-schema.js';
import { faultOfUnsafeName, isUnsafeName } from './unsafe-names.js';

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

const URL_BYTES_MAX = 512;

/** A link that pages may show: with a host, without credentials, and nothing that shows as something else. */
function faultOfHttpsUrl(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSafe =
    url?.protocol === 'https:' && url.username === '' && url.password === '' && !/[\s<>"\\^`{|}]/.test(text);
  if (isSafe && isCleanText(text) && Buffer.byteLength(text) <= URL_BYTES_MAX) return null;
  return `must be an https URL of at most ${URL_BYTES_MAX} bytes, without a user or blanks in it`;
}

/** What is wrong with a text of each format. */
const FORMATS = {
  'opaque-id': faultOfOpaqueId,
  'named-id': faultOfNamedId,
  timestamp: faultOfTimestamp,
  'https-url': faultOfHttpsUrl,
};
/** A text of this format. */
export const HasFormat = (format: keyof typeof FORMATS, words: JsonSchema = {}): PropertyDecorator =>
  Passes(FORMATS[format], { format, ...words });

const AJV = new Ajv({
  allErrors: false,
  strict: true,
  formats: Object.fromEntries(
    Object.entries(FORMATS).map(([format, faultOf]) => [format, (text: string) => faultOf(text) === null]),
  ),
});

/** An id that clients make. */
export const IsIdOfClient = (): PropertyDecorator => HasFormat('opaque-id', { maxLength: OPAQUE_ID_BYTES_MAX });

interface BodyWithMetadata {
  metadata?: Record<string, unknown>;
}

/**
 * The check of a class's bodies, compiled once, for the first body: for what comes by the thousand, too many for
 * class-validator.
 * @returns throws VALIDATION_FAILED
 */
export function compiledBody<Body extends object>(type: new () => Body): (body: unknown) => Body {
  // Not at the start, where it would take a tenth of it, in processes that get no bodies, too.
  let validate: ValidateFunction<Body> | null = null;
  return (body) => {
    validate ??= AJV.compile<Body>(schemaOfClass(type));
    if (!validate(body)) throw validationFailed(faultsOfAjv(validate.errors ?? [], body));
    assertMetadataIsClean(body as BodyWithMetadata);
    return body;
  };
}

/**
 * The items of a batch, not parsed yet: each is parsed by itself, so that one bad item fails alone. Only their number
 * is checked, by hand.
 * @param name of the one field of the body, in the plural
 * @throws VALIDATION_FAILED when the batch itself is not well formed
 */
export function itemsOf(body: unknown, name: string, itemsMax: number): unknown[] {
  const { [name]: items, ...unknown } = (body ?? {}) as Record<string, unknown>;
  const pointer = `/${name}`;
  if (!Array.isArray(items)) {
    throw validationFailed([{ pointer, message: `must be an array of 1-${itemsMax} ${name}` }]);
  }
  const faults = unknownFields(unknown);
  if (items.length < 1 || items.length > itemsMax) {
    faults.push({ pointer, message: `must hold 1-${itemsMax} ${name}, not ${items.length}` });
  }
  if (faults.length > 0) throw validationFailed(faults);
  return items;
}

/** The same text for the same content, in whatever order the fields came. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );
}

/** @throws VALIDATION_FAILED for metadata that cannot be kept and shown */
function assertMetadataIsClean({ metadata }: BodyWithMetadata): void {
  if (metadata !== undefined && !isClean(metadata)) {
    const message = `must not hold NUL, control characters or lone surrogates, nor be nested deeper than ${METADATA_DEPTH_MAX}`;
    throw validationFailed([faultOfUnsafeName(metadata, '/metadata') ?? { pointer: '/metadata', message }]);
  }
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
      const value = String(valueAt(body, error.instancePath));
      const format = params['format'] as keyof typeof FORMATS;
      return { pointer: error.instancePath, message: FORMATS[format](value) ?? 'is not valid' };
    }
    if (error.keyword === 'pattern') {
      return { pointer: error.instancePath, message: 'must not hold control characters' };
    }
    return { pointer: error.instancePath, message: error.message ?? 'is not valid' };
  });
}

/** What a JSON pointer of the validator points to; names of fields of ours need no unescaping. */
const valueAt = (body: unknown, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], body);
