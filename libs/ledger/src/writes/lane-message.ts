import { LadderError, type Board, type ErrorCode } from '@laddercast/domain';
import { StaleBoardError, type FeedWrite, type LedgerReceipt, type SubmitWrite } from '../entries/ledger-writes.js';

/** A write that another process may make: an id tells it when it is made twice. */
export type HandedWrite = SubmitWrite | FeedWrite;

/** Writes of one lane on their way to its owner, in order. */
export interface LaneMessage {
  lane: number;
  /** By the ledger's clock, Unix ms. */
  sentAtMs: number;
  writes: readonly HandedWrite[];
}

/**
 * What became of a write at the owner. `not taken`: nothing, and nothing will; `not known`: who handed it over finds out by
 * making it.
 */
export type HandedResult =
  { receipt: LedgerReceipt } | { error: LadderError | StaleBoardError } | { again: 'not taken' | 'not known' };

/** A board as it was seen by who hands a write over. */
export type SeenBoard = Pick<Board, 'uid' | 'revision'>;

interface ErrorOnWire {
  code: ErrorCode;
  detail: string;
  extensions: Record<string, unknown>;
}
interface SubmitOnWire extends Omit<SubmitWrite, 'board' | 'bodySha256' | 'refusal'> {
  board: SeenBoard;
  bodySha256: string;
  refusal: ErrorOnWire | null;
}
interface FeedOnWire extends Omit<FeedWrite, 'board'> {
  board: SeenBoard;
}
export interface MessageOnWire extends Omit<LaneMessage, 'writes'> {
  writes: readonly (SubmitOnWire | FeedOnWire)[];
}

type ResultOnWire =
  { receipt: LedgerReceipt } | { error: ErrorOnWire } | { stale: number } | { again: 'not taken' | 'not known' };

/** As JSON. */
export const encodeMessage = ({ writes, ...rest }: LaneMessage): string =>
  JSON.stringify({ ...rest, writes: writes.map(onWire) } satisfies MessageOnWire);

export const decodeMessage = (text: string): MessageOnWire => JSON.parse(text) as MessageOnWire;

/** @param board as its revision says it */
export function writeOf(sent: SubmitOnWire | FeedOnWire, board: Board): HandedWrite {
  if (sent.kind === 'feed') return { ...sent, board };
  const { bodySha256, refusal, ...rest } = sent;
  return { ...rest, board, bodySha256: Buffer.from(bodySha256, 'base64'), refusal: refusal && errorOf(refusal) };
}

export const encodeResults = (results: readonly HandedResult[]): string => JSON.stringify(results.map(resultOnWire));

/** @returns null when these are not the results of so many writes */
export function decodeResults(text: string, count: number): HandedResult[] | null {
  const results = JSON.parse(text) as ResultOnWire[];
  if (!Array.isArray(results) || results.length !== count) return null;
  return results.map((result) => {
    if ('stale' in result) return { error: new StaleBoardError(result.stale) };
    return 'error' in result ? { error: errorOf(result.error) } : result;
  });
}

function onWire(write: HandedWrite): SubmitOnWire | FeedOnWire {
  const { uid, revision } = write.board;
  const board = { uid, revision };
  if (write.kind === 'feed') return { ...write, board };
  const { bodySha256, refusal } = write;
  return { ...write, board, bodySha256: bodySha256.toString('base64'), refusal: refusal && errorOnWire(refusal) };
}

function resultOnWire(result: HandedResult): ResultOnWire {
  if (!('error' in result)) return result;
  const { error } = result;
  return error instanceof StaleBoardError ? { stale: error.boardUid } : { error: errorOnWire(error) };
}

const errorOnWire = ({ code, detail, extensions }: LadderError): ErrorOnWire => ({ code, detail, extensions });

const errorOf = ({ code, detail, extensions }: ErrorOnWire): LadderError => new LadderError(code, detail, extensions);
