import type { BoardDefinition } from '@laddercast/domain';
import { betterFirst, type ModelRun } from '../runs-model.js';

/** A run of the model; `patch`: the number of the patch as which it counts, 0 of what an operator did. */
export interface PatchModelRun extends ModelRun {
  patch: number;
  verified: boolean;
}

/** The patches from the oldest to the newest. */
type Order = readonly number[];

/** A player's entry: the place that it has, and the runs that have it. */
export interface ModelPlace {
  playerId: string;
  score: number;
  columns: number[];
  atMs: number;
  of: PatchModelRun[];
}

/**
 * Every run of a board with decay in the order of acceptance. What stands is looked for among all that count, kept or not: no
 * fold, and nothing that is thrown away.
 */
export class PatchRunsModel {
  readonly runs: PatchModelRun[] = [];

  constructor(readonly definition: BoardDefinition) {}

  /** The runs that count in a window behind the player's last wall. */
  counted(window: string, playerId: string, acceptedBeforeMs = Infinity): PatchModelRun[] {
    const counted = this.runs.filter(
      (run) =>
        run.playerId === playerId &&
        run.windows.includes(window) &&
        run.acceptedAtMs < acceptedBeforeMs &&
        !run.voided &&
        !run.held,
    );
    return counted.slice(counted.findLastIndex(({ isWall }) => isWall) + 1);
  }

  /** The entry of a player among these runs under the tax of an order; null: none. */
  standing(runs: readonly PatchModelRun[], order: Order): ModelPlace | null {
    const taxed = runs.map((run) => ({ run, score: this.taxed(run, order), columns: run.columns, atMs: run.atMs }));
    const [first] = [...taxed].sort((a, b) => betterFirst(this.definition, a, b));
    if (first === undefined) return null;
    const { score, columns, atMs } = first;
    const of = taxed.filter((one) => betterFirst(this.definition, one, first) === 0).map(({ run }) => run);
    return { playerId: first.run.playerId, score, columns, atMs, of };
  }

  /** A list, in its order. */
  list(runsOf: (playerId: string) => PatchModelRun[], players: readonly string[], order: Order): ModelPlace[] {
    const places = players.flatMap((playerId) => this.standing(runsOf(playerId), order) ?? []);
    return places.sort((a, b) => betterFirst(this.definition, a, b) || (a.playerId < b.playerId ? -1 : 1));
  }

  /** `perPatch` is one part of a whole. */
  private taxed({ score, patch }: PatchModelRun, order: Order): number {
    const parts = Math.round(1 / this.definition.decay!.perPatch);
    const behind = order.includes(patch) ? order.length - 1 - order.indexOf(patch) : 0;
    if (behind === 0) return score! + 0;
    return (score! * (this.definition.order === 'asc' ? parts + behind : Math.max(0, parts - behind))) / parts;
  }
}
