import {
  LadderError,
  scopeKindsOf,
  withBoardDefaults,
  type BoardDefinition,
  type EntryChange,
  type EntryChanged,
} from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import { keptAfterEndMs } from '../entries/entry-rows.js';
import {
  COUNT_MEMBERS,
  READ_NO_GUILD_TOTALS,
  READ_WINDOW_FACTS,
  readGuildTotals,
  WRITE_GUILD_TOTALS,
} from './guild-totals-sql.js';
import { drawPositions } from '../lanes/lane-events.js';
import { takeLane } from '../lanes/lane-locks.js';
import { Lanes, placedAnew, type Place } from '../lanes/lanes.js';
import { OutboxNotifier } from '../lanes/outbox-notifier.js';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { ScopeCatalog } from '../catalogs/scope-catalog.js';
import { StaleBoardError } from '../entries/ledger-writes.js';

/** A guild's entry in a window. */
export interface GuildTarget {
  windowUid: number;
  guildId: string;
}

/** The most totals, and about the most members' entries, of one transaction. */
const TARGETS_MAX = 200;
const MEMBERS_MAX = 50_000;
/** A board that changes again and again under a recomputation: each try looks at it anew. */
const TRIES_MAX = 5;

interface WindowFacts {
  windowUid: number;
  boardUid: number;
  revision: number;
  definition: BoardDefinition;
  endsAtMs: number | null;
  nowMs: number;
}

interface TotalRow {
  n: number;
  score: number | null;
  members: number;
  achievedAtMs: number | null;
  storedScore: number | null;
  storedMembers: number | null;
  storedAchievedAtMs: number | null;
  storedRemoved: boolean | null;
}

interface NewTotal extends GuildTarget {
  facts: WindowFacts;
  removed: boolean;
  score: number;
  members: number;
  achievedAtMs: number;
}

/**
 * Guilds' totals: each the absolute aggregate of its members' entries as they are committed, and of what leavers left.
 *
 * Totals of one lane of guild ids are computed one after another, so that none is older than the one it replaces; the
 * lane itself is held only while they are written, not while the members are read. Whatever is committed after that
 * reading has an event of its own, which orders the next one.
 */
@Injectable()
export class GuildTotals {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly lanes: Lanes,
    private readonly scopes: ScopeCatalog,
    private readonly notifier: OutboxNotifier,
  ) {}

  /**
   * Brings totals up to what is committed. Those of ended windows too, whose last runs may only now arrive here: after
   * its end a window's entries keep their scopes, and after its closing they are its final standings.
   * @returns how many were written because they differed
   */
  async recompute(targets: readonly GuildTarget[]): Promise<number> {
    let written = 0;
    await placedAnew(this.database, this.lanes, async () => {
      for (const { place, things } of this.lanes.sorted(targets, ({ guildId }) => guildId)) {
        for (const chunk of await this.chunks(things)) written += await this.recomputeChunk(place, chunk);
      }
    });
    return written;
  }

  /**
   * As {@link recompute}, in a transaction that began with {@link takeTurn} for the lane of the guilds' ids.
   * @throws StaleBoardError when a board changed under it
   */
  async recomputeWithin(transaction: SqlRunner, place: Place, targets: readonly GuildTarget[]): Promise<number> {
    const facts = await this.factsOf(transaction, targets);
    const differing: NewTotal[] = [];
    for (const [boardUid, ofBoard] of facts) differing.push(...(await this.differing(transaction, boardUid, ofBoard)));
    if (differing.length === 0) return 0;
    await takeLane(transaction, place);
    await assertUnchanged(transaction, differing);
    await write(transaction, place.lane, differing);
    return differing.length;
  }

  /** Waits until nobody else computes totals of guilds of this lane. To be taken before the lane itself. */
  async takeTurn(transaction: SqlRunner, lane: number): Promise<void> {
    await transaction.query('SELECT pg_advisory_xact_lock($1, $2)', [ADVISORY_LOCKS.guildTotals, lane]);
  }

  private async recomputeChunk(place: Place, targets: readonly GuildTarget[]): Promise<number> {
    for (let tries = 1; ; tries += 1) {
      try {
        const written = await this.database.transaction(async (transaction) => {
          await this.takeTurn(transaction, place.lane);
          return this.recomputeWithin(transaction, place, targets);
        });
        if (written > 0) this.notifier.wake(place.lane);
        return written;
      } catch (error) {
        if (!(error instanceof StaleBoardError)) throw error;
        if (tries < TRIES_MAX) continue;
        throw new LadderError(
          'OVERLOADED',
          'A board keeps changing while its guilds are added up.',
          {},
          { cause: error },
        );
      }
    }
  }

  private async chunks(targets: readonly GuildTarget[]): Promise<GuildTarget[][]> {
    const guildIds = [...new Set(targets.map(({ guildId }) => guildId))];
    const counts = await this.database.query<{ guildId: string; members: number }>(COUNT_MEMBERS, [guildIds]);
    const membersOf = new Map(counts.map(({ guildId, members }) => [guildId, members]));
    const chunks: GuildTarget[][] = [];
    let members = Infinity;
    for (const target of targets) {
      const ofTarget = membersOf.get(target.guildId) ?? 0;
      if (members + ofTarget > MEMBERS_MAX || chunks.at(-1)!.length >= TARGETS_MAX) {
        chunks.push([]);
        members = 0;
      }
      chunks.at(-1)!.push(target);
      members += ofTarget;
    }
    return chunks;
  }

  /** By board; what is of boards that are gone is left out, and of windows that nobody reads from the projection any more. */
  private async factsOf(
    transaction: SqlRunner,
    targets: readonly GuildTarget[],
  ): Promise<Map<number, { facts: WindowFacts; target: GuildTarget }[]>> {
    const windowUids = [...new Set(targets.map(({ windowUid }) => windowUid))];
    const rows = await transaction.query<WindowFacts>(READ_WINDOW_FACTS, [windowUids]);
    const byWindow = new Map(
      rows
        .map((row) => ({ ...row, definition: withBoardDefaults(row.definition) }))
        .filter(({ endsAtMs, nowMs, definition }) => endsAtMs === null || nowMs < endsAtMs + keptAfterEndMs(definition))
        .map((row) => [row.windowUid, row]),
    );
    const byBoard = new Map<number, { facts: WindowFacts; target: GuildTarget }[]>();
    for (const target of targets) {
      const facts = byWindow.get(target.windowUid);
      if (facts) byBoard.set(facts.boardUid, [...(byBoard.get(facts.boardUid) ?? []), { facts, target }]);
    }
    return byBoard;
  }

  private async differing(
    transaction: SqlRunner,
    boardUid: number,
    targets: readonly { facts: WindowFacts; target: GuildTarget }[],
  ): Promise<NewTotal[]> {
    const { definition } = targets[0]!.facts;
    const scopeUids = await this.scopes.ensure(targets.map(({ target }) => `guild:${target.guildId}`));
    const ranksGuilds = scopeKindsOf(definition.scopes).includes('guild');
    const rows = await transaction.query<TotalRow>(ranksGuilds ? readGuildTotals(definition) : READ_NO_GUILD_TOTALS, [
      targets.map(({ target }) => target.windowUid),
      targets.map(({ target }) => target.guildId),
      scopeUids,
    ]);
    return rows.filter(isNew).map((row) => {
      const { facts, target } = targets[row.n - 1]!;
      return {
        ...target,
        facts: { ...facts, boardUid },
        removed: row.members === 0,
        score: row.members === 0 ? 0 : row.score!,
        members: row.members,
        achievedAtMs: row.achievedAtMs ?? 0,
      };
    });
  }
}

