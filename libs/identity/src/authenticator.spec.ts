import { setTimeout as delay } from 'node:timers/promises';
import type { LadderError } from '@laddercast/domain';
import type { KeyLook } from '@laddercast/ledger';
import { metrics } from '@laddercast/platform';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { newKey, sign } from '../test/key-set-server.js';
import { Authenticator } from './authenticator.js';
import { LOOKUPS_WAITING_MAX } from './key-lookups.js';
import { PlayerTokens } from './player-tokens.js';

const SECRET = 'lk_a-secret-of-sixteen-or-more';
const JWT_SECRET = 'a secret of the tests, 32 characters';
const valid = (validForMs: number | null): KeyLook => ({
  state: 'valid',
  key: { keyId: 'k', name: 'k', scopes: ['read'] },
  validForMs,
});

/** Keys of a database that can change, hang and fail. */
class TestKeys {
  answer: KeyLook | Error | 'hangs' = valid(null);
  answersAfterMs = 0;
  asked: string[][] = [];

  async look(secrets: readonly string[]): Promise<KeyLook[]> {
    this.asked.push([...secrets]);
    const { answer } = this;
    if (answer === 'hangs') return new Promise(() => undefined);
    if (this.answersAfterMs > 0) await delay(this.answersAfterMs);
    if (answer instanceof Error) throw answer;
    return secrets.map((secret) => (secret === SECRET ? answer : { state: 'unknown' }));
  }
}

async function failuresByReason(): Promise<Record<string, number>> {
  const { values } = await metrics.authenticationFailures.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels.reason, value]));
}

