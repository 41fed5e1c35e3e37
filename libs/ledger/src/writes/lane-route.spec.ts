import { setImmediate } from 'node:timers/promises';
import { LadderError } from '@laddercast/domain';
import { beforeEach, describe, expect, it } from 'vitest';
import { StaleBoardError, type LedgerReceipt, type LedgerWrite, type SubmitWrite } from '../entries/ledger-writes.js';
import type { WriteAttempt } from '../submissions/lane-writer.js';
import { decodeMessage, encodeResults, type HandedResult } from './lane-message.js';
import type { LaneOwner } from './lane-owners.js';
import { LaneRoute, MESSAGES_AT_ONCE } from './lane-route.js';

const OWNER: LaneOwner = { holder: 'another', host: '127.0.0.1', port: 1 };

/** What was done with the writes, in order: `over:` in a message, `here:` in this process, with a `?` where it may be there. */
let done: string[];
let owner: LaneOwner | null;
let answer: (ids: string[]) => Promise<HandedResult[] | null>;
let makeHere: () => Promise<void>;
let heard: boolean[];
let route: LaneRoute;

const receiptOf = (id: string): LedgerReceipt => ({
  kind: 'submit',
  replayed: false,
  answer: { outcome: 'created', score: 1, previousScore: null, version: 1, windows: [id] },
  windowUid: 1,
  movement: null,
});
const submit = (id: string, playerId: string): SubmitWrite =>
  ({
    ...{
      kind: 'submit',
      board: { uid: 1, revision: 1 },
      playerId,
      submissionId: id,
      idFromClient: true,
      score: 1,
    },
    ...{ columns: [], achievedAtMs: null, windowId: null, metadata: null, refusal: null, bodySha256: Buffer.from(id) },
  }) as unknown as SubmitWrite;
const write = (id: string, playerId = 'p'): Promise<unknown> => route.write(submit(id, playerId));
const taken = async (ids: string[]): Promise<HandedResult[]> => ids.map((id) => ({ receipt: receiptOf(id) }));

/** What was begun in this turn of the event loop has gone on as far as it goes. */
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn += 1) await setImmediate();
};

beforeEach(() => {
  done = [];
  heard = [];
  owner = OWNER;
  answer = taken;
  makeHere = () => Promise.resolve();
  const writer = {
    write: async (made: LedgerWrite, attempt?: WriteAttempt): Promise<LedgerReceipt> => {
      const id = made.kind === 'submit' ? made.submissionId : made.kind;
      done.push(`here:${id}${attempt?.unsettled ? '?' : ''}`);
      await makeHere();
      return receiptOf(id);
    },
  };
  const link = {
    send: async (_: LaneOwner, text: string): Promise<string | null> => {
      const ids = decodeMessage(text).writes.map((sent) => (sent.kind === 'submit' ? sent.submissionId : sent.kind));
      done.push(`over:${ids.join(',')}`);
      const results = await answer(ids);
      return results && encodeResults(results);
    },
  };
  const parts = { lane: 0, writer, link, owner: () => owner, nowMs: () => 0, queueMax: 3 };
  route = new LaneRoute({ ...parts, heard: (_, isAnswered) => void heard.push(isAnswered) });
});

