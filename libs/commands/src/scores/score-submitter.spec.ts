import { withBoardDefaults, type Board } from '@laddercast/domain';
import { NO_EXTENSIONS, CHECK_LIMIT_MS } from '@laddercast/extension';
import type { BoardCatalog, Ledger } from '@laddercast/ledger';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ScoreSubmitter } from './score-submitter.js';

const board = {
  id: 'b',
  definition: withBoardDefaults({ order: 'desc', operator: 'best' }),
  runsFrom: undefined,
} as unknown as Board;

/** Asks one check about one submission of a key. */
function submittedWith(check: () => Promise<unknown>) {
  const boards = { find: async () => board } as unknown as BoardCatalog;
  const extensions = { ...NO_EXTENSIONS, checks: [{ boards: null, check }] };
  const submitter = new ScoreSubmitter(boards, null as unknown as Ledger, extensions as never);
  const identity = { kind: 'key' as const, keyId: 'k', scopes: ['scores:write' as const] };
  return submitter.prepare(identity, { boardId: 'b', body: { playerId: 'ada', score: 1 } });
}

describe('ScoreSubmitter', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('takes a check that does not answer for one that throws', async () => {
    const submitted = submittedWith(() => new Promise(() => undefined));
    const refused = expect(submitted).rejects.toMatchObject({ code: 'OVERLOADED', cause: { message: /longer/ } });
    await vi.advanceTimersByTimeAsync(CHECK_LIMIT_MS);
    await refused;
  });

  it('waits for a check that takes its time, and leaves no timer behind', async () => {
    const submitted = submittedWith(
      () => new Promise((resolve) => setTimeout(resolve, CHECK_LIMIT_MS - 1, { verdict: 'accept' })),
    );
    await vi.advanceTimersByTimeAsync(CHECK_LIMIT_MS - 1);
    expect(await submitted).toMatchObject({ write: { score: 1 } });
    expect(vi.getTimerCount()).toBe(0);
  });
});
