import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { callOf, readScriptText, redisScripts } from './redis-scripts.js';

const FOLDER = new URL('../lua/', import.meta.url);
/** `shard/apply-entries`, without what is included. */
const names = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.lua') && !name.startsWith('include/'))
  .map((name) => name.slice(0, -'.lua'.length));
const includes = readdirSync(new URL('include/', FOLDER));

/** Where the header of a script and its body disagree; nothing when they say the same. */
function faultsOf(text: string): string[] {
  const lines = text.split('\n');
  const end = lines.findIndex((line, at) => at > 0 && !line.startsWith('--'));
  const header = lines.slice(1, end);
  const body = lines
    .slice(end)
    .map((line) => line.replace(/--.*/, ''))
    .join('\n');
  const faults: string[] = [];
  if (!/^#!lua( flags=(no-writes|allow-oom))?$/.test(lines[0]!)) faults.push('the first line is not #!lua');
  if (header.filter((line) => line.startsWith('-- returns ')).length !== 1)
    faults.push('the header has no one "returns"');
  if (/(?<![.\w])(loadstring|os\.|math\.random|unpack\s*\()|('TIME'|'RANDOMKEY'|'KEYS'|'SCAN')/.test(body))
    faults.push('not allowed');
  for (const table of ['KEYS', 'ARGV']) {
    const declared = header.flatMap((line) => [
      ...line.matchAll(new RegExp(`^-- ${table}\\[(\\d+)(\\.\\.\\.)?\\] `, 'g')),
    ]);
    const numbers = declared.map(([, number]) => Number(number));
    const open = declared.findIndex(([, , more]) => more !== undefined);
    if (numbers.some((number, at) => number !== at + 1)) faults.push(`${table} are not declared as 1, 2, 3 …`);
    if (open >= 0 && open !== declared.length - 1) faults.push(`${table}[…...] is not the last`);
    const used = new Set(
      [...body.matchAll(new RegExp(`${table}\\[(\\d+)\\]`, 'g'))].map(([, number]) => Number(number)),
    );
    for (const number of used) if (!numbers.includes(number)) faults.push(`${table}[${number}] is used, not declared`);
    const fixed = open < 0 ? numbers : numbers.slice(0, open);
    for (const number of fixed) if (!used.has(number)) faults.push(`${table}[${number}] is declared, not used`);
    const usedOpenly = new RegExp(`${table}\\[(?!\\d+\\])|#${table}|ipairs\\(${table}`).test(body);
    if (usedOpenly !== open >= 0) faults.push(`${table} is read as a whole, or declared so, and not both`);
  }
  return faults;
}

describe('the Lua scripts', () => {
  it.each(names)('%s.lua does what its header says', (name) => {
    expect(faultsOf(readFileSync(new URL(`${name}.lua`, FOLDER), 'utf8'))).toEqual([]);
    expect(readScriptText(name)).not.toMatch(/^-- include /m);
  });

  it('are all loaded, and each include is used', () => {
    expect(
      Object.values(redisScripts)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(names.map((path) => path.slice(path.lastIndexOf('/') + 1)).sort());
    for (const include of includes) {
      const line = `-- include ${include.slice(0, -'.lua'.length)}\n`;
      expect(names.some((name) => readFileSync(new URL(`${name}.lua`, FOLDER), 'utf8').includes(line))).toBe(true);
    }
  });

  it('are called with the number of keys that the header declares', () => {
    expect(redisScripts.readRows.keys).toEqual({ count: 4, more: false });
    expect(redisScripts.applyEntries.keys).toEqual({ count: 13, more: true });
    expect(() => callOf(redisScripts.readRows, ['{1}a', '{1}b'], [])).toThrow('takes 4 keys, not 2');
    expect(() => callOf(redisScripts.applyEntries, ['{1}a'], [])).toThrow('takes 13 or more keys, not 1');
  });
});

describe('the check of headers', () => {
  const good =
    "#!lua\n-- Does.\n-- KEYS[1] a\n-- ARGV[1] b\n-- returns 1\n\nreturn redis.call('GET', KEYS[1], ARGV[1])\n";

  it('passes a header that is true', () => expect(faultsOf(good)).toEqual([]));

  it.each([
    ['a key that is not declared', good.replace('ARGV[1])', 'ARGV[1], KEYS[2])')],
    ['a key that is never used', good.replace('-- ARGV', '-- KEYS[2] c\n-- ARGV')],
    ['an argument that is never used', good.replace(', ARGV[1]', '')],
    ['keys read as a whole without being declared so', good.replace('KEYS[1],', 'KEYS[#ARGV],')],
    ['arguments declared as open and not read so', good.replace('-- ARGV[1]', '-- ARGV[1...]')],
    ['no returns', good.replace('-- returns 1\n', '')],
    ['no first line', good.replace('#!lua', '-- lua')],
    ['a number left out', good.replace('-- KEYS[1]', '-- KEYS[2]')],
  ])('reports %s', (_what, text) => expect(faultsOf(text)).not.toEqual([]));
});
