import type { StoredDeadLetter } from '@laddercast/event-log';
import { EMPTY_REPORT, type RebuildProgress, type Reconciliation, type ReconciliationReport } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';

/** The most of a payload that a list shows, in characters. */
export const PAYLOAD_SHOWN_MAX = 8192;

export interface DeadLetterBody {
  id: string;
  group: string;
  topic: string;
  lane: number;
  position: number;
  key: string;
  payload: string;
  isPayloadCut: boolean;
  cause: string;
  parkedAt: string;
  replayedAt: string | null;
}

export function bodyOfLetter({ id, payload, parkedAtMs, replayedAtMs, ...letter }: StoredDeadLetter): DeadLetterBody {
  return {
    id: String(id),
    ...letter,
    payload: payload.slice(0, PAYLOAD_SHOWN_MAX),
    isPayloadCut: payload.length > PAYLOAD_SHOWN_MAX,
    parkedAt: toTimestamp(parkedAtMs),
    replayedAt: timestampOf(replayedAtMs),
  };
}

/** How far the order to make all boards' lists anew is. */
export interface RebuildBody {
  state: 'none' | 'running' | 'finished';
  requestedAt: string | null;
  finishedAt: string | null;
  boards: number;
  done: number;
  underWay: { board: string; generation: number; state: string; entriesRead: number }[];
}

export function bodyOfRebuild({ requestedAtMs, finishedAtMs, boards, done, underWay }: RebuildProgress): RebuildBody {
  return {
    state: requestedAtMs === null ? 'none' : finishedAtMs === null ? 'running' : 'finished',
    requestedAt: timestampOf(requestedAtMs),
    finishedAt: timestampOf(finishedAtMs),
    boards,
    done,
    underWay: underWay.map(({ board, generation, progress }) => ({
      board,
      generation,
      state: progress?.step ?? 'filling',
      entriesRead: progress?.rowsScanned ?? 0,
    })),
  };
}

/** How far the last comparison of a board is, and what it found. */
export interface ReconciliationBody {
  board: string;
  state: 'none' | 'waiting' | 'running' | 'finished' | 'failed';
  requestedAt: string | null;
  startedAt: string | null;
  finishedAt: string | null;
  report: ReconciliationReport;
}

export function bodyOfReconciliation(board: string, job: Reconciliation | undefined): ReconciliationBody {
  const { requestedAtMs = null, startedAtMs = null, finishedAtMs = null, report = EMPTY_REPORT } = job ?? {};
  const ended = report.failure === null ? 'finished' : 'failed';
  const begun = startedAtMs === null ? 'waiting' : 'running';
  return {
    board,
    state: job === undefined ? 'none' : finishedAtMs === null ? begun : ended,
    requestedAt: timestampOf(requestedAtMs),
    startedAt: timestampOf(startedAtMs),
    finishedAt: timestampOf(finishedAtMs),
    report,
  };
}

const timestampOf = (unixMs: number | null): string | null =>
  unixMs === null ? null : toTimestamp(Math.floor(unixMs));
