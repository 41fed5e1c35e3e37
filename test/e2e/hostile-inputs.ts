import type { ErrorCode } from '@laddercast/domain';

/** Ids that are something to JavaScript, SQL, Lua, Redis, a spreadsheet, an address or the eye, and ids all the same. */
export const GOOD_IDS: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  '0',
  '-1',
  '1e400',
  'ME',
  '...',
  'a/b',
  '..%2f..%2fetc',
  '%00',
  '%2e%2e',
  '%',
  '?a=b&c#d',
  '\\',
  '"',
  "'; DROP TABLE entries; --",
  "' OR '1'='1",
  '$1',
  '{0.1.0}:z',
  '}',
  '*',
  '\\"]] redis.call("flushall") --[[',
  '%s%d%n',
  '=1+1',
  '@SUM(A1)',
  ' spaced ',
  '<script>alert(1)</script>',
  '\u202egnp.exe',
  'a\u200bb',
  'a\u2060b',
  '\ufeffbom',
  '\u2028',
  '\u00e9',
  'e\u0301',
  'ﷺ',
  '\uffff',
  '\u{10ffff}',
  '\u{1f3c6}'.repeat(32),
  'x'.repeat(128),
];

/** As JSON writes them. */
export const BAD_IDS: readonly [name: string, json: string][] = [
  ['empty', '""'],
  ['a dot', '"."'],
  ['two dots', '".."'],
  ['me', '"me"'],
  ['a NUL', '"a\\u0000b"'],
  ['a line break', '"a\\nb"'],
  ['DEL', '"\\u007f"'],
  ['a C1 control', '"\\u0085"'],
  ['half a pair', '"\\ud83c"'],
  ['the other half', '"\\udfc6a"'],
  ['halves the wrong way round', '"\\udfc6\\ud83c"'],
  ['128 emoji', `"${'\u{1f3c6}'.repeat(128)}"`],
  ['33 emoji', `"${'\u{1f3c6}'.repeat(33)}"`],
  ['129 bytes', `"${'x'.repeat(129)}"`],
  ['127 and an accent', `"${'x'.repeat(127)}é"`],
  ['a number', '7'],
  ['null', 'null'],
  ['an array', '["ada"]'],
  ['an object', '{"toString":"ada"}'],
];

/** A submission as the fields of its JSON say it, and what becomes of it: the score that it counts with, or its code. */
export interface HostileRun {
  name: string;
  fields: string;
  outcome: number | ErrorCode;
}

const digits = '7'.repeat(10_000);
const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

const SCORES: readonly [json: string, outcome: number | ErrorCode][] = [
  ['1e400', 'VALIDATION_FAILED'],
  ['-1e400', 'VALIDATION_FAILED'],
  [digits, 'VALIDATION_FAILED'],
  [`0.${digits}`, Number(`0.${digits}`)],
  ['1e-99999', 0],
  ['5e-324', 5e-324],
  ['2.2250738585072011e-308', Number('2.2250738585072011e-308')],
  ['1.7976931348623157e308', Number.MAX_VALUE],
  ['-1.7976931348623157e308', -Number.MAX_VALUE],
  ['-0', 0],
  ['-0.0e10', 0],
  ['0.30000000000000004', 0.1 + 0.2],
  ['9007199254740993', 2 ** 53],
  ['"1"', 'VALIDATION_FAILED'],
  ['true', 'VALIDATION_FAILED'],
  ['null', 'VALIDATION_FAILED'],
  ['[1]', 'VALIDATION_FAILED'],
  ['{"valueOf":1}', 'VALIDATION_FAILED'],
  ['NaN', 'MALFORMED_JSON'],
  ['-Infinity', 'MALFORMED_JSON'],
  ['1n', 'MALFORMED_JSON'],
  ['0x10', 'MALFORMED_JSON'],
  ['01', 'MALFORMED_JSON'],
  ['+1', 'MALFORMED_JSON'],
  ['.5', 'MALFORMED_JSON'],
  ['1,"score":2', 2],
];

const TIMES: readonly [json: string, outcome: number | ErrorCode][] = [
  ['"+275760-09-13T00:00:00.000Z"', 'VALIDATION_FAILED'],
  ['"-000001-01-01T00:00:00Z"', 'VALIDATION_FAILED'],
  ['"0000-01-01T00:00:00Z"', 'VALIDATION_FAILED'],
  ['"1969-12-31T23:59:59.999Z"', 'VALIDATION_FAILED'],
  ['"1970-01-01T00:00:00Z"', 1],
  ['"2016-12-31T23:59:60Z"', 'VALIDATION_FAILED'],
  ['"2026-11-01T24:00:00Z"', 'VALIDATION_FAILED'],
  ['"2025-02-29T00:00:00Z"', 'VALIDATION_FAILED'],
  ['"2024-02-29T23:59:59.999999999+14:00"', 1],
  ['"2024-02-29T00:00:00+99:99"', 'VALIDATION_FAILED'],
  ['"2024-02-29T00:00:00[Europe/Berlin]"', 'VALIDATION_FAILED'],
  ['"9999-12-31T23:59:59Z"', 'ACHIEVED_AT_IN_FUTURE'],
  ['8.64e15', 'VALIDATION_FAILED'],
  ['"\\u0000"', 'VALIDATION_FAILED'],
];

