import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../../tools/build.mjs';
import { helpOf } from '../command-line/arguments.js';
import { parts } from './parts.js';

const readme = readFileSync(join(projectRoot, 'bench/README.md'), 'utf8');
/** The rows of the README's table of parts: name, what is measured, floor. */
const rows = [...readme.matchAll(/^\| `(\w+)` +\| (.+?) +\| (.+?) +\|$/gm)].map(([, ...cells]) => cells);

describe('the parts of the benchmark', () => {
  it('stand in the README in the order and words of the help', () => {
    const described = Object.entries(parts).map(([name, { description }]) => [name, description]);
    expect(rows.map(([name, measures]) => [name, measures])).toEqual(described);
    const help = [...helpOf(parts).matchAll(/^ {2}npm run bench -- (\w+) +(.+?)(?: \(only when asked for\))?$/gm)];
    expect(help.map(([, name, measures]) => [name, measures])).toEqual(described);
  });
});
