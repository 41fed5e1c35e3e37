import {
  hasCircles,
  HOUR_MS,
  isPerRun,
  scopeNamesOf,
  type EntryState,
  type KeptPatchRun,
  type PublishedPatch,
  type SanctionInForce,
  type ScopeValues,
} from '@laddercast/domain';
import { readAnswer } from '../entries/stored-answer.js';
import {
  entryKeyOf,
  scopesKeyOf,
  submissionKeyOf,
  type FeedPositionRow,
  type RememberedSubmission,
  type StoredBatch,
} from './stored-batch.js';
import type { EntryRow } from '../entries/entry-rows.js';
import { standingRows } from '../entries/run-entries.js';
import { AttemptCounts, attemptKeysOf } from './attempt-counts.js';
import { READ_ATTEMPTS, READ_FEED_POSITIONS, READ_LANE_BATCH, READ_WIDE_LANE_BATCH } from '../entries/lane-sql.js';
import { ownerOf } from './new-runs.js';
import type { PendingWrite } from './lane-writer.js';
import { int4Array, textArray } from '../database/postgres-arrays.js';
import type { SqlRunner } from '../database/postgres-database.js';
import { headSequence, movedHead } from '../lanes/lane-heads.js';
import { hourKeyOf, type RollingHourKey, type RollingHourRow } from '../entries/rolling-hours.js';
import type { ScopeCatalog } from '../catalogs/scope-catalog.js';
import { stillPublished } from '../patches/patch-families.js';
import type { ExpectedPlace, PlacedWrite } from './window-placement.js';
import type { LedgerWrite, SubmitWrite } from '../entries/ledger-writes.js';
import { isRemembered, type LaneMemory } from './lane-memory.js';
import { metrics } from '@laddercast/platform';

interface EntryKey {
  boardUid: number;
  windowUid: number;
  playerId: string;
}

interface ReadRow {
  what: 'lane' | 'entry' | 'submission' | 'board' | 'player' | 'hour';
  n: number;
  version: number | null;
  gone: boolean | null;
  score: number | null;
  columns: number[] | null;
  /** Of a submission: when it was accepted; of the lane: the value to which its head is moved. */
  achieved_at_ms: number | null;
  text: string | null;
  body_sha256: Buffer | null;
  scopes: number[] | null;
  left_scopes: number[] | null;
  /** Of a player: what decides its scopes; of the lane: the sanctions of players; of an entry: its runs under decay. */
  values: unknown;
  unranked: boolean | null;
}

/**
 * What is stored of everything that a batch touches, read under its lane's lock: {@link begin} reads by where the writes are
 * expected to go, before the ledger's time is known, and {@link complete} what they need beyond that.
 */
export class LaneBatchReader {
  /** The ledger's time, Unix ms, and a new log position for each write. */
  nowMs = 0;
  positions: number[] = [];
  /** That of the lane, as it was and as this has left it. */
  head = { found: '', left: '' };
  /** By uid, of the boards that there are. */
  readonly revisions = new Map<number, number>();
  private readonly entries = new Map<string, EntryRow | null>();
  private readonly hours = new Map<string, RollingHourRow | null>();
  private readonly remembered = new Map<string, RememberedSubmission>();
  private readonly values = new Map<string, ScopeValues>();
  private readonly sanctions = new Map<string, SanctionInForce>();
  /** Those that writes name, and that are still what the writes say of them. */
  private patches: ReadonlySet<string> = new Set();

  constructor(
    private readonly transaction: SqlRunner,
    private readonly lane: number,
    private readonly batch: readonly PendingWrite[],
    private readonly memory: LaneMemory,
  ) {}

  async begin(expected: readonly ExpectedPlace[]): Promise<void> {
    const remembered = this.fromMemory(expected);
    const ofCircles = this.batch.filter(({ write }) => hasCircles(write.board.definition.scopes));
    await Promise.all([
      this.ask({
        count: this.batch.length,
        keys: this.entryKeysOf(expected).filter((key) => !remembered.has(entryKeyOf(key.windowUid, key.playerId))),
        places: expected,
        submits: submitsToRemember(this.batch),
        boards: [...new Set(this.batch.map(({ write }) => write.board.uid))],
        players: [...new Set(ofCircles.map(({ write }) => write.playerId))],
      }),
      this.readPatches(),
    ]);
    // What is remembered is true at the head that this writer left, and is read again at any other.
    if (this.head.found !== this.memory.head) return this.memory.forget();
    metrics.laneEntries.inc({ from: 'memory' }, remembered.size);
    for (const [key, row] of remembered) this.entries.set(key, row);
  }

