import { LadderError } from '@laddercast/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CURSOR_LENGTH_MAX, decodeCursor, encodeCursor, type EntriesCursor } from './entries-cursor.js';

const anyUid = fc.maxSafeNat().map((uid) => Math.max(1, uid));
const anyPlace = (isDense: boolean) =>
  fc.oneof(
    fc.record({ edition: anyUid, asOfMs: fc.option(fc.maxSafeNat()), offset: fc.maxSafeNat() }),
    fc.record({
      generation: anyUid,
      shards: fc.integer({ min: 1, max: 16 }),
      versions: fc.record({ base: fc.maxSafeNat(), floor: fc.maxSafeNat() }),
      checkpoint: fc.record({
        id: fc.stringMatching(/^[\w-]{12}$/),
        slot: fc.constant(0),
        listVersion: fc.maxSafeNat(),
      }),
      beside: fc.oneof(
        fc.maxSafeNat(),
        fc.record({
          score: fc.double({ noNaN: true, noDefaultInfinity: true }).map((score) => (score === 0 ? 0 : score)),
          member: fc.uint8Array({ minLength: 1, maxLength: 166 }).map((bytes) => Buffer.from(bytes)),
        }),
      ),
      denseRank: isDense ? anyUid : fc.constant(null),
    }),
  );

const anyCursor: fc.Arbitrary<EntriesCursor> = fc
  .constantFrom('ordinal' as const, 'competition' as const, 'dense' as const)
  .chain((style) =>
    fc.record({
      boardId: fc.constantFrom('blitz', 'season-7'),
      boardUid: anyUid,
      window: fc.constantFrom('alltime', 'daily:2026-11-20', 'season:s1'),
      windowUid: anyUid,
      scope: fc.constantFrom('global', 'region:EU', 'guild:šach ♟'),
      style: fc.constant(style),
      direction: fc.constantFrom('after' as const, 'before' as const),
      place: anyPlace(style === 'dense'),
      own: fc.option(fc.maxSafeNat(), { nil: undefined }),
    }),
  )
  // With an entry of the reader alone places are numbers.
  .map(({ own, ...cursor }) => {
    const isKey = 'beside' in cursor.place && typeof cursor.place.beside !== 'number';
    return own === undefined || isKey ? cursor : { ...cursor, own };
  });

/** The cursor behind a text, or the code of its refusal. */
function read(text: string): EntriesCursor | string {
  try {
    return decodeCursor(text);
  } catch (error) {
    if (error instanceof LadderError) return error.code;
    throw error;
  }
}

describe('a cursor', () => {
  it('is read as it was written, and is no longer than a cursor may be', () => {
    fc.assert(
      fc.property(anyCursor, (cursor) => {
        const text = encodeCursor(cursor);
        expect(text.length).toBeLessThanOrEqual(CURSOR_LENGTH_MAX);
        expect(decodeCursor(text)).toEqual(cursor);
      }),
    );
  });

  it('of which a part is another is read as that, or refused, and breaks nothing', () => {
    const anyPart = fc.oneof(
      fc.constantFrom(null, -1, 0, 0.5, 2 ** 53, '', '..', 'x'.repeat(300), [], {}, true),
      fc.maxSafeNat(),
      fc.string(),
    );
    fc.assert(
      fc.property(anyCursor, fc.nat(20), anyPart, fc.nat(2), (cursor, at, part, removed) => {
        const parts = JSON.parse(Buffer.from(encodeCursor(cursor), 'base64url').toString()) as unknown[];
        parts.splice(at % parts.length, removed, part);
        const text = Buffer.from(JSON.stringify(parts)).toString('base64url');
        const found = read(text);
        if (typeof found === 'string') expect(found).toBe('VALIDATION_FAILED');
        else expect(encodeCursor(found)).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['no text', ''],
    ['no JSON', Buffer.from('[1,').toString('base64url')],
    ['no list', Buffer.from('{"0":1}').toString('base64url')],
    ['of another format', Buffer.from('[2]').toString('base64url')],
    ['nested without end', Buffer.from('['.repeat(1500)).toString('base64url')],
    ['too long', Buffer.from(JSON.stringify([1, 'x'.repeat(CURSOR_LENGTH_MAX)])).toString('base64url')],
  ])('that is %s is refused', (_what, text) => {
    expect(read(text)).toBe('VALIDATION_FAILED');
  });

  it('has one text only: another that means the same is refused', () => {
    const text = encodeCursor({
      boardId: 'blitz',
      boardUid: 1,
      window: 'alltime',
      windowUid: 1,
      scope: 'global',
      style: 'ordinal',
      direction: 'after',
      place: { edition: 1, asOfMs: null, offset: 0 },
    });
    const spaced = JSON.stringify(JSON.parse(Buffer.from(text, 'base64url').toString()), null, 1);
    expect(read(text)).toMatchObject({ boardId: 'blitz' });
    expect(read(Buffer.from(spaced).toString('base64url'))).toBe('VALIDATION_FAILED');
  });
});