function isNew(row: TotalRow): boolean {
  const isStored = row.storedRemoved === false;
  if (row.members === 0) return isStored;
  return (
    !isStored ||
    row.score !== row.storedScore ||
    row.members !== row.storedMembers ||
    row.achievedAtMs !== row.storedAchievedAtMs
  );
}

/** Under the lane nothing of a board changes: what was read before still holds, or is read again. */
async function assertUnchanged(transaction: SqlRunner, totals: readonly NewTotal[]): Promise<void> {
  const boards = new Map(totals.map(({ facts }) => [facts.boardUid, facts.revision]));
  const rows = await transaction.query<{ board_uid: number; revision: number }>(
    'SELECT board_uid, revision FROM boards WHERE board_uid = ANY ($1::int[]) AND board_id IS NOT NULL',
    [[...boards.keys()]],
  );
  const now = new Map(rows.map(({ board_uid, revision }) => [board_uid, revision]));
  for (const [uid, revision] of boards) if (now.get(uid) !== revision) throw new StaleBoardError(uid);
}

async function write(transaction: SqlRunner, lane: number, totals: readonly NewTotal[]): Promise<void> {
  const groups = new Map<string, NewTotal[]>();
  for (const total of totals) {
    const key = `${total.facts.boardUid}/${total.guildId}`;
    groups.set(key, [...(groups.get(key) ?? []), total]);
  }
  const positions = await drawPositions(transaction, groups.size);
  const events = [...groups.values()].map((group, index) => eventOf(group, positions[index]!));
  const rows = [...groups.values()].flatMap((group, index) =>
    group.map((total) => ({ ...total, version: positions[index]! })),
  );
  await transaction.query(WRITE_GUILD_TOTALS, [
    lane,
    rows.map((row) => row.windowUid),
    rows.map((row) => row.guildId),
    rows.map((row) => row.facts.boardUid),
    rows.map((row) => row.version),
    rows.map((row) => row.removed),
    rows.map((row) => row.score),
    rows.map((row) => row.members),
    rows.map((row) => row.achievedAtMs),
    events.map((event) => event.version),
    events.map((event) => event.playerId),
    events.map((event) => JSON.stringify(event)),
  ]);
}

function eventOf(group: readonly NewTotal[], version: number): EntryChanged {
  const { facts, guildId } = group[0]!;
  const changes = group.map(
    ({ windowUid, facts: { endsAtMs, definition }, removed, score, achievedAtMs }): EntryChange => ({
      windowUid,
      keepUntilMs: endsAtMs === null ? null : endsAtMs + keptAfterEndMs(definition),
      entry: removed ? null : { score, columns: [], achievedAtMs },
    }),
  );
  return { type: 'entry-changed', boardUid: facts.boardUid, playerId: guildId, version, changes, isGuild: true };
}
