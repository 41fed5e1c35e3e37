import { HOUR_MS, scopeNamesOf, type EntryState, type ScopeValues } from '@laddercast/domain';
import {
  entryKeyOf,
  ownerOf,
  scopesKeyOf,
  submissionKeyOf,
  type RememberedSubmission,
  type StoredBatch,
} from './batch-fold.js';
import type { EntryRow } from './entry-rows.js';
import { AttemptCounts, attemptKeysOf } from './attempt-counts.js';
import { READ_ATTEMPTS, READ_LANE_BATCH } from './lane-sql.js';
import type { PendingWrite } from './lane-writer.js';
import type { SqlRunner } from './postgres-database.js';
import { hourKeyOf, type RollingHourRow } from './rolling-hours.js';
import type { ScopeCatalog } from './scope-catalog.js';
import type { PlacedWrite } from './write-placement.js';
import type { SubmitWrite } from './writes.js';

interface ReadRow {
  what: 'entry' | 'submission' | 'board' | 'player' | 'hour';
  n: number;
  version: number | null;
  gone: boolean | null;
  score: number | null;
  columns: number[] | null;
  achieved_at_ms: number | null;
  text: string | null;
  body_sha256: Buffer | null;
  scopes: number[] | null;
  left_scopes: number[] | null;
  values: ScopeValues | null;
}

/**
 * Reads what a batch touches, under its lane's lock.
 * @param withScopes the writes on boards that rank more than everybody together
 */
export async function readStoredBatch(
  transaction: SqlRunner,
  scopeCatalog: ScopeCatalog,
  {
    batch,
    placed,
    withScopes,
  }: { batch: readonly PendingWrite[]; placed: readonly PlacedWrite[]; withScopes: readonly PlacedWrite[] },
): Promise<{ stored: StoredBatch; revisions: Map<number, number> }> {
  const entryKeys = keysOfEntries(placed);
  const hourKeys = keysOfHours(placed);
  const submits = submitsToRemember(batch);
  const players = [...new Set(withScopes.map(({ write }) => write.playerId))];
  const rows = await transaction.query<ReadRow>(READ_LANE_BATCH, [
    entryKeys.map((key) => key.windowUid),
    entryKeys.map((key) => key.playerId),
    submits.map((write) => write.board.uid),
    submits.map(ownerOf),
    submits.map((write) => write.submissionId),
    [...new Set(batch.map(({ write }) => write.board.uid))],
    players,
    hourKeys.map((key) => key.windowUid),
    hourKeys.map((key) => key.playerId),
    hourKeys.map((key) => key.hour),
  ]);
  const entries = new Map<string, EntryRow>();
  const remembered = new Map<string, RememberedSubmission>();
  const revisions = new Map<number, number>();
  const values = new Map<string, ScopeValues>();
  const hours = new Map<string, RollingHourRow>();
  for (const row of rows) {
    if (row.what === 'board') {
      if (!row.gone) revisions.set(row.n, row.version!);
    } else if (row.what === 'entry') {
      const key = entryKeys[row.n - 1]!;
      const scopes = { scopes: row.scopes!, leftScopes: row.left_scopes! };
      entries.set(entryKeyOf(key.windowUid, key.playerId), {
        ...key,
        state: stateOf(row),
        removed: row.gone!,
        ...scopes,
      });
    } else if (row.what === 'submission') {
      remembered.set(submissionKeyOf(submits[row.n - 1]!), {
        bodySha256: row.body_sha256!,
        answer: JSON.parse(row.text!) as RememberedSubmission['answer'],
      });
    } else if (row.what === 'player') values.set(players[row.n - 1]!, row.values!);
    else {
      const key = hourKeys[row.n - 1]!;
      hours.set(hourKeyOf(key), { ...key, state: { ...stateOf(row), version: 0 } });
    }
  }
  const scopes = await scopesOf(withScopes, values, scopeCatalog);
  const attempts = await readAttempts(transaction, placed);
  return { stored: { entries, remembered, hours, scopes, attempts }, revisions };
}

function keysOfEntries(placed: readonly PlacedWrite[]): { boardUid: number; windowUid: number; playerId: string }[] {
  const keys = new Map<string, { boardUid: number; windowUid: number; playerId: string }>();
  for (const { write, windows } of placed) {
    const { board, playerId } = write;
    for (const { uid } of windows)
      keys.set(entryKeyOf(uid, playerId), { boardUid: board.uid, windowUid: uid, playerId });
  }
  return [...keys.values()];
}

function keysOfHours(placed: readonly PlacedWrite[]): { windowUid: number; playerId: string; hour: number }[] {
  const keys = new Map<string, { windowUid: number; playerId: string; hour: number }>();
  for (const { write, windows, atMs } of placed) {
    for (const { uid, kind } of windows) {
      if (kind !== 'rolling') continue;
      const key = { windowUid: uid, playerId: write.playerId, hour: Math.floor(atMs / HOUR_MS) };
      keys.set(hourKeyOf(key), key);
    }
  }
  return [...keys.values()];
}

/** Asked for only where a board limits them. */
async function readAttempts(transaction: SqlRunner, placed: readonly PlacedWrite[]): Promise<AttemptCounts> {
  const keys = attemptKeysOf(placed);
  if (keys.length === 0) return new AttemptCounts([]);
  const rows = await transaction.query<{ window_uid: number; player_id: string; hour: number; runs: number }>(
    READ_ATTEMPTS,
    [
      keys.map(({ windowUid }) => windowUid),
      keys.map(({ playerId }) => playerId),
      keys.map(({ firstHour }) => firstHour),
    ],
  );
  return new AttemptCounts(
    rows.map(({ window_uid, player_id, hour, runs }) => ({ windowUid: window_uid, playerId: player_id, hour, runs })),
  );
}

/** Only an id that a client chose, or whose commit went unanswered, can have been seen before. */
function submitsToRemember(batch: readonly PendingWrite[]): SubmitWrite[] {
  const ids = new Map<string, SubmitWrite>();
  for (const { write, unsettled } of batch) {
    if (write.kind === 'submit' && (write.idFromClient || unsettled)) ids.set(submissionKeyOf(write), write);
  }
  return [...ids.values()];
}

async function scopesOf(
  placed: readonly PlacedWrite[],
  values: ReadonlyMap<string, ScopeValues>,
  catalog: ScopeCatalog,
): Promise<Map<string, number[]>> {
  const names = new Map<string, string[]>();
  for (const { write } of placed) {
    const { board, playerId } = write;
    names.set(scopesKeyOf(board.uid, playerId), scopeNamesOf(board.definition.scopes, values.get(playerId)!));
  }
  const all = [...new Set([...names.values()].flat())];
  const uids = catalog.cached(all) ?? (await catalog.ensure(all));
  const uidOf = new Map(all.map((name, index) => [name, uids[index]!]));
  return new Map([...names].map(([key, ofPlayer]) => [key, ofPlayer.map((name) => uidOf.get(name)!)]));
}

function stateOf(row: ReadRow): EntryState {
  return {
    score: row.score!,
    columns: row.columns!,
    achievedAtMs: row.achieved_at_ms!,
    metadata: row.text,
    version: row.version!,
  };
}
