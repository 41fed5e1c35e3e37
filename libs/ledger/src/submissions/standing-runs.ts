import {
  entryOfKey,
  LadderError,
  sortedStanding,
  standRun,
  withoutNegativeZero,
  type BoardDefinition,
  type EntryState,
  type StandingRun,
  type StoredWindow,
} from '@laddercast/domain';
import type { EntryRow } from '../entries/entry-rows.js';
import type { OverrideWrite, SubmitWrite } from '../entries/ledger-writes.js';
import { entryKeyOf } from './stored-batch.js';
import type { PlacedWrite } from './window-placement.js';

/** What a write does to one entry of its player. */
export interface ChangedEntry {
  window: StoredWindow;
  /** The run whose entry it is; absent: the player has one entry. */
  entryId?: string;
  before: EntryState | null;
  after: EntryState | null;
}

/** What became of a run in a window. */
export interface StoodRun {
  window: StoredWindow;
  stands: boolean;
  displaced: StandingRun | null;
  /** The run, or the player's best where it does not stand. */
  shown: StandingRun;
  changed: ChangedEntry[];
}

/** The entries of players where each run is one, as a batch changes them: the best first. */
export class StandingRuns {
  private readonly changed = new Map<string, readonly StandingRun[]>();

  /** @param stored as they were, by window and player */
  constructor(private readonly stored: ReadonlyMap<string, readonly EntryRow[]>) {}

  of(definition: BoardDefinition, window: StoredWindow, playerId: string): readonly StandingRun[] {
    const key = entryKeyOf(window.uid, playerId);
    const known = this.changed.get(key);
    if (known) return known;
    const runs = (this.stored.get(key) ?? []).map((row) => ({
      entryId: entryOfKey(row.playerId).entryId!,
      state: row.state,
    }));
    const standing = sortedStanding(definition, runs);
    this.changed.set(key, standing);
    return standing;
  }

  /** Puts a run among the entries of its player, in each of its windows. @throws SUBMISSION_ID_REUSED */
  submit({ write, atMs }: PlacedWrite<SubmitWrite>, windows: readonly StoredWindow[], position: number): StoodRun[] {
    const { board, playerId, submissionId: entryId } = write;
    const run: StandingRun = {
      entryId,
      state: {
        score: withoutNegativeZero(write.score),
        columns: write.columns.map(withoutNegativeZero),
        achievedAtMs: atMs,
        metadata: write.metadata,
        version: position,
      },
    };
    const befores = windows.map((window) => this.of(board.definition, window, playerId));
    if (befores.flat().some((one) => one.entryId === entryId)) throw idOfEntry(entryId);
    return windows.map((window, index): StoodRun => {
      const before = befores[index]!;
      const { standing, stands, displaced } = standRun(board.definition, before, run);
      if (!stands) return { window, stands, displaced, shown: before[0]!, changed: [] };
      this.changed.set(entryKeyOf(window.uid, playerId), standing);
      const changed: ChangedEntry[] = [{ window, entryId, before: null, after: run.state }];
      if (displaced) changed.push({ window, entryId: displaced.entryId, before: displaced.state, after: null });
      return { window, stands, displaced, shown: run, changed };
    });
  }

  /** Takes all entries of a player away, and puts an operator's there, unless that is null. */
  override(
    { board, playerId, run }: OverrideWrite,
    windows: readonly StoredWindow[],
    after: EntryState | null,
  ): ChangedEntry[] {
    const entryId = run!.submissionId;
    return windows.flatMap((window): ChangedEntry[] => {
      const standing = this.of(board.definition, window, playerId);
      this.changed.set(entryKeyOf(window.uid, playerId), after === null ? [] : [{ entryId, state: after }]);
      // The same act may come again, when its answer was lost.
      const same = standing.find((one) => one.entryId === entryId);
      const gone = standing.filter((one) => after === null || one !== same);
      return [
        ...gone.map((one) => ({ window, entryId: one.entryId, before: one.state, after: null })),
        ...(after === null ? [] : [{ window, entryId, before: same?.state ?? null, after }]),
      ];
    });
  }
}

/** An entry that an operator set has an id that no submission is remembered by. */
const idOfEntry = (entryId: string): LadderError =>
  new LadderError('SUBMISSION_ID_REUSED', `"${entryId}" names an entry on this board; a new run needs a new id.`);

/** The windows of changed entries, each once. */
export const windowsOf = (changed: readonly { window: StoredWindow }[]): StoredWindow[] => [
  ...new Set(changed.map(({ window }) => window)),
];
