/** A run as the model knows it. */
export interface ModelRun {
  submissionId: string;
  playerId: string;
  score: number;
  /** Unix ms, another for each run of a player. */
  achievedAtMs: number;
}

export type ModelStyle = 'ordinal' | 'competition' | 'dense';

/** A row of a list as the model ranks it. */
export interface ModelRow extends ModelRun {
  rank: number;
}

/** The runs of a board where each is an entry: of a player the best few stand, and all are ranked anew for each question. */
export class RunEntriesModel {
  private readonly runs = new Map<string, ModelRun>();

  constructor(private readonly ofPlayerMax: number) {}

  add(run: ModelRun): void {
    this.runs.set(run.submissionId, run);
  }

  take(submissionId: string): void {
    this.runs.delete(submissionId);
  }

  copy(): RunEntriesModel {
    const copy = new RunEntriesModel(this.ofPlayerMax);
    for (const run of this.runs.values()) copy.add(run);
    return copy;
  }

  /** The entries of a player, the best first. */
  of(playerId: string): ModelRun[] {
    const own = [...this.runs.values()].filter((run) => run.playerId === playerId);
    return own.sort(byPlace).slice(0, this.ofPlayerMax);
  }

  /** The list without some players. */
  list(without: readonly string[] = [], style: ModelStyle = 'ordinal'): ModelRow[] {
    const players = new Set([...this.runs.values()].map(({ playerId }) => playerId));
    const standing = [...players].filter((one) => !without.includes(one)).flatMap((one) => this.of(one));
    const scores = standing.sort(byPlace).map(({ score }) => score);
    const ranked = style === 'dense' ? [...new Set(scores)] : scores;
    return standing.map((run, at) => ({ ...run, rank: (style === 'ordinal' ? at : ranked.indexOf(run.score)) + 1 }));
  }

  /** The best entry of each of the players, the best first. */
  bestOf(playerIds: readonly string[]): ModelRun[] {
    return playerIds.flatMap((one) => this.of(one).slice(0, 1)).sort(byPlace);
  }
}

const byPlace = (a: ModelRun, b: ModelRun): number =>
  b.score - a.score || a.achievedAtMs - b.achievedAtMs || (a.submissionId < b.submissionId ? -1 : 1);
