import { createHash } from 'node:crypto';
import type { Board, EntryState } from '@laddercast/domain';
import type { HandedWrite, LedgerReceipt } from '@laddercast/ledger';
import { numberOf, tableOf } from '../figures/figures.js';
import { built } from '../installation/built-code.js';

type Ledger = typeof import('@laddercast/ledger');
type HandedSubmission = Extract<HandedWrite, { kind: 'submit' }>;

const sizes = [1, 8, 32, 512];
/** Of each size, before the figure and for it. */
const warmUpWrites = 20_000;
const writes = 100_000;
const patienceMs = 10_000;
const secret = { query: <Row>() => Promise.resolve([{ value: 'a secret of thirty-two characters' }] as Row[]) };
const board = { uid: 1, revision: 1 } as Board;

/** What a message between two api processes costs by how many writes it hands over, µs of CPU of both together. */
export async function measureMessages(root: string): Promise<{ size: number; us: number }[]> {
  const { decodeMessage, decodeResults, encodeMessage, encodeResults, LaneLink, writeOf } = await built<Ledger>(
    root,
    'ledger',
  );
  const owner = new LaneLink(secret);
  const sender = new LaneLink(secret);
  const port = await owner.listen('127.0.0.1', 0, async (text) => {
    const taken = decodeMessage(text).writes.map((write) => writeOf(write, board));
    return encodeResults(taken.map((write) => ({ receipt: receiptOf(write as HandedSubmission) })));
  });
  const at = { holder: 'owner', host: '127.0.0.1', port };
  const handOver = async (size: number, count: number): Promise<void> => {
    const message = {
      lane: 0,
      sentAtMs: Date.now(),
      writes: Array.from({ length: size }, (_, number) => submissionOf(number)),
    };
    for (let handed = 0; handed < count; handed += size) {
      const answer = await sender.send(at, encodeMessage(message), patienceMs);
      if (decodeResults(answer ?? '', size) === null) throw new Error('A message was not answered.');
    }
  };
  const found: { size: number; us: number }[] = [];
  try {
    for (const size of sizes) {
      await handOver(size, Math.min(warmUpWrites, 2000 * size));
      const count = Math.min(writes, 10_000 * size);
      const before = process.cpuUsage();
      await handOver(size, count);
      const { user, system } = process.cpuUsage(before);
      found.push({ size, us: ((user + system) * size) / count });
    }
  } finally {
    sender.close();
    owner.close();
  }
  return found;
}

export const messagesTable = (found: readonly { size: number; us: number }[]): string =>
  tableOf(
    ['writes in a message', 'CPU of both sides, µs', 'the same, each write'],
    found.map(({ size, us }) => [String(size), numberOf(us), numberOf(us / size, 1)]),
  );

/** As a submission with an id of the client comes. */
function submissionOf(number: number): HandedSubmission {
  return {
    kind: 'submit',
    board,
    playerId: `user${String(number).padStart(8, '0')}`,
    submissionId: `submission-${number}`,
    idFromClient: true,
    score: 500_000_000 + number,
    columns: [],
    achievedAtMs: null,
    windowId: null,
    metadata: null,
    bodySha256: createHash('sha256').update(String(number)).digest(),
    refusal: null,
    handOverId: `hand-over-${number}`,
  };
}

function receiptOf({ score }: HandedSubmission): LedgerReceipt {
  const before: EntryState = {
    score: score - 10_000,
    columns: [],
    achievedAtMs: 0,
    metadata: null,
    version: 123_456_789,
  };
  const after: EntryState = { ...before, score, achievedAtMs: 1_700_000_000_000, version: 123_456_790 };
  const answer = {
    ...{ outcome: 'improved' as const, score, previousScore: before.score },
    ...{ version: after.version, windows: ['alltime'] },
  };
  return { kind: 'submit', replayed: false, answer, windowUid: 1, movement: { after, before } };
}