describe("a lane's route", () => {
  it('makes writes here while this process owns the lane', async () => {
    owner = null;
    await Promise.all([write('a'), write('b')]);
    expect(done).toEqual(['here:a', 'here:b']);
  });

  it('hands over what waits in one message, and so many messages at a time', async () => {
    let come!: () => void;
    const comes = new Promise<void>((resolve) => (come = resolve));
    answer = async (ids) => (await comes, taken(ids));
    const writes: Promise<unknown>[] = [];
    for (let number = 1; number <= MESSAGES_AT_ONCE; number += 1) {
      writes.push(write(`a${number}`, `a${number}`), write(`b${number}`, `b${number}`));
      await turns();
    }
    expect(done).toEqual(writes.filter((_, at) => at % 2 === 0).map((_, at) => `over:a${at + 1},b${at + 1}`));
    writes.push(write('c', 'c'));
    await turns();
    writes.push(write('d', 'd'));
    await turns();
    expect(done).toHaveLength(MESSAGES_AT_ONCE);
    come();
    await Promise.all(writes);
    expect(done.at(-1)).toBe('over:c,d');
    expect(heard).toEqual(done.map(() => true));
  });

  it('hands over no write of a player of whom another is on its way', async () => {
    let come!: () => void;
    const comes = new Promise<void>((resolve) => (come = resolve));
    answer = async (ids) => (await comes, taken(ids));
    const writes = [write('a', 'p1')];
    await turns();
    writes.push(write('b', 'p2'), write('c', 'p1'), write('d', 'p2'));
    await turns();
    expect(done).toEqual(['over:a', 'over:b']);
    come();
    await Promise.all(writes);
    expect(done).toEqual(['over:a', 'over:b', 'over:c', 'over:d']);
  });

  it('answers what the owner answered: receipts, refusals, and boards that changed', async () => {
    const refusal = new LadderError('WINDOW_CLOSED', 'It is over.', { windows: ['d'] });
    answer = async ([a]) => [{ receipt: receiptOf(a!) }, { error: refusal }, { error: new StaleBoardError(7) }];
    const [a, b, c] = await Promise.allSettled([write('a'), write('b'), write('c')]);
    expect(a).toEqual({ status: 'fulfilled', value: receiptOf('a') });
    expect((b as PromiseRejectedResult).reason).toMatchObject({
      code: 'WINDOW_CLOSED',
      extensions: { windows: ['d'] },
    });
    expect((c as PromiseRejectedResult).reason).toMatchObject({ boardUid: 7 });
  });

  it('makes here what the owner did not answer, as what may be there already', async () => {
    answer = async () => null;
    await Promise.all([write('a'), write('b')]);
    expect(done).toEqual(['over:a,b', 'here:a?', 'here:b?']);
    expect(heard).toEqual([false]);
  });

  it('makes here what the owner says that it did not take', async () => {
    answer = async ([a]) => [{ receipt: receiptOf(a!) }, { again: 'not taken' }, { again: 'not known' }];
    await Promise.all([write('a'), write('b'), write('c')]);
    expect(done).toEqual(['over:a,b,c', 'here:b', 'here:c?']);
    expect(heard).toEqual([false]);
  });

  it('takes an answer that is not one for none', async () => {
    answer = async () => [];
    await write('a');
    expect(done).toEqual(['over:a', 'here:a?']);
  });

  it('keeps the order of two writes of a player when the message with the first is lost', async () => {
    let commit!: () => void;
    const committed = new Promise<void>((resolve) => (commit = resolve));
    makeHere = () => committed;
    answer = async () => null;
    const first = write('a');
    await setImmediate();
    const second = write('b');
    await turns();
    // Handed over now, it could be committed before the first.
    answer = taken;
    const third = write('c');
    await turns();
    expect(done).toEqual(['over:a', 'here:a?']);
    commit();
    await Promise.all([first, second, third]);
    expect(done).toEqual(['over:a', 'here:a?', 'over:b,c']);
  });

  it('hands over nothing of a player before what was made of it here without an owner is settled', async () => {
    let come!: () => void;
    const comes = new Promise<void>((resolve) => (come = resolve));
    makeHere = () => comes;
    owner = null;
    const writes = [write('a')];
    owner = OWNER;
    writes.push(write('b'));
    const settled = route.settled();
    await turns();
    expect(done).toEqual(['here:a']);
    come();
    await Promise.all(writes);
    await settled;
    expect(done).toEqual(['here:a', 'over:b']);
  });

  it('makes overrides here, whoever owns the lane', async () => {
    await route.write({ kind: 'override' } as LedgerWrite);
    expect(done).toEqual(['here:override']);
  });

  it('hands over what others send while overrides of a player follow each other here', async () => {
    makeHere = () => new Promise(() => undefined);
    void route.write({ kind: 'override', playerId: 'p' } as LedgerWrite);
    void route.write({ kind: 'override', playerId: 'p' } as LedgerWrite);
    await write('a', 'another');
    void write('b', 'p');
    await turns();
    expect(done).toEqual(['here:override', 'here:override', 'over:a']);
  });

  it('refuses what is more than may wait', async () => {
    answer = () => new Promise(() => undefined);
    void write('a');
    await turns();
    for (const id of ['b', 'c', 'd']) void write(id);
    expect(() => write('e')).toThrow(/OVERLOADED/);
  });

  it('begins to write here when the lane has become its own, after what waits', async () => {
    let come!: () => void;
    answer = (ids) => new Promise((resolve) => (come = () => resolve(ids.map((id) => ({ receipt: receiptOf(id) })))));
    const first = write('a');
    await turns();
    owner = null;
    const second = write('b');
    await turns();
    expect(done).toEqual(['over:a']);
    come();
    await Promise.all([first, second, write('c')]);
    expect(done).toEqual(['over:a', 'here:b', 'here:c']);
  });
});
