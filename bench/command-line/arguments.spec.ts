import { describe, expect, it } from 'vitest';
import { count, helpOf, oneOf, readArguments, someOf } from './arguments.js';
import type { Parts } from './options.js';

const run = (): Promise<string> => Promise.reject(new Error('Only its command line is looked at.'));
const parts: Parts = {
  submit: {
    description: 'single submissions',
    run,
    options: {
      seconds: { type: 'string', help: 'how long', default: '10', parse: count },
      boards: { type: 'string', help: 'which', parse: someOf(['small']) },
    },
  },
  reads: {
    description: 'reads',
    run,
    options: { boards: { type: 'string', help: 'which', parse: someOf(['large']) } },
  },
  memory: {
    description: 'an hour',
    run,
    onlyByName: true,
    oneApiProcess: true,
    options: { layouts: { type: 'string', help: 'which', parse: someOf(['a', 'b']) } },
  },
};

describe('the command line of the benchmark', () => {
  it('is all parts without a name, with defaults', () => {
    const { name, options, help } = readArguments(parts, []);
    expect(name).toBeNull();
    expect(help).toBe(false);
    expect(options).toMatchObject({
      rounds: 3,
      apps: 'apart',
      'api-processes': 1,
      seconds: 10,
      kafka: undefined,
      layouts: undefined,
    });
  });

  it('is one part with options of its own', () => {
    const { name, options } = readArguments(parts, ['memory', '--layouts', 'b,a', '--kafka', '--rounds', '5']);
    expect(name).toBe('memory');
    expect(options).toMatchObject({ layouts: ['b', 'a'], kafka: true, rounds: 5 });
  });

  it.each([
    ['submit', 'small'],
    ['reads', 'large'],
  ])('takes an option of several parts as %s means it', (part, board) => {
    expect(readArguments(parts, [part, '--boards', board]).options).toMatchObject({ boards: [board] });
  });

  it.each([
    [['nothing'], 'There is no part "nothing"; there are submit, reads, memory.'],
    [['submit', '--boards', 'large'], '--boards has no "large"; it has small.'],
    [['--boards', 'large'], '--boards is another for submit and reads: name the part.'],
    [['submit', '--layouts', 'a'], '--layouts is for memory, not for submit.'],
    [['submit', '--seconds', '0'], '--seconds must be a number such as 20000.'],
    [['--apps', 'two'], '--apps has no "two"; it has one, apart.'],
    [['--apps', 'one', '--api-processes', '2'], '--api-processes is for --apps apart'],
    [['memory', '--api-processes', '2'], '--api-processes is not for memory'],
    [['memory', '--layouts', 'a,c'], '--layouts has no "c"; it has a, b.'],
    [['--fast'], 'npm run bench -- --help'],
  ])('refuses %j', (args, message) => {
    expect(() => readArguments(parts, args)).toThrow(message);
  });

  it('lists every part and option in its help', () => {
    const text = helpOf(parts);
    for (const word of [
      'single submissions',
      'an hour (only when asked for)',
      '--seconds <…>',
      '--kafka',
      '--layouts',
    ]) {
      expect(text).toContain(word);
    }
  });

  it('takes one of some words', () => {
    expect(oneOf(['a'])('a', 'x')).toBe('a');
  });
});
