import type { SqlRunner } from '@laddercast/ledger';
import { misplaced } from '../../integration/nodes/raises.js';
import { outboxEvents } from '../../integration/nodes/outbox-events.js';
import type { SentRun } from './lane-senders.js';

/** A run as PostgreSQL has it. */
export interface StoredRun {
  submissionId: string;
  board: string;
  playerId: string;
  score: number;
  /** What is stored of its answer. */
  version: number;
  total: number;
  previous: number | null;
}

export const readStored = (database: SqlRunner): Promise<StoredRun[]> =>
  database.query<StoredRun>(
    `SELECT submission_id AS "submissionId", board_id AS board, player_id AS "playerId", score,
       (answer::jsonb ->> 0)::bigint AS version, (answer::jsonb ->> 3)::float8 AS total,
       (answer::jsonb ->> 4)::float8 AS previous
     FROM submissions JOIN boards USING (board_uid) ORDER BY version`,
  );

/** What is said anywhere of what each player's runs come to, against the sums of what is stored. */
export async function wrongIn(database: SqlRunner, sent: readonly SentRun[]): Promise<unknown[]> {
  const stored = await readStored(database);
  return [
    ...wrongInAnswers(stored, sent),
    ...wrongInOrder(stored, sent),
    ...(await wrongInEntries(database, stored)),
    ...(await wrongInLog(database, stored)),
    ...(await misplaced(database)),
  ];
}

/** Each run adds to what those before it come to; answered is what is stored, and nothing else is. */
function wrongInAnswers(stored: readonly StoredRun[], sent: readonly SentRun[]): unknown[] {
  const totals = new Map<string, number>();
  const wrong: unknown[] = [];
  for (const run of stored) {
    const previous = totals.get(keyOf(run)) ?? null;
    const total = (previous ?? 0) + run.score;
    totals.set(keyOf(run), total);
    if (run.previous !== previous || run.total !== total) wrong.push({ run, previous, total });
  }
  const byId = new Map(stored.map((run) => [run.submissionId, run]));
  for (const run of sent) {
    const { submissionId, answer, isSaidLost } = run;
    const kept = byId.get(submissionId);
    if (kept && keyOf(kept) !== keyOf(run)) wrong.push({ run, kept });
    if (isSaidLost && kept) wrong.push({ whatWasSaidToBeLost: kept });
    if (!answer) continue;
    const isSo =
      kept?.version === answer.version && kept.total === answer.score && kept.previous === answer.previousScore;
    if (!isSo) wrong.push({ run, kept });
  }
  return wrong;
}

/** A player's runs of a board count in the order of the request; and what was answered counts before what was sent then. */
function wrongInOrder(stored: readonly StoredRun[], sent: readonly SentRun[]): unknown[] {
  const byId = new Map(sent.map((run) => [run.submissionId, run]));
  const wrong: unknown[] = [];
  /** When the last of those that counted before was sent. */
  const lastSentMs = new Map<string, number>();
  const places = new Map<string, number>();
  for (const { submissionId } of stored) {
    const run = byId.get(submissionId)!;
    const { request, place, sentMs, answeredMs } = run;
    const sentBeforeMs = lastSentMs.get(keyOf(run)) ?? -Infinity;
    if (answeredMs !== null && answeredMs < sentBeforeMs) wrong.push({ late: run });
    lastSentMs.set(keyOf(run), Math.max(sentBeforeMs, sentMs));
    if (request === null) continue;
    const ofRequest = `${request} ${keyOf(run)}`;
    if (place < (places.get(ofRequest) ?? 0)) wrong.push({ outOfOrder: run });
    places.set(ofRequest, place);
  }
  return wrong;
}

async function wrongInEntries(database: SqlRunner, stored: readonly StoredRun[]): Promise<unknown[]> {
  const wanted = new Map<string, { score: number; count: number; version: number }>();
  for (const run of stored) {
    const { count = 0 } = wanted.get(keyOf(run)) ?? {};
    wanted.set(keyOf(run), { score: run.total, count: count + 1, version: run.version });
  }
  const entries = await database.query<StoredRun & { kind: string; count: number }>(
    `SELECT board_id AS board, kind, player_id AS "playerId", sum(score) AS score, max(version) AS version,
       (SELECT sum(runs)::int FROM attempts a JOIN windows w USING (window_uid)
        WHERE a.player_id = e.player_id AND w.board_uid = b.board_uid AND w.kind = windows.kind) AS count
     FROM entries e JOIN windows USING (window_uid) JOIN boards b ON b.board_uid = e.board_uid
     GROUP BY b.board_uid, board_id, kind, player_id`,
  );
  const wrong: unknown[] = [];
  for (const entry of entries) {
    const { score, count, version } = wanted.get(keyOf(entry)) ?? {};
    const counted = entry.board === 'counted' ? entry.count : count;
    if (entry.score !== score || entry.version !== version || counted !== count)
      wrong.push({ entry, score, count, version });
  }
  if (entries.length !== 2 * wanted.size) wrong.push({ entries: entries.length, wanted: 2 * wanted.size });
  return wrong;
}

/** One event for each run, with what its player then has. */
async function wrongInLog(database: SqlRunner, stored: readonly StoredRun[]): Promise<unknown[]> {
  const events = await outboxEvents(database, 'entry-changed');
  const byVersion = new Map(stored.map((run) => [run.version, run]));
  const wrong = events.filter(({ position, event }) => {
    const run = byVersion.get(position);
    return event.playerId !== run?.playerId || event.changes[0]!.entry?.score !== run.total;
  });
  return events.length === stored.length ? wrong : [...wrong, { events: events.length, runs: stored.length }];
}

const keyOf = ({ board, playerId }: Pick<StoredRun, 'board' | 'playerId'>): string => `${board} ${playerId}`;
