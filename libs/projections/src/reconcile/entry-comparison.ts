import { GLOBAL_SCOPE, GUILDS_SCOPE, LadderError, shardOf, type Board, type SortKey } from '@laddercast/domain';
import { comparedRowsOf, PostgresDatabase, type ComparedRow, type SqlRunner } from '@laddercast/ledger';
import { metrics, sleep } from '@laddercast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { CommittedPositions } from '../recovery/committed-positions.js';
import { RankInspection, type HeldEntry } from '../ranks/rank-inspection.js';
import { sortKeyOf } from '../ranks/changes-by-shard.js';
import { listOfWindow, RankProjection, type RankList } from '../ranks/rank-projection.js';

/** How an entry differs from the ledger: not ranked, ranked by something else, or ranked and not there. */
export type DriftKind = 'missing' | 'stale' | 'stray';

/** An entry in which a list differed from the ledger. */
export interface Drift {
  list: RankList;
  playerId: string;
  kind: DriftKind;
}

/** What a comparison found; what differed was put right. */
export interface Compared {
  entries: number;
  drift: Drift[];
  /** Entries that changed all the while: nothing can be said of them, and their next change puts them right. */
  unsettled: number;
}

/** A list's window as it is compared: of the generation that serves, at the time of the comparison. */
export interface ComparedWindow {
  board: Board;
  windowUid: number;
  startsAtMs: number | null;
  endsAtMs: number | null;
  keepUntilMs: number | null;
}

/** What a list should hold of a player; null: nothing. */
type Expected = { version: number; key: SortKey | null } | null;

interface Suspect {
  list: RankList;
  playerId: string;
}

interface Judged extends Suspect {
  verdict: 'equal' | 'later' | DriftKind;
  held: HeldEntry;
  expected: Expected;
}

/** Looks at entries that differ, until their lane has passed what is committed of them. */
const LOOKS_MAX = 8;
const LOOK_AGAIN_MS = 250;

/**
 * Compares entries of the ledger with those of the lists that serve, and puts right what differs.
 *
 * What is under way is no drift. An entry that differs is looked at again in this order: how far each lane is recorded to
 * be applied; the list; the ledger; the lane's mark. So a list that has less than the ledger is wrong if the lane was
 * applied beyond the ledger's version before the list was read, and its mark says that nothing was lost meanwhile. A list
 * that has more than the ledger, read after it, is wrong in any case: the ledger is written first. Else it is looked at
 * once more.
 */
@Injectable()
export class EntryComparison {
  constructor(
    @Inject(PostgresDatabase) private readonly database: SqlRunner,
    private readonly projection: RankProjection,
    private readonly inspection: RankInspection,
    private readonly committed: CommittedPositions,
  ) {}

  /**
   * Compares rows of the ledger with every list that ranks them, or did.
   * @throws PROJECTION_UNAVAILABLE while the ranks are being brought back, or cannot be read; a database error
   */
  async compareRows(window: ComparedWindow, rows: readonly ComparedRow[]): Promise<Compared> {
    const lists = new Map<number, { list: RankList; rows: ComparedRow[] }>();
    for (const row of rows) {
      const home = row.isGuild ? GUILDS_SCOPE : GLOBAL_SCOPE;
      for (const scope of new Set([home, ...row.scopes, ...row.leftScopes])) {
        const known = lists.get(scope) ?? { list: listIn(window, scope), rows: [] };
        known.rows.push(row);
        lists.set(scope, known);
      }
    }
    const suspects: Suspect[] = [];
    for (const { list, rows: ofList } of lists.values()) {
      const held = await this.inspection.held(
        list,
        ofList.map(({ playerId }) => playerId),
      );
      for (const [at, row] of ofList.entries()) {
        if (!isEqual(held[at]!, expectedIn(window, list, row))) suspects.push({ list, playerId: row.playerId });
      }
    }
    return this.settle(window, rows.length, suspects);
  }

  /** As {@link compareRows}, the other way round: whether the ledger has what a list holds of these players. */
  async comparePlayers(window: ComparedWindow, list: RankList, playerIds: readonly string[]): Promise<Compared> {
    const held = await this.inspection.held(list, playerIds);
    const rows = await comparedRowsOf(this.database, window.windowUid, list.scope === GUILDS_SCOPE, playerIds);
    const suspects = playerIds
      .filter((playerId, at) => !isEqual(held[at]!, expectedIn(window, list, rows.get(playerId))))
      .map((playerId) => ({ list, playerId }));
    return this.settle(window, playerIds.length, suspects);
  }

  private async settle(window: ComparedWindow, entries: number, suspects: readonly Suspect[]): Promise<Compared> {
    const drift: Drift[] = [];
    const seen = new Set<string>();
    let left = suspects;
    for (let looks = 1; left.length > 0 && looks <= LOOKS_MAX; looks += 1) {
      if (looks > 1) await sleep(LOOK_AGAIN_MS);
      const judged = (await this.judge(window, left)).filter(({ verdict }) => verdict !== 'equal');
      for (const one of judged) {
        const { list, playerId, verdict, held } = one;
        if (verdict === 'equal') continue;
        if (verdict !== 'later') {
          await this.repair(window, one);
          const name = `${list.scope}/${playerId}`;
          if (!seen.has(name)) drift.push({ list, playerId, kind: verdict });
          seen.add(name);
        } else if (held.isMoving && looks === LOOKS_MAX) await this.finish(window, one);
      }
      // What was put right is looked at once more, too.
      left = judged;
    }
    const unsettled = left.filter(({ list, playerId }) => !seen.has(`${list.scope}/${playerId}`)).length;
    metrics.reconciled.inc(entries);
    for (const { kind } of drift) metrics.drift.inc({ kind });
    return { entries, drift, unsettled };
  }

