// The module of the page itself, without a browser.
import { expect, it } from 'vitest';
import { pageModule } from './page-module.js';

interface Messages {
  problemDetail(problem: { detail?: string; errors?: { pointer: string; message: string }[] }): string;
}
const { problemDetail } = await pageModule<Messages>('messages.js');

it('says each fault of a body once, also the one that is the detail', () => {
  const errors = [
    { pointer: '', message: 'must be an object' },
    { pointer: '/score', message: 'must be a number' },
  ];
  expect(problemDetail({ detail: '/: must be an object', errors })).toBe(
    '/: must be an object /score: must be a number',
  );
  expect(problemDetail({ detail: '/score: must be a number', errors: errors.slice(1) })).toBe(
    '/score: must be a number',
  );
  expect(problemDetail({ detail: 'Say whose.', errors: errors.slice(1) })).toBe('Say whose. /score: must be a number');
  expect(problemDetail({})).toBe('');
});
