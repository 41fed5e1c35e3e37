import { setTimeout as delay } from 'node:timers/promises';
import { LadderError } from '@laddercast/domain';
import type { DeadLetter, IntakeMessage } from '@laddercast/event-log';
import { describe, expect, it } from 'vitest';
import type { BoardSubmission, SubmitScoresCommand } from '../commands.js';
import type { Identity } from '@laddercast/identity';
import { SUBMISSION_MESSAGES } from './intake-kinds.js';
import { OWN_TRIES_MAX, MessageIntake, type MessageIntakeParts } from './message-intake.js';

type Parts = MessageIntakeParts<BoardSubmission>;

const KEY: Identity = { kind: 'key', keyId: 'k', scopes: ['scores:write'] };
const never = new AbortController().signal;

const message = (offset: number, value: unknown, key: Buffer | null = null): IntakeMessage => ({
  partition: 3,
  offset,
  key,
  value: value === null ? null : Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value)),
});
const run = (id: string): object => ({ board: 'b', submissionId: id, playerId: 'p', score: 1 });

/** A bus whose answer to each submission of each call is given by its id; it writes down what it gets. */
function intakeWith(answer: (id: string, call: number) => LadderError | null, parts: Partial<Parts> = {}) {
  const calls: string[][] = [];
  const letters: DeadLetter[] = [];
  const lines: string[] = [];
  const execute = async ({ identity, submissions, waitSeconds }: SubmitScoresCommand): Promise<unknown[]> => {
    expect(identity).toBe(KEY);
    // Nobody hears of ranks here.
    expect(waitSeconds).toBeNull();
    const ids = submissions.map((one) => (one as { body: { submissionId: string } }).body.submissionId);
    calls.push(ids);
    return ids.map((id) => answer(id, calls.length) ?? {});
  };
  const intake = new MessageIntake({
    kind: SUBMISSION_MESSAGES,
    commands: { execute: execute as Parts['commands']['execute'] },
    park: async (some) => void letters.push(...some),
    log: (_level, text) => void lines.push(text),
    backoff: { firstMs: 1, maxMs: 2 },
    ...parts,
  });
  return { intake, calls, letters, lines };
}

const away = new LadderError('LEDGER_UNAVAILABLE', 'away');

const codesOf = (letters: DeadLetter[]): unknown[] =>
  letters.map(({ record, cause }) => [record.position, (JSON.parse(cause) as { code: string }).code]);

describe('MessageIntake', () => {
  it('submits in order, and tries again only what can succeed later', async () => {
    const { intake, calls, letters } = intakeWith((id, call) =>
      (id === 'b' && call < 4) || (id === 'd' && call < 2) ? new LadderError('OVERLOADED', 'full') : null,
    );
    await intake.settle(
      KEY,
      ['a', 'b', 'c', 'd'].map(run).map((one, i) => message(i, one)),
      never,
    );
    expect(calls).toEqual([['a', 'b', 'c', 'd'], ['b', 'd'], ['b'], ['b']]);
    expect(letters).toEqual([]);
  });

  it('parks what is refused, each once', async () => {
    const { intake, letters, lines } = intakeWith((id, call) => {
      if (id === 'gone') return new LadderError('BOARD_NOT_FOUND', 'no such board', { hint: 1 });
      return call < 3 ? new LadderError('OUTBOX_FULL', 'full') : null;
    });
    const messages = [message(5, run('slow')), message(6, run('gone')), message(7, null), message(8, { board: 'b' })];
    await intake.settle(KEY, messages, never);
    expect(codesOf(letters)).toEqual([
      [7, 'MALFORMED_JSON'],
      [8, 'VALIDATION_FAILED'],
      [6, 'BOARD_NOT_FOUND'],
    ]);
    expect(letters[2]!.record).toMatchObject({ lane: 3, topic: 'in.scores', payload: JSON.stringify(run('gone')) });
    expect(JSON.parse(letters[2]!.cause)).toMatchObject({ detail: 'no such board', hint: 1 });
    expect(lines.filter((line) => line.includes('parked'))).toHaveLength(1);
  });

  it('parks what fails on our side again and again, and nothing else with it', async () => {
    const { intake, calls, letters } = intakeWith((id) =>
      id === 'poison' ? new LadderError('INTERNAL', 'failed on our side') : null,
    );
    await intake.settle(KEY, [message(1, run('good')), message(2, run('poison'))], never);
    expect(codesOf(letters)).toEqual([[2, 'INTERNAL']]);
    expect(calls).toHaveLength(OWN_TRIES_MAX);
  });

  it('does not count tries that an outage failed', async () => {
    const checked = new LadderError('OVERLOADED', 'could not decide', { check: 'C' }, { cause: new TypeError('x') });
    const { intake, calls, letters } = intakeWith((id, call) => {
      if (id === 'poison') return call < 20 ? away : new LadderError('INTERNAL', 'failed on our side');
      if (id === 'once')
        return call < OWN_TRIES_MAX ? away : call === OWN_TRIES_MAX ? new LadderError('INTERNAL', 'once') : null;
      return call < OWN_TRIES_MAX ? away : call === OWN_TRIES_MAX ? checked : null;
    });
    await intake.settle(KEY, [message(1, run('poison')), message(2, run('once')), message(3, run('checked'))], never);
    expect(codesOf(letters)).toEqual([[1, 'INTERNAL']]);
    expect(calls).toHaveLength(19 + OWN_TRIES_MAX);
  });

  it.each([
    ['the rights of the key', () => new LadderError('FORBIDDEN', 'no')],
    ['a bus that throws', () => new Error('no handler')],
  ])('parks nothing for %s, and ends with the signal', async (_what, error) => {
    const end = new AbortController();
    const execute = async (): Promise<never[]> => {
      const made = error();
      if (made instanceof LadderError) return [made] as never[];
      throw made;
    };
    const { intake, letters } = intakeWith(() => null, {
      commands: { execute: execute as unknown as Parts['commands']['execute'] },
    });
    const settling = intake.settle(KEY, [message(1, run('a'))], end.signal);
    await delay(50);
    end.abort();
    await expect(settling).rejects.toThrow();
    expect(letters).toEqual([]);
  });

  it('waits for the parking', async () => {
    let failuresLeft = 3;
    const kept: DeadLetter[] = [];
    const { intake } = intakeWith(() => null, {
      park: async (letters) => {
        if (failuresLeft-- > 0) throw new Error('no disk');
        kept.push(...letters);
      },
    });
    await intake.settle(KEY, [message(1, Buffer.from('?'))], never);
    expect(codesOf(kept)).toEqual([[1, 'MALFORMED_JSON']]);
  });

  it('keeps bytes that are not text in base64, and says so; of what is very large it keeps the beginning', async () => {
    const { intake, letters } = intakeWith(() => null);
    const binary = Buffer.from([0xc3, 0x28, 0x00]);
    const large = Buffer.alloc(3 * 1024 * 1024, 'x');
    await intake.settle(KEY, [message(1, binary, Buffer.from('k\0')), message(2, large)], never);
    expect(Buffer.from(letters[0]!.record.payload, 'base64')).toEqual(binary);
    expect(JSON.parse(letters[0]!.cause)).toMatchObject({ code: 'MALFORMED_JSON', payloadEncoding: 'base64' });
    expect(letters[1]!.record.payload).toHaveLength(1024 * 1024);
    expect(JSON.parse(letters[1]!.cause)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', payloadBytes: large.length });
  });
});