  private async judge(window: ComparedWindow, suspects: readonly Suspect[]): Promise<Judged[]> {
    const { database, inspection } = this;
    const { windowUid } = window;
    const byList = new Map<RankList, Suspect[]>();
    for (const suspect of suspects) byList.set(suspect.list, [...(byList.get(suspect.list) ?? []), suspect]);
    const judged: Judged[] = [];
    for (const [list, ofList] of byList) {
      const playerIds = ofList.map(({ playerId }) => playerId);
      const isGuild = list.scope === GUILDS_SCOPE;
      const before = await comparedRowsOf(database, windowUid, isGuild, playerIds);
      const lanes = [...new Set([...before.values()].map(({ lane }) => lane))];
      const positions = await this.committed.ofAll(lanes);
      const applied = new Map(lanes.map((lane, at) => [lane, positions[at]!]));
      const session = this.projection.session();
      const held = await inspection.held(list, playerIds);
      const rows = await comparedRowsOf(database, windowUid, isGuild, playerIds);
      await this.assertWhole(applied, session);
      for (const [at, suspect] of ofList.entries()) {
        const row = rows.get(suspect.playerId);
        const expected = expectedIn(window, list, row);
        const verdict = verdictOn(expected, held[at]!, row, (row && applied.get(row.lane)) ?? 0);
        judged.push({ ...suspect, verdict, held: held[at]!, expected });
      }
    }
    return judged;
  }

  /** @throws PROJECTION_UNAVAILABLE when the store may have lost something: then recovery brings it back, and not this */
  private async assertWhole(applied: ReadonlyMap<number, number>, session: number): Promise<void> {
    const { projection } = this;
    for (const [lane, position] of applied) {
      if (((await projection.readMark(lane)) ?? 0) < position) throw beingRecovered();
    }
    if (projection.session() !== session) throw beingRecovered();
  }

  /**
   * Where the list knows as much as the ledger, or more, it forgets that first: nothing is newer than what is there. So it does
   * where the entry does not stand where the index says, which a newer version of the same key would not change.
   */
  private async repair({ keepUntilMs }: ComparedWindow, { list, playerId, held, expected }: Judged): Promise<void> {
    const { projection, inspection } = this;
    const isAsNew = held.version !== null && (expected === null || held.version >= expected.version);
    const isWrong = isAsNew || (held.key !== null && !held.isStanding);
    if (isWrong) await inspection.forget(list, held, keepUntilMs, expected !== null);
    if (expected === null) return;
    await projection.apply(list, shardOf(playerId, list.shards), [{ playerId, ...expected }], keepUntilMs);
    if (isWrong) await inspection.removeStray(list, held, keepUntilMs);
  }

  /** Whoever began to move the entry may be gone. */
  private async finish({ keepUntilMs }: ComparedWindow, { list, playerId, expected }: Judged): Promise<void> {
    if (expected === null) return;
    const shard = shardOf(playerId, list.shards);
    await this.projection.apply(list, shard, [{ playerId, ...expected }], keepUntilMs);
  }
}

/** A list of a window, of the generation that serves. */
export const listIn = ({ board, windowUid: uid, startsAtMs, endsAtMs }: ComparedWindow, scope: number): RankList =>
  listOfWindow(board, { uid, startsAtMs, endsAtMs }, scope);

/** What a list should hold of a row. Of what left it, and of what was removed from a scope, it need not know. */
function expectedIn({ board }: ComparedWindow, list: RankList, row: ComparedRow | undefined): Expected {
  if (row === undefined) return null;
  const isRanked = list.scope === (row.isGuild ? GUILDS_SCOPE : GLOBAL_SCOPE) || row.scopes.includes(list.scope);
  if (!isRanked) return null;
  const key = row.removed ? null : sortKeyOf(board, list, { values: row, runs: row.patchRuns }, row.playerId);
  return { version: row.version, key };
}

/** A removal that the list does not know of shows nobody. */
function isEqual({ version, key, isStanding, isMoving }: HeldEntry, expected: Expected): boolean {
  if (isMoving) return false;
  if (expected === null || expected.key === null) return key === null;
  return (
    isStanding &&
    version === expected.version &&
    key !== null &&
    key.score === expected.key.score &&
    key.member.equals(expected.key.member)
  );
}

/** @param applied the position up to which the row's lane was applied before the list was read */
function verdictOn(
  expected: Expected,
  held: HeldEntry,
  row: ComparedRow | undefined,
  applied: number,
): Judged['verdict'] {
  if (held.isMoving) return 'later';
  if (isEqual(held, expected)) return 'equal';
  const isAhead = held.version !== null && held.version > (row?.version ?? 0);
  if (row !== undefined && !isAhead && row.version > applied) return 'later';
  if (expected === null || expected.key === null) return 'stray';
  return held.key === null || !held.isStanding ? 'missing' : 'stale';
}

const beingRecovered = (): LadderError =>
  new LadderError('PROJECTION_UNAVAILABLE', 'The ranks are being brought back from PostgreSQL.', {
    retryAfterSeconds: 1,
  });
