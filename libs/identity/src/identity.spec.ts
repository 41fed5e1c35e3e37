// Real: nothing outside the process.
import type { KeyScope } from '@laddercast/ledger';
import { describe, expect, it } from 'vitest';
import { ANONYMOUS, assertMayReadAudit, assertModerate, holdsScope, type Identity } from './identity.js';

const keyWith = (...scopes: KeyScope[]): Identity => ({ kind: 'key', keyId: 'k', scopes });
const ADA: Identity = { kind: 'player', playerId: 'ada', expiresAtMs: 0 };

describe('a key', () => {
  it.each<[KeyScope, KeyScope[]]>([
    ['scores:write', ['scores:write']],
    ['read', ['read']],
    ['moderate', ['read', 'moderate']],
    ['admin', ['scores:write', 'read', 'moderate', 'admin']],
  ])('with the scope %s holds %j and no other', (scope, held) => {
    const all: KeyScope[] = ['scores:write', 'read', 'moderate', 'admin'];
    expect(all.filter((one) => holdsScope(keyWith(scope), one))).toEqual(held);
  });

  it('with two scopes holds what each of them stands for', () => {
    expect(holdsScope(keyWith('scores:write', 'moderate'), 'read')).toBe(true);
    expect(holdsScope(keyWith('scores:write', 'read'), 'moderate')).toBe(false);
  });
});

it('moderating is for keys with the scope moderate or admin', () => {
  for (const key of [keyWith('moderate'), keyWith('admin')]) expect(() => assertModerate(key)).not.toThrow();
  for (const other of [keyWith('read', 'scores:write'), ADA]) {
    expect(() => assertModerate(other)).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  }
  expect(() => assertModerate(ANONYMOUS)).toThrow(expect.objectContaining({ code: 'UNAUTHENTICATED' }));
});

it('a moderator reads the audit log of one player, run or flag; the rest is for admin keys', () => {
  for (const subject of ['player:ada', 'run:blitz/b1c', 'flag:f00']) {
    expect(() => assertMayReadAudit(keyWith('moderate'), subject)).not.toThrow();
    expect(() => assertMayReadAudit(keyWith('read'), subject)).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  }
  for (const subject of [undefined, 'k7Yw0aQx3Lr2', 'blitz', 'blitz/player:ada']) {
    expect(() => assertMayReadAudit(keyWith('moderate'), subject)).toThrow(
      expect.objectContaining({ code: 'FORBIDDEN' }),
    );
    expect(() => assertMayReadAudit(keyWith('admin'), subject)).not.toThrow();
  }
});
