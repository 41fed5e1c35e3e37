import { SUBMISSION_MESSAGES } from '@laddercast/commands';
import type { Authenticator, Identity } from '@laddercast/identity';
import { LadderError } from '@laddercast/domain';
import type { IntakeHandler } from '@laddercast/event-log';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { IntakeLifecycle } from './intake.lifecycle.js';

const WRITER: Identity = { kind: 'key', keyId: 'writer', scopes: ['scores:write'] };
const POLL = { interval: 5 };

describe('IntakeLifecycle', () => {
  let answer: () => Identity;
  let readers: { running: boolean; handler: IntakeHandler }[];
  let settledAs: Identity[];
  let lifecycle: IntakeLifecycle;

  beforeEach(() => {
    Logger.overrideLogger(false);
    readers = [];
    settledAs = [];
    lifecycle = new IntakeLifecycle(
      { authenticate: async () => answer() } as unknown as Authenticator,
      { ...SUBMISSION_MESSAGES, key: 'the key' },
      { settle: async (identity: Identity) => void settledAs.push(identity) },
      (handler) => {
        const reader = { running: false, handler };
        readers.push(reader);
        return {
          start: () => void (reader.running = true),
          stop: async () => void (reader.running = false),
        };
      },
      10,
    );
  });
  afterEach(async () => {
    await lifecycle.stop();
    vi.restoreAllMocks();
  });

  it('stops when the key is revoked, says so, and reads again when one is good', async () => {
    const errors = vi.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    answer = () => WRITER;
    lifecycle.start();
    await expect.poll(() => readers[0]?.running, POLL).toBe(true);
    expect(lifecycle.stands).toBeNull();
    await readers[0]!.handler([], new AbortController().signal);
    expect(settledAs).toEqual([WRITER]);

    answer = () => {
      throw new LadderError('UNAUTHENTICATED', 'This API key is not known, or was revoked.');
    };
    await expect.poll(() => lifecycle.stands, POLL).toMatch(/revoked/);
    expect(readers.map(({ running }) => running)).toEqual([false]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(errors).toHaveBeenCalledOnce();

    answer = () => WRITER;
    await expect.poll(() => readers[1]?.running, POLL).toBe(true);
    expect(lifecycle.stands).toBeNull();
  });

  it('goes on while nobody can say whether the key is good', async () => {
    answer = () => WRITER;
    lifecycle.start();
    await expect.poll(() => readers[0]?.running, POLL).toBe(true);
    answer = () => {
      throw new LadderError('LEDGER_UNAVAILABLE', 'The key cannot be checked now; try again shortly.');
    };
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(readers.map(({ running }) => running)).toEqual([true]);
  });

  it.each<Identity>([
    { kind: 'key', keyId: 'reader', scopes: ['read'] },
    { kind: 'player', playerId: 'p', expiresAtMs: 1e15 },
  ])('does not begin as $kind without the scope', async (identity) => {
    answer = () => identity;
    lifecycle.start();
    await expect.poll(() => lifecycle.stands, POLL).toMatch(/scores:write/);
    expect(readers).toEqual([]);
  });
});