  /** What the lane's writer may remember once this batch is committed, as it was before. */
  get read(): ReadonlyMap<string, EntryRow | null> {
    return this.entries;
  }

  /** The players of the batch that are sanctioned. */
  get sanctioned(): Iterable<string> {
    return this.sanctions.keys();
  }

  /** By {@link entryKeyOf}. */
  private fromMemory(places: readonly ExpectedPlace[]): Map<string, EntryRow | null> {
    const remembered = new Map<string, EntryRow | null>();
    if (this.memory.head === null) return remembered;
    for (const { write, windows } of places) {
      for (const { uid } of isRemembered(write.board) ? windows : []) {
        const key = entryKeyOf(uid, write.playerId);
        const row = this.memory.entry(key);
        if (row !== undefined) remembered.set(key, row);
      }
    }
    return remembered;
  }

  /** Whether what a write names is as the write says: the board, and the patch of which the board may not have been told. */
  isOfNow(write: LedgerWrite): boolean {
    if (this.revisions.get(write.board.uid) !== write.board.revision) return false;
    return write.kind !== 'submit' || write.patch === undefined || this.patches.has(patchKeyOf(write.patch));
  }

  /** @param placed where the writes go by the ledger's time */
  async complete(placed: readonly PlacedWrite[], scopeCatalog: ScopeCatalog): Promise<StoredBatch> {
    const keys = this.entryKeysOf(placed);
    if (keys.length > 0 || this.hourKeysOf(placed).length > 0) {
      await this.ask({ count: 0, keys, places: placed, submits: [], boards: [], players: [] });
    }
    const withScopes = placed.filter(({ write }) => hasCircles(write.board.definition.scopes));
    return {
      entries: this.entries,
      hours: this.hours,
      remembered: this.remembered,
      standing: await this.readStanding(placed),
      scopes: await scopesOf(withScopes, this.values, scopeCatalog),
      attempts: await readAttempts(this.transaction, placed),
      feedPositions: await readFeedPositions(this.transaction, placed),
      sanctions: this.sanctions,
    };
  }

  /** Asked for only where a board has decay. */
  private async readPatches(): Promise<void> {
    const named = this.batch.flatMap(({ write }) => (write.kind === 'submit' && write.patch ? [write.patch] : []));
    if (named.length === 0) return;
    const distinct = [...new Map(named.map((patch) => [patchKeyOf(patch), patch])).values()];
    this.patches = new Set((await stillPublished(this.transaction, distinct)).map(patchKeyOf));
  }

  /** Asked for only where a board has an entry for each run; each of them is an entry that was read, too. */
  private async readStanding(placed: readonly PlacedWrite[]): Promise<Map<string, EntryRow[]>> {
    const keys = new Map<string, EntryKey>();
    for (const { write, windows } of placed) {
      if (!isPerRun(write.board.definition)) continue;
      const { board, playerId } = write;
      for (const { uid } of windows)
        keys.set(entryKeyOf(uid, playerId), { boardUid: board.uid, windowUid: uid, playerId });
    }
    const standing = await standingRows(this.transaction, [...keys.values()]);
    for (const row of [...standing.values()].flat()) {
      this.entries.set(entryKeyOf(row.windowUid, row.playerId), row);
    }
    return standing;
  }