const OTHERS: readonly (readonly [name: string, fields: string, outcome: number | ErrorCode])[] = [
  ['__proto__ beside the fields', '"score":1,"__proto__":{"polluted":1}', 'VALIDATION_FAILED'],
  ['constructor beside the fields', '"score":1,"constructor":{"prototype":{"polluted":1}}', 'VALIDATION_FAILED'],
  ['__proto__ in metadata', '"score":1,"metadata":{"__proto__":{"polluted":1}}', 'VALIDATION_FAILED'],
  ['an escaped __proto__ in metadata', '"score":1,"metadata":{"a":[{"\\u005f_proto__":1}]}', 'VALIDATION_FAILED'],
  [
    'constructor.prototype in metadata',
    '"score":1,"metadata":{"constructor":{"prototype":{"polluted":1}}}',
    'VALIDATION_FAILED',
  ],
  ['constructor in metadata', '"score":1,"metadata":{"constructor":{"name":"x"},"toString":1}', 1],
  ['__proto__ as a column', '"score":1,"columns":{"__proto__":1}', 'COLUMNS_MISMATCH'],
  ['toString as a column', '"score":1,"columns":{"toString":1}', 'COLUMNS_MISMATCH'],
  ['metadata with a NUL', '"score":1,"metadata":{"a":"\\u0000"}', 'VALIDATION_FAILED'],
  ['metadata with half a pair', '"score":1,"metadata":{"a":["\\udc00"]}', 'VALIDATION_FAILED'],
  ['metadata with a name of half a pair', '"score":1,"metadata":{"\\ud800":1}', 'VALIDATION_FAILED'],
  ['metadata with line breaks', '"score":1,"metadata":{"a\\n":"\\r\\n\\t\\u2028"}', 1],
  ['metadata with an infinite number', '"score":1,"metadata":{"a":1e400}', 'VALIDATION_FAILED'],
  ['metadata nested as deeply as may be', `"score":1,"metadata":{"a":${nested(31)}}`, 1],
  ['metadata nested too deeply', `"score":1,"metadata":{"a":${nested(33)}}`, 'VALIDATION_FAILED'],
  ['metadata of 1,024 bytes', `"score":1,"metadata":{"a":"${'é'.repeat(508)}"}`, 1],
  ['metadata of 1,025 bytes', `"score":1,"metadata":{"a":"${'é'.repeat(508)}x"}`, 'METADATA_TOO_LARGE'],
  ['metadata like SQL', '"score":1,"metadata":{"\'; DROP TABLE entries; --":"$$"}', 1],
  ['a window like SQL', '"score":1,"window":"alltime\'; --"', 'WINDOW_MISMATCH'],
  ['a window named constructor', '"score":1,"window":"constructor"', 'WINDOW_MISMATCH'],
  ['a window with a NUL', '"score":1,"window":"alltime\\u0000"', 'VALIDATION_FAILED'],
  ['a window with half a pair', '"score":1,"window":"season:\\ud800"', 'WINDOW_MISMATCH'],
  ['a day that never is', '"score":1,"window":"daily:2026-02-30"', 'WINDOW_MISMATCH'],
  ['a source with a NUL', '"score":1,"sourceId":"\\u0000"', 'VALIDATION_FAILED'],
  ['a source like Lua', '"score":1,"sourceId":"]] redis.call(\'flushall\')"', 1],
];

/** Every run for every door. Those that count have a player each of their own. */
export const HOSTILE_RUNS: readonly HostileRun[] = [
  ...GOOD_IDS.map((id, i) => ({
    name: `the player ${JSON.stringify(id).slice(0, 40)}`,
    fields: `"playerId":${JSON.stringify(id)},"score":${i + 0.5}`,
    outcome: i + 0.5,
  })),
  ...BAD_IDS.flatMap(([name, json]): HostileRun[] => [
    { name: `a player that is ${name}`, fields: `"playerId":${json},"score":1`, outcome: 'VALIDATION_FAILED' },
    {
      name: `a source that is ${name}`,
      fields: `"playerId":"ada","sourceId":${json},"score":1`,
      outcome: 'VALIDATION_FAILED',
    },
  ]),
  ...SCORES.map(([json, outcome], i) => ({
    name: `the score ${json.slice(0, 30)}`,
    fields: `"playerId":"score ${i}","score":${json}`,
    outcome,
  })),
  ...TIMES.map(([json, outcome], i) => ({
    name: `the time ${json}`,
    fields: `"playerId":"time ${i}","score":1,"achievedAt":${json}`,
    outcome,
  })),
  ...OTHERS.map(([name, fields, outcome], i) => ({ name, fields: `"playerId":"other ${i}",${fields}`, outcome })),
];