describe('Authenticator', () => {
  let keys: TestKeys;
  let authenticator: Authenticator;

  beforeEach(() => {
    metrics.authenticationFailures.reset();
    keys = new TestKeys();
    authenticator = new Authenticator(keys, new PlayerTokens({ secret: JWT_SECRET }));
  });

  it('looks a key up once for all who come with it, and again after a second', async () => {
    await Promise.all(Array.from({ length: 20 }, () => authenticator.authenticate(SECRET)));
    await authenticator.authenticate(SECRET);
    expect(keys.asked).toEqual([[SECRET]]);
    await delay(1010);
    await authenticator.authenticate(SECRET);
    expect(keys.asked).toHaveLength(2);
  });

  it('forgets a key the moment it expires, though it was just looked up', async () => {
    keys.answer = valid(300);
    const identity = await authenticator.authenticate(SECRET);
    expect(authenticator.stillHolds(identity)).toBe(true);
    keys.answer = { state: 'expired' };
    await delay(200);
    await authenticator.authenticate(SECRET);
    expect(keys.asked).toHaveLength(1);
    await delay(105);
    expect(authenticator.stillHolds(identity)).toBe(false);
    await expect(authenticator.authenticate(SECRET)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
      detail: 'This API key has expired.',
    });
  });

  it.each(['hangs' as const, new Error('away')])(
    'takes a known key while the database %s, until it expires',
    async (away) => {
      keys.answer = valid(2000);
      await authenticator.authenticate(SECRET);
      keys.answer = away;
      await delay(1010);
      expect(await authenticator.authenticate(SECRET)).toMatchObject({ kind: 'key', keyId: 'k' });
      await delay(1000);
      await expect(authenticator.authenticate(SECRET)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    },
  );

  it('refuses a revoked key however slowly the database answers, and asks it no more than once at a time', async () => {
    await authenticator.authenticate(SECRET);
    await delay(1010);
    keys.answer = { state: 'revoked' };
    keys.answersAfterMs = 700;
    expect(await authenticator.authenticate(SECRET)).toMatchObject({ kind: 'key' });
    await expect(authenticator.authenticate(SECRET)).rejects.toMatchObject({ detail: 'This API key was revoked.' });
    expect(keys.asked).toHaveLength(2);
  });

  it('takes no key while the database is away that had not been confirmed for a minute before', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      await authenticator.authenticate(SECRET);
      vi.advanceTimersByTime(60_000);
      await expect(authenticator.authenticate('lk_another-one-that-is-none')).rejects.toThrow('not known');
      keys.answer = new Error('away');
      vi.advanceTimersByTime(3_600_000);
      expect(await authenticator.authenticate(SECRET)).toMatchObject({ kind: 'key' });
      keys.answer = valid(null);
      await expect(authenticator.authenticate('lk_another-one-that-is-none')).rejects.toThrow('not known');
      keys.answer = new Error('away');
      await expect(authenticator.authenticate(SECRET)).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
      // It is not forgotten.
      keys.answer = valid(null);
      expect(await authenticator.authenticate(SECRET)).toMatchObject({ kind: 'key' });
    } finally {
      vi.useRealTimers();
    }
  });

  it('says that it cannot tell of a key that it does not know while the database is away', async () => {
    keys.answer = new Error('away');
    await expect(authenticator.authenticate(SECRET)).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
    await expect(authenticator.lookAgain([SECRET])).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' });
    expect(await failuresByReason()).toEqual({ unavailable: 1 });
  });

  it('asks no database about what cannot be a key', async () => {
    for (const token of [
      'short',
      'with a space in it, and long',
      `lk_${'ü'.repeat(30)}`,
      'x'.repeat(8193),
      'a.b.c.d.e',
    ]) {
      await expect(authenticator.authenticate(token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    }
    expect(keys.asked).toEqual([]);
    expect(await failuresByReason()).toEqual({ key_unknown: 4, too_long: 1 });
  });

  it('looks wrong keys up with one query at a time, however many are tried, and lets so many wait', async () => {
    let running = 0;
    let answered = 0;
    let most = 0;
    const sizes: number[] = [];
    const slow = new Authenticator(
      {
        look: async (secrets) => {
          most = Math.max(most, (running += 1));
          sizes.push(secrets.length);
          await delay(20);
          running -= 1;
          answered += 1;
          return secrets.map((secret) => (secret === SECRET ? answer : { state: 'unknown' }));
        },
      },
      new PlayerTokens({}),
    );
    let answer = valid(null);
    const tokens = Array.from({ length: LOOKUPS_WAITING_MAX + 11 }, (_, index) => `lk_a-wrong-key-of-many-${index}`);
    const tries = [SECRET, ...tokens].map((token) =>
      slow.authenticate(token).catch((error: LadderError) => error.code),
    );
    const answers = await Promise.all(tries);
    expect(answers[0]).toMatchObject({ kind: 'key' });
    expect(answers.filter((answer) => answer === 'UNAUTHENTICATED')).toHaveLength(LOOKUPS_WAITING_MAX);
    expect(answers.filter((answer) => answer === 'IDENTITY_UNAVAILABLE')).toHaveLength(11);
    expect(most).toBe(1);
    expect(sizes).toEqual([1, 500, 500, 500, 500]);
    // A key that is known goes before them: also when it is to be refused.
    answer = { state: 'revoked' };
    await delay(1010);
    const flood = tokens.map((token) => slow.authenticate(token).catch(() => undefined));
    await expect(slow.authenticate(SECRET)).rejects.toMatchObject({ detail: 'This API key was revoked.' });
    // After the query that was under way, and the next.
    expect(answered).toBe(5 + 2);
    await Promise.all(flood);
  });

  it('looks keys up again all together, and forgets at once those that are no good', async () => {
    await authenticator.authenticate(SECRET);
    keys.answer = { state: 'revoked' };
    const looks = await authenticator.lookAgain([SECRET, 'lk_another-one-that-is-none']);
    expect([...looks.values()]).toMatchObject([{ fault: 'key_revoked' }, { fault: 'key_unknown' }]);
    expect(keys.asked).toHaveLength(2);
    await expect(authenticator.authenticate(SECRET)).rejects.toMatchObject({ detail: 'This API key was revoked.' });
  });

  it('counts what it refuses by reason', async () => {
    const key = await newKey('RS256', 'a');
    for (const token of [await sign(key), 'a.b.c']) {
      await expect(authenticator.authenticate(token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    }
    for (const state of ['revoked', 'expired', 'replaced', 'unknown'] as const) {
      keys.answer = { state };
      await expect(authenticator.authenticate(SECRET)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    }
    expect(await failuresByReason()).toEqual({
      token_algorithm: 1,
      malformed: 1,
      key_revoked: 1,
      key_expired: 1,
      key_replaced: 1,
      key_unknown: 1,
    });
  });
});
