import { escapePointer, type Fault } from '@laddercast/domain';

/** How deeply objects and arrays may stand in each other: twice what a batch with the deepest metadata needs. */
export const JSON_DEPTH_MAX = 64;
/** How many values a body may have, and that of a batch. */
export const JSON_VALUES_MAX = 10_000;
export const BATCH_JSON_VALUES_MAX = 300_000;
/** That of a template: 50 for each of its 2,000 boards. */
export const TEMPLATE_JSON_VALUES_MAX = 100_000;

const [QUOTE, BACKSLASH, COLON, COMMA] = ['"', '\\', ':', ','].map((one) => one.charCodeAt(0));
const [OBJECT, OBJECT_END, ARRAY, ARRAY_END] = ['{', '}', '[', ']'].map((one) => one.charCodeAt(0));

/**
 * What makes a JSON text too costly to be looked at, before anything is made of it; null for all others, also for what is
 * no JSON: that is the parser's to say.
 */
export function faultOfShape(text: string, valuesMax: number): Fault | null {
  let depth = 0;
  let values = 0;
  let [stringAt, stringEnd, memberAt, memberEnd] = [0, 0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      stringAt = at;
      at = endOfString(text, at);
      stringEnd = at;
    } else if (code === OBJECT || code === ARRAY) {
      depth += 1;
      values += 1;
      if (depth > JSON_DEPTH_MAX) {
        return {
          pointer: memberPointer(text, memberAt, memberEnd),
          message: `is nested deeper than ${JSON_DEPTH_MAX}`,
        };
      }
    } else if (code === OBJECT_END || code === ARRAY_END) depth -= 1;
    else if (code === COMMA) values += 1;
    else if (code === COLON && depth === 1) [memberAt, memberEnd] = [stringAt, stringEnd];
    if (values > valuesMax) return { pointer: '', message: `has more than ${valuesMax} values` };
  }
  return null;
}

/** Where the string ends that begins at a quote; the end of the text when it never does. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

const NAME_LENGTH_MAX = 128;

/** The member of the body that something stands in. */
function memberPointer(text: string, at: number, end: number): string {
  if (end <= at || end - at > NAME_LENGTH_MAX) return '';
  try {
    return `/${escapePointer(JSON.parse(text.slice(at, end + 1)) as string)}`;
  } catch {
    return '';
  }
}
