import { compareSortKeys, LadderError, type SortKey } from '@laddercast/domain';
import { cursorExpired, type Checkpoint, type CheckpointName, type CheckpointPlace } from './checkpoints.js';
import type { RankList } from '../ranks/rank-projection.js';
import {
  countCheckpoint,
  readCheckpointRows,
  type CheckpointNote,
  type CheckpointRows,
  type Cut,
  type Noted,
} from './redis-checkpoint-calls.js';
import { keyAtIndex } from './redis-checkpoint-search.js';
import { sumReadings, type RunShards } from '../hash-shards/redis-rank-pages.js';
import { allShards } from '../redis/redis-keys.js';
import type { ShardCall } from '../hash-shards/redis-shard-calls.js';

type Direction = CheckpointPlace['direction'];

/** A call of each shard. */
export type CallOfShard<Answer> = (shard: number) => ShardCall<Noted<Answer>>;

/** Rows with the nearest to the cut first, and how many entries stand before the cut. */
export interface FoundRows {
  checkpoint: Checkpoint;
  before: number;
  rows: SortKey[];
}

/** How much one call reads; the defaults suit any list, tests use smaller ones. */
export interface CheckpointReadLimits {
  /** Entries of a shard's set that one call looks at: only a list of which much has changed needs more for a page. */
  lookedAtMax: number;
  /** Once a cut through the shards is this close before an index, the rows between them are read. */
  skippedRowsMax: number;
}

/** A call finds at least 20 rows where it looks at 2,000: 500 take 25. */
const ROUNDS_MAX = 64;

/** Reads one checkpoint of one list; see Checkpoints for what all methods throw. */
export class CheckpointReads {
  constructor(
    private readonly run: RunShards,
    private readonly list: RankList,
    private readonly name: CheckpointName,
    readonly limits: CheckpointReadLimits,
  ) {}

  /** Answers of some shards: what they are of is proven by a call of all. */
  async some<Answer>(
    shards: readonly number[],
    call: CallOfShard<Answer>,
  ): Promise<(Answer & { note: CheckpointNote })[]> {
    const answers = await this.run(shards.map(call));
    return answers.map((answer) => {
      if (answer === null) throw cursorExpired();
      return answer;
    });
  }

  async all<Answer>(
    call: CallOfShard<Answer>,
  ): Promise<{ checkpoint: Checkpoint; answers: (Answer & { note: CheckpointNote })[] }> {
    const answers = await this.some(allShards(this.list), call);
    const notes = answers.map(({ note }) => note);
    const checkpoint = checkpointOf(this.list, this.name.slot, notes);
    // Some shard was opened again, later, after it had closed the checkpoint early.
    if (checkpoint.listVersion !== this.name.listVersion) throw cursorExpired();
    return { checkpoint, answers };
  }

  /** The checkpoint as its shards know it. */
  async checkpoint(): Promise<Checkpoint> {
    return (await this.all((shard) => countCheckpoint(this.list, shard, this.name, []))).checkpoint;
  }

  /** How many entries stood before the key, or before the first that begins with it. */
  async countBefore(key: SortKey): Promise<number> {
    const { answers } = await this.all((shard) => countCheckpoint(this.list, shard, this.name, [key]));
    return sum(answers.map(({ before }) => before[0]!));
  }

  /** The key at a 0-based index, null beyond the end. */
  async keyAt(index: number): Promise<SortKey | null> {
    if (this.list.shards === 1) return (await this.rows({ index }, 'after', 1)).rows[0] ?? null;
    const { answers } = await this.all((shard) => countCheckpoint(this.list, shard, this.name, []));
    const totals = answers.map(({ note }) => note.total);
    return keyAtIndex(this, this.list, this.name, totals, index);
  }

  /** @param cut the same for each shard: at a sort key, or the beginning of the list */
  async rows(cut: Cut, direction: Direction, limit: number): Promise<FoundRows> {
    const rows: SortKey[] = [];
    let first: { checkpoint: Checkpoint; before: number } | null = null;
    let from = cut;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const { checkpoint, answers } = await this.all((shard) =>
        readCheckpointRows(this.list, shard, this.name, from, direction, limit - rows.length, this.limits.lookedAtMax),
      );
      first ??= { checkpoint, before: sum(answers.map(({ before }) => before)) };
      const { seen, stoppedAt } = mergeRows(answers, direction);
      rows.push(...seen.slice(0, limit - rows.length));
      if (rows.length === limit || stoppedAt === null) return { ...first, rows };
      from = { key: stoppedAt, behind: direction === 'after' };
    }
    throw new LadderError('PROJECTION_UNAVAILABLE', 'The list has changed too much to be read in time.', {
      retryAfterSeconds: 1,
    });
  }
}

/** The rows up to where every shard has looked, the nearest first. */
function mergeRows(
  answers: readonly CheckpointRows[],
  direction: Direction,
): { seen: SortKey[]; stoppedAt: SortKey | null } {
  const inOrder = (a: SortKey, b: SortKey): number =>
    direction === 'after' ? compareSortKeys(a, b) : compareSortKeys(b, a);
  const stops = answers.flatMap(({ stoppedAt }) => stoppedAt ?? []).sort(inOrder);
  const stoppedAt = stops[0] ?? null;
  const rows = answers.flatMap((answer) => answer.rows).sort(inOrder);
  return { seen: stoppedAt === null ? rows : rows.filter((row) => inOrder(row, stoppedAt) <= 0), stoppedAt };
}

/** What the shards' notes say together; that of the first shard is the first. */
export function checkpointOf(list: RankList, slot: number, notes: readonly CheckpointNote[]): Checkpoint {
  const { id, openedAtMs, closesAtMs } = notes[0]!;
  return { id, slot, openedAtMs, closesAtMs, ...sumReadings(list, notes) };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
