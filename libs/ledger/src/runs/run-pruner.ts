import { isPerRun, withBoardDefaults, type BoardDefinition } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { float8Array, int4Array, int8Array, textArray } from '../database/postgres-arrays.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { tryEach } from '../database/try-each.js';
import { arrayLiteral } from '../entries/entry-rows.js';
import { LaneQueue } from '../lanes/lane-queue.js';
import { Lanes, type Place } from '../lanes/lanes.js';
import { patchFamily } from '../patches/patch-families.js';
import { RunActs } from './run-acts.js';
import { foldedRunBases } from './run-entry-prefixes.js';
import type { FoldedBoard } from './run-folds.js';
import {
  foldPrefixes,
  prefixesOf,
  type BaseRow,
  type FoldedBase,
  type PrefixRow,
  type RunPrefix,
} from './run-prefixes.js';
import {
  BOARDS_WITH_OLD_RUNS,
  DELETE_BASES,
  DELETE_PREFIXES,
  NEXT_RUNS,
  PRUNED_BOARD,
  READ_BASES_OF_PLAYERS,
  READ_PREFIXES,
  REST_ON_BASES,
  ROLLING_WINDOWS,
  RUNS_AT_ONCE,
  WRITE_BASES,
} from './run-pruning-sql.js';

/** The most players of one transaction. */
const PLAYERS_AT_ONCE = 250;

interface BoardInTurn {
  uid: number;
  id: string;
  runsFrom: number;
  keepDays: number;
  /** What was accepted before is old, Unix ms. */
  cutoffMs: number;
}

interface OldRun {
  playerId: string;
  position: number;
  submissionId: string;
  isHeld: boolean;
  isOld: boolean;
}

/** Of a player the first and the last position that may be folded now. */
interface AskedPrefix {
  playerId: string;
  first: number;
  last: number;
}

/**
 * Folds runs that are older than their board keeps them (`runs.keepDays`) into bases, a bounded part at a time, and deletes
 * them in the same transaction. Entries stay what they are. One that is held for so long is voided before.
 */
@Injectable()
export class RunPruner {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly work: LaneQueue,
    private readonly acts: RunActs,
  ) {}

  /** @throws AggregateError of what failed; it holds up no other player */
  async run(signal: AbortSignal): Promise<void> {
    const boards = await this.database.query<BoardInTurn>(BOARDS_WITH_OLD_RUNS);
    await tryEach(boards, signal, (board) => this.prune(board, signal));
  }

  /** A board's runs are read by position, which is about the order of acceptance, up to the first that is not old. */
  private async prune(board: BoardInTurn, signal: AbortSignal): Promise<void> {
    const failures: unknown[] = [];
    for (let after = board.runsFrom - 1; !signal.aborted;) {
      const next = await this.database.query<OldRun>(NEXT_RUNS, [board.uid, after, board.cutoffMs]);
      const end = next.findIndex(({ isOld }) => !isOld);
      const old = end < 0 ? next : next.slice(0, end);
      await this.pruneRuns(board, old, signal).catch((error: unknown) => failures.push(error));
      if (old.length < RUNS_AT_ONCE) break;
      after = old.at(-1)!.position;
    }
    if (failures.length > 0) throw new AggregateError(failures, (failures[0] as Error).message);
  }

  private pruneRuns(board: BoardInTurn, old: readonly OldRun[], signal: AbortSignal): Promise<void> {
    const voids = old.filter(({ isHeld }) => isHeld).map((run) => () => this.voidHeld(board, run));
    // Refused where lanes were raised meanwhile: then the next look does it.
    const chunks = this.chunksOf(old).map(
      ({ place, prefixes }) =>
        () =>
          this.work.holding(place, (transaction) => pruneChunk(transaction, board, prefixes)),
    );
    return tryEach([...voids, ...chunks], signal, (work) => work());
  }

  private async voidHeld(
    { uid, id, keepDays }: BoardInTurn,
    { playerId, position, submissionId }: OldRun,
  ): Promise<void> {
    const run = { boardUid: uid, playerId, position };
    const reason = `held for ${keepDays} days`;
    await this.acts.voidHeld(run, { boardId: id, submissionId, playerId, actor: 'clock', reason });
  }

  /** The lanes in turn, so that none is taken again and again while the others rest. */
  private chunksOf(old: readonly OldRun[]): { place: Place; prefixes: AskedPrefix[] }[] {
    const ofPlayers = new Map<string, AskedPrefix>();
    for (const { playerId, position } of old) {
      const first = ofPlayers.get(playerId)?.first ?? position;
      ofPlayers.set(playerId, { playerId, first, last: position });
    }
    const chunks: { place: Place; turn: number; prefixes: AskedPrefix[] }[] = [];
    for (const { place, things } of this.lanes.sorted([...ofPlayers.values()], ({ playerId }) => playerId)) {
      for (let from = 0; from < things.length; from += PLAYERS_AT_ONCE)
        chunks.push({ place, turn: from, prefixes: things.slice(from, from + PLAYERS_AT_ONCE) });
    }
    return chunks.sort((a, b) => a.turn - b.turn || a.place.lane - b.place.lane);
  }
}

