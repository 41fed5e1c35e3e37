import {
  clusterAround,
  isTooFast,
  JUMP_RUNS_MAX,
  jumpOf,
  type Board,
  type ClusterRule,
  type JumpRule,
  type RateRule,
  type RunRecorded,
} from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { BoardCatalog } from '../catalogs/board-catalog.js';
import { PostgresDatabase } from '../database/postgres-database.js';
import { lanesPassed } from '../lanes/lanes-passed.js';
import { nthBefore, runsOfValue, scoresBefore } from './examined-runs.js';
import type { FlaggedRun, Suspect } from './flag.js';
import { Flags } from './flags.js';

const MINUTE_MS = 60_000;

/**
 * Looks at runs after they were counted, by the rules jump, rate and cluster of their boards, and raises flags. The same runs
 * again raise nothing more.
 */
@Injectable()
export class RunExaminer {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly boards: BoardCatalog,
    private readonly flags: Flags,
  ) {}

  /** @param runs those of one player in the order of acceptance */
  async examine(runs: readonly RunRecorded[]): Promise<void> {
    const byBoard = new Map<number, RunRecorded[]>();
    for (const run of runs) byBoard.set(run.boardUid, [...(byBoard.get(run.boardUid) ?? []), run]);
    const clusters: { board: Board; rule: ClusterRule; runs: RunRecorded[] }[] = [];
    for (const [uid, ofBoard] of byBoard) {
      const board = await this.boards.byUid(uid);
      const { jump, rate, cluster } = board?.definition.integrity ?? { jump: null, rate: null, cluster: null };
      if (!board) continue;
      if (jump && board.definition.operator !== 'sum') await this.findJumps(board, jump, ofBoard);
      if (rate) await this.findHaste(uid, rate, ofBoard);
      const counted = ofBoard.filter(({ held }) => !held);
      if (cluster && counted.length > 0) clusters.push({ board, rule: cluster, runs: counted });
    }
    if (clusters.length === 0) return;
    // Runs of other lanes may be committed later, with lower positions.
    await lanesPassed(this.database);
    for (const { board, rule, runs: counted } of clusters) await this.findClusters(board, rule, counted);
  }

  private async findJumps({ uid, definition }: Board, rule: JumpRule, runs: readonly RunRecorded[]): Promise<void> {
    const before = await scoresBefore(this.database, uid, runs, JUMP_RUNS_MAX);
    for (const [index, run] of runs.entries()) {
      const jump = jumpOf(rule, definition.order, run.score, before[index]!);
      if (jump === null) continue;
      const summary = `${run.score} is far better than the median of the ${jump.runs} runs before it, ${jump.median}.`;
      const details = { score: run.score, ...jump, factor: rule.factor };
      await this.flags.raise({ ...suspectOf(run, 'jump'), key: String(run.position), summary, details });
    }
  }

  private async findHaste(uid: number, rule: RateRule, runs: readonly RunRecorded[]): Promise<void> {
    const before = await nthBefore(this.database, uid, runs, rule.runs);
    for (const [index, run] of runs.entries()) {
      if (!isTooFast(rule, run.acceptedAtMs, before[index]!)) continue;
      const summary = `More than ${rule.runs} runs within ${rule.seconds} s.`;
      await this.flags.raise({ ...suspectOf(run, 'rate'), key: '', summary, details: { ...rule } });
    }
  }

  private async findClusters(
    { uid, definition }: Board,
    rule: ClusterRule,
    runs: readonly RunRecorded[],
  ): Promise<void> {
    const byValue = new Map<string, RunRecorded[]>();
    for (const run of runs) {
      const value = JSON.stringify([run.score, run.columns]);
      byValue.set(value, [...(byValue.get(value) ?? []), run]);
    }
    for (const [value, equal] of byValue) {
      const times = equal.map(({ acceptedAtMs }) => acceptedAtMs);
      const [fromMs, toMs] = [
        Math.min(...times) - rule.minutes * MINUTE_MS,
        Math.max(...times) + rule.minutes * MINUTE_MS,
      ];
      const { score, columns } = equal[0]!;
      const all = await runsOfValue(this.database, uid, { score, columns }, fromMs, toMs);
      const found = new Map<number, FlaggedRun>();
      for (const run of equal) {
        for (const { isFlagged, playerId, position, submissionId } of clusterAround(
          rule,
          run,
          nearTo(run, rule, all),
        )) {
          if (!isFlagged) found.set(position, { playerId, position, submissionId });
        }
      }
      if (found.size === 0) continue;
      const named = Object.fromEntries(definition.columns.map(({ name }, index) => [name, columns[index]]));
      await this.flags.raise({
        ...{ rule: 'cluster', severity: 'medium', boardUid: uid, playerId: null, subject: value, key: '' },
        summary: `Runs of ${rule.players} players or more with the score ${score} within ${rule.minutes} min.`,
        details: { score, columns: named, ...rule },
        runs: [...found.values()].sort((a, b) => a.position - b.position),
      });
    }
  }
}

const nearTo = <Run extends { acceptedAtMs: number }>(
  { acceptedAtMs }: RunRecorded,
  { minutes }: ClusterRule,
  runs: readonly Run[],
): Run[] => runs.filter((run) => Math.abs(run.acceptedAtMs - acceptedAtMs) <= minutes * MINUTE_MS);

/** What all flags of one player's run have. */
function suspectOf(run: RunRecorded, rule: string): Omit<Suspect, 'key' | 'summary' | 'details'> {
  const { boardUid, playerId, position, submissionId } = run;
  const runs = [{ playerId, position, submissionId }];
  return { rule, severity: 'medium', boardUid, playerId, subject: playerId, runs };
}