  private async ask(asked: {
    count: number;
    keys: readonly EntryKey[];
    places: readonly ExpectedPlace[];
    submits: readonly SubmitWrite[];
    boards: readonly number[];
    players: readonly string[];
  }): Promise<void> {
    const { count, keys: entryKeys, places, submits, boards, players } = asked;
    const hourKeys = this.hourKeysOf(places);
    const parameters = [
      count,
      int4Array(entryKeys.map((key) => key.windowUid)),
      textArray(entryKeys.map((key) => key.playerId)),
      int4Array(submits.map((write) => write.board.uid)),
      textArray(submits.map(ownerOf)),
      textArray(submits.map((write) => write.submissionId)),
      int4Array(boards),
      headSequence(this.lane),
      textArray(count === 0 ? [] : [...new Set(this.batch.map(({ write }) => write.playerId))]),
    ];
    const rows =
      players.length === 0 && hourKeys.length === 0
        ? await this.transaction.query<ReadRow>(READ_LANE_BATCH, parameters)
        : await this.transaction.query<ReadRow>(READ_WIDE_LANE_BATCH, [
            ...parameters,
            players,
            hourKeys.map((key) => key.windowUid),
            hourKeys.map((key) => key.playerId),
            hourKeys.map((key) => key.hour),
          ]);
    metrics.laneEntries.inc({ from: 'ledger' }, entryKeys.length);
    for (const key of entryKeys) this.entries.set(entryKeyOf(key.windowUid, key.playerId), null);
    for (const key of hourKeys) this.hours.set(hourKeyOf(key), null);
    for (const row of rows) {
      if (row.what === 'entry') this.addEntry(entryKeys[row.n - 1]!, row);
      else if (row.what === 'submission') {
        const answer = readAnswer(row.text!);
        const { body_sha256: bodySha256, achieved_at_ms: acceptedAtMs } = row;
        const remembered = { bodySha256: bodySha256!, answer, acceptedAtMs: acceptedAtMs! };
        this.remembered.set(submissionKeyOf(submits[row.n - 1]!), remembered);
      } else if (row.what === 'board') {
        if (!row.gone) this.revisions.set(row.n, row.version!);
      } else if (row.what === 'player') this.values.set(players[row.n - 1]!, row.values as ScopeValues);
      else if (row.what === 'hour') {
        const key = hourKeys[row.n - 1]!;
        this.hours.set(hourKeyOf(key), { ...key, state: { ...stateOf(row), version: 0 } });
      } else {
        const sanctions = (row.values ?? {}) as Record<string, SanctionInForce>;
        for (const [playerId, sanction] of Object.entries(sanctions)) this.sanctions.set(playerId, sanction);
        // Each reading moves it.
        this.head.left = movedHead(row.text!, row.achieved_at_ms!);
        if (count === 0) continue;
        this.head.found = row.text!;
        this.nowMs = row.version!;
        this.positions = row.columns!;
      }
    }
  }

  private addEntry(key: EntryKey, row: ReadRow): void {
    this.entries.set(entryKeyOf(key.windowUid, key.playerId), {
      state: { ...stateOf(row), ...(row.values !== null && { patchRuns: row.values as KeptPatchRun[] }) },
      removed: row.gone!,
      unranked: row.unranked!,
      scopes: row.scopes!,
      leftScopes: row.left_scopes!,
      ...key,
    });
  }

  /** Those that were not read yet. */
  private entryKeysOf(places: readonly ExpectedPlace[]): EntryKey[] {
    const keys = new Map<string, EntryKey>();
    for (const { write, windows } of places) {
      const { board, playerId } = write;
      for (const { uid } of windows) {
        const key = entryKeyOf(uid, playerId);
        if (!this.entries.has(key)) keys.set(key, { boardUid: board.uid, windowUid: uid, playerId });
      }
    }
    return [...keys.values()];
  }

  /** Those that were not read yet. */
  private hourKeysOf(places: readonly ExpectedPlace[]): RollingHourKey[] {
    const keys = new Map<string, RollingHourKey>();
    for (const { write, windows, atMs } of places) {
      for (const { uid, kind } of windows) {
        if (kind !== 'rolling') continue;
        const place = { windowUid: uid, playerId: write.playerId, hour: Math.floor(atMs / HOUR_MS) };
        const key = hourKeyOf(place);
        if (!this.hours.has(key)) keys.set(key, place);
      }
    }
    return [...keys.values()];
  }
}

const patchKeyOf = ({ uid, countsAs }: PublishedPatch): string => `${uid} ${countsAs}`;

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

/** Asked for only where a pool feeds a board. */
async function readFeedPositions(transaction: SqlRunner, placed: readonly PlacedWrite[]): Promise<Map<string, number>> {
  const keys = placed.flatMap(({ write, windows }) =>
    write.kind === 'feed' ? windows.map(({ uid }) => ({ windowUid: uid, playerId: write.playerId })) : [],
  );
  if (keys.length === 0) return new Map();
  const rows = await transaction.query<FeedPositionRow>(READ_FEED_POSITIONS, [
    int4Array(keys.map(({ windowUid }) => windowUid)),
    textArray(keys.map(({ playerId }) => playerId)),
  ]);
  return new Map(rows.map(({ windowUid, playerId, position }) => [entryKeyOf(windowUid, playerId), position]));
}

/**
 * Whether a submission can have counted before: by an id that a client chose, a commit that went unanswered, or where it was
 * handed over, as its sender may have made it itself.
 */
export const mayHaveCounted = ({ write, unsettled, isHandedOver }: PendingWrite): boolean =>
  write.kind === 'submit' && (write.idFromClient || unsettled || isHandedOver);

function submitsToRemember(batch: readonly PendingWrite[]): SubmitWrite[] {
  const ids = new Map<string, SubmitWrite>();
  for (const pending of batch) {
    const { write } = pending;
    if (write.kind === 'submit' && mayHaveCounted(pending)) ids.set(submissionKeyOf(write), write);
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