interface PrunedBoard {
  definition: BoardDefinition;
  runsFrom: number;
  cutoffMs: number;
  /** On boards with decay; null on others. */
  familyUid: number | null;
}

async function pruneChunk(
  transaction: SqlRunner,
  { uid, runsFrom }: BoardInTurn,
  asked: readonly AskedPrefix[],
): Promise<void> {
  // Whatever changes a board holds all lanes, so from here on it stays.
  const [board] = await transaction.query<PrunedBoard>(PRUNED_BOARD, [uid]);
  if (board?.runsFrom !== runsFrom) return;
  const rows = await transaction.query<PrefixRow>(READ_PREFIXES, [
    uid,
    runsFrom,
    textArray(asked.map(({ playerId }) => playerId)),
    int8Array(asked.map(({ first }) => first)),
    int8Array(asked.map(({ last }) => last)),
    board.cutoffMs,
  ]);
  const prefixes = prefixesOf(rows);
  if (prefixes.length === 0) return;
  const definition = withBoardDefaults(board.definition);
  const patches = board.familyUid === null ? undefined : await patchFamily(transaction, board.familyUid);
  const folded = isPerRun(definition)
    ? await foldedRunBases(transaction, { uid, definition, runsFrom }, prefixes)
    : await foldedBases(transaction, { definition, runsFrom, ...(patches && { patches }) }, prefixes);
  await writeBases(transaction, folded);
  if (definition.operator !== 'sum') await transaction.query(REST_ON_BASES, [...keysOf(folded), positionsOf(folded)]);
  const gone = await transaction.query(DELETE_PREFIXES, [
    uid,
    textArray(prefixes.map(({ playerId }) => playerId)),
    int8Array(prefixes.map(({ runs }) => runs[0]!.position)),
    int8Array(prefixes.map(({ runs }) => runs.at(-1)!.position)),
  ]);
  const runs = prefixes.reduce((sum, prefix) => sum + prefix.runs.length, 0);
  if (gone.length !== runs)
    throw new Error(`Of ${runs} runs of board ${uid} that were folded ${gone.length} are there.`);
}

async function foldedBases(
  transaction: SqlRunner,
  board: FoldedBoard & { runsFrom: number },
  prefixes: readonly RunPrefix[],
): Promise<FoldedBase[]> {
  const windowUids = [...new Set(prefixes.flatMap(({ runs }) => runs.flatMap((run) => run.windowUids)))];
  const rolling = new Set(
    (await transaction.query<{ windowUid: number }>(ROLLING_WINDOWS, [windowUids])).map((row) => row.windowUid),
  );
  const places = prefixes.flatMap(({ playerId, runs }) =>
    [...new Set(runs.flatMap((run) => run.windowUids))].map((windowUid) => ({ windowUid, playerId })),
  );
  const bases = await transaction.query<BaseRow>(READ_BASES_OF_PLAYERS, [...keysOf(places), board.runsFrom]);
  return foldPrefixes(board, prefixes, bases, rolling);
}

/** No base says the same as a base of nothing: an older one must not stand behind a wall. */
async function writeBases(transaction: SqlRunner, folded: readonly FoldedBase[]): Promise<void> {
  const nothing = folded.filter(({ state }) => state === null);
  if (nothing.length > 0) await transaction.query(DELETE_BASES, keysOf(nothing));
  const bases = folded.flatMap(({ state, ...place }) => (state === null ? [] : [{ ...place, ...state }]));
  if (bases.length === 0) return;
  await transaction.query(WRITE_BASES, [
    ...keysOf(bases),
    positionsOf(bases),
    float8Array(bases.map(({ score }) => score)),
    textArray(bases.map(({ columns }) => arrayLiteral(columns))),
    int8Array(bases.map(({ achievedAtMs }) => achievedAtMs)),
    textArray(bases.map(({ metadata }) => metadata)),
    textArray(bases.map(({ patchRuns }) => (patchRuns ? JSON.stringify(patchRuns) : null))),
  ]);
}

const keysOf = (places: readonly { windowUid: number; playerId: string }[]): [Buffer, Buffer] => [
  int4Array(places.map(({ windowUid }) => windowUid)),
  textArray(places.map(({ playerId }) => playerId)),
];

const positionsOf = (places: readonly { position: number }[]): Buffer =>
  int8Array(places.map(({ position }) => position));
