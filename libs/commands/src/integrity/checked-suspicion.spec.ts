import { describe, expect, it } from 'vitest';
import { checkedSuspicion } from './checked-suspicion.js';

const SUSPICION = { severity: 'high', summary: 'Too good.', details: { by: 3 }, key: 'k' };

describe('the answer of a rule', () => {
  it('is null, or a suspicion as JSON keeps it', () => {
    expect(checkedSuspicion(null)).toBeNull();
    expect(checkedSuspicion(SUSPICION)).toEqual(SUSPICION);
    const { key: _key, ...keyless } = SUSPICION;
    expect(checkedSuspicion(keyless)).toEqual(keyless);
    const loose = { ...SUSPICION, details: { at: new Date(0), none: undefined, escaped: '\\u0000 \\ud800' } };
    expect(checkedSuspicion(loose)).toMatchObject({
      details: { at: '1970-01-01T00:00:00.000Z', escaped: '\\u0000 \\ud800' },
    });
  });

  it.each([
    ['nothing', undefined],
    ['text', 'suspicious'],
    ['an unknown severity', { ...SUSPICION, severity: 'fatal' }],
    ['no summary', { ...SUSPICION, summary: '' }],
    ['a long summary', { ...SUSPICION, summary: 'x'.repeat(501) }],
    ['a summary of two lines', { ...SUSPICION, summary: 'a\nb' }],
    ['a key that is a number', { ...SUSPICION, key: 7 }],
    ['a long key', { ...SUSPICION, key: 'x'.repeat(129) }],
    ['no details', { ...SUSPICION, details: undefined }],
    ['details that are a list', { ...SUSPICION, details: [] }],
    ['large details', { ...SUSPICION, details: { x: 'x'.repeat(8192) } }],
    ['a NUL', { ...SUSPICION, details: { x: '\0' } }],
    ['half a pair', { ...SUSPICION, details: { x: '\ud800' } }],
    ['what JSON cannot hold', { ...SUSPICION, details: { x: 1n } }],
  ])('is none with %s', (_what, answer) => expect(() => checkedSuspicion(answer)).toThrow());
});
