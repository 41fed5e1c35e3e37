import type { Decay } from './decay.js';
import type { Layouts, Sharding } from './layout.js';
import type { PatchFamily } from './patch-order.js';
import type { ScopeSpec } from './scope.js';
import { withIntegrityDefaults, type BoardIntegrity, type GivenIntegrity } from '../integrity/integrity-options.js';
import type { BoardFeed } from '../ratings/board-feed.js';
import type { WindowSpec } from '../time/window.js';

export type SortOrder = 'asc' | 'desc';
export type Operator = 'best' | 'latest' | 'sum';
/** What a submission to a sum board does to the total: adds to it, or is it from then on. */
export const SUBMISSION_OPERATORS = ['sum', 'set'] as const;
export type SubmissionOperator = (typeof SUBMISSION_OPERATORS)[number];
export const TIEBREAKS = ['earliest', 'latest', 'none'] as const;
export type Tiebreak = (typeof TIEBREAKS)[number];
/** ordinal: 1234; competition: 1224; dense: 1223. The latter two count score and columns, not the tie-break. */
export const RANK_STYLES = ['ordinal', 'competition', 'dense'] as const;
export type RankStyle = (typeof RANK_STYLES)[number];

export interface SortColumn {
  name: string;
  order: SortOrder;
}

/** What a guild's entry is made of: its members' scores. */
export interface GuildAggregate {
  /** `top`: the sum of the `k` best. */
  kind: 'sum' | 'average' | 'top';
  /** Only with `top`. */
  k: number | null;
  /** What happens in running windows to the scores of a member who leaves. */
  onLeave: 'keep' | 'takeAway';
}

/** What decides the order of a board's entries; it never changes for one `boardUid`. */
export interface BoardOrdering {
  order: SortOrder;
  operator: Operator;
  tiebreak: Tiebreak;
  columns: SortColumn[];
}

/** A board as its operator defined it, with every default filled in. Times are in the unit of their names. */
export interface BoardDefinition extends BoardOrdering {
  title: string | null;
  rankStyle: RankStyle;
  windows: WindowSpec[];
  /** IANA name of the zone whose days, weeks and months the windows follow. */
  timeZone: string;
  /** `global` is always among them. */
  scopes: ScopeSpec[];
  sharding: Sharding;
  /** Whether dense ranks can be read; a `rankStyle` of dense asks for it too. */
  dense: boolean;
  limits: BoardLimits;
  graceSeconds: number;
  keepEndedSeconds: number;
  /** `keepEveryMinutes`: how often the top is kept as it stands; null: never. */
  snapshot: { top: number; keepEveryMinutes: number | null; keepDays: number };
  /** How long final standings are kept after their window closed; null: for ever. */
  retention: { standingsDays: number | null };
  push: { intervalMs: number; top: number };
  /** How scores and ranks are recorded over time; null: they are not. */
  history: BoardHistory | null;
  /** Whether rows say how many places a player moved since yesterday. */
  change: boolean;
  format: { kind: 'number' | 'time' | 'currency'; decimals: number; unit: string | null };
  guildAggregate: GuildAggregate;
  submitters: 'servers' | 'players';
  /** Of sum boards: what submissions may say; null on others. */
  submissionOperators: SubmissionOperator[] | null;
  clientTime: boolean;
  /** What is examined after runs were accepted; null: nothing. */
  integrity: BoardIntegrity | null;
  visibility: 'public' | 'private';
  /** How long each run is kept beside the entries, so that it can be voided; null: runs are not kept. */
  runs: { keepDays: number } | null;
  /** Whether a player has one entry in a window, or one for each of its best runs. */
  entriesPer: 'player' | 'run';
  /** How many of a player's runs stand in a window; null: the player has one entry. */
  entriesPerPlayerMax: number | null;
  /** Who sees the proof of a run, beside its player. */
  proof: 'moderators' | 'everyone';
  /** `verified`: a run is held until it is verified. */
  counts: 'all' | 'verified';
  /** How runs of older patches are taxed; null: submissions have no patch. */
  decay: Decay | null;
}

/**
 * A board that exists: `uid` is drawn anew at each creation and reset, `revision` grows with every change of the
 * definition and of the windows, `definitionRevision` is the one at which the definition was put last.
 */
export interface Board {
  uid: number;
  id: string;
  revision: number;
  definitionRevision: number;
  definition: BoardDefinition;
  /** For window specs that were added later, by {@link nameOfSpec}: from when on they have windows, Unix ms. */
  windowsSinceMs: Record<string, number>;
  layouts: Layouts;
  /** Absent: its entries come from submissions. */
  feed?: BoardFeed;
  /** The template that it is of; absent: of none. */
  template?: string;
  /** The log position from which runs are kept; absent: they are not. */
  runsFrom?: number;
  /** The family of patches by which its runs are taxed; absent: they are not. */
  patches?: PatchFamily;
}

/** How often a player's score and rank are recorded, and for how long. */
export interface BoardHistory {
  /** One point for each stretch of so many minutes; the stretches are counted from 1970. */
  everyMinutes: number;
  keepDays: number;
}

/** The limits of a board; null: no limit. */
export interface BoardLimits {
  scoreMin: number | null;
  scoreMax: number | null;
  /** How many entries a window keeps: the best. */
  entriesMax: number | null;
  /** How many runs of a player count in a window. */
  attemptsMax: number | null;
  /** How long an entry stays when no run renews it. */
  entryLifetimeSeconds: number | null;
  /** By the name of a column. */
  columns: Record<string, ColumnBounds>;
}

/** What a column may be; null: no bound. */
export interface ColumnBounds {
  min: number | null;
  max: number | null;
}

/** How long runs are kept where `runs` does not say. */
export const RUNS_KEEP_DAYS = 90;
/** How many runs of a player stand where `entriesPerPlayerMax` does not say, and the most that it may say. */
export const ENTRIES_PER_PLAYER = 10;
export const ENTRIES_PER_PLAYER_MAX = 100;
export const COLUMNS_MAX = 4;
export const SHARDS_MAX = 64;
/** The most rows that a board's live snapshot holds, and the longest top channel. */
export const PUSH_TOP_MAX = 100;

/** A definition as an operator gives it; `order` and `operator` are the only fields without a default. */
export type GivenBoard = Pick<BoardDefinition, 'order' | 'operator'> & {
  [Field in Exclude<keyof BoardDefinition, 'sharding' | 'integrity' | 'decay'>]?: BoardDefinition[Field] extends
    unknown[] | string | number | boolean | null
    ? BoardDefinition[Field]
    : Partial<BoardDefinition[Field]>;
} & { sharding?: Sharding | { by?: 'hash'; count: number }; integrity?: GivenIntegrity | null; decay?: Decay | null };

const withOpenBounds = (columns: Record<string, Partial<ColumnBounds>>): Record<string, ColumnBounds> =>
  Object.fromEntries(Object.entries(columns).map(([name, bounds]) => [name, { min: null, max: null, ...bounds }]));

/** A definition with all defaults. */
export function withBoardDefaults(given: GivenBoard): BoardDefinition {
  return {
    title: given.title ?? null,
    order: given.order,
    operator: given.operator,
    tiebreak: given.tiebreak ?? 'earliest',
    columns: given.columns ?? [],
    rankStyle: given.rankStyle ?? 'ordinal',
    windows: given.windows ?? ['alltime'],
    timeZone: given.timeZone ?? 'UTC',
    scopes: given.scopes ?? ['global'],
    sharding: given.sharding?.by === 'range' ? given.sharding : { by: 'hash', count: 1, ...given.sharding },
    dense: given.dense ?? false,
    limits: {
      scoreMin: null,
      scoreMax: null,
      entriesMax: null,
      attemptsMax: null,
      entryLifetimeSeconds: null,
      ...given.limits,
      columns: withOpenBounds(given.limits?.columns ?? {}),
    },
    graceSeconds: given.graceSeconds ?? 300,
    keepEndedSeconds: given.keepEndedSeconds ?? 90_000,
    snapshot: { top: 1000, keepEveryMinutes: null, keepDays: 30, ...given.snapshot },
    retention: { standingsDays: null, ...given.retention },
    push: { intervalMs: 1000, top: 100, ...given.push },
    history: given.history ? { everyMinutes: 60, keepDays: 90, ...given.history } : null,
    change: given.change ?? false,
    format: { kind: 'number', decimals: 0, unit: null, ...given.format },
    guildAggregate: { kind: 'sum', k: null, onLeave: 'takeAway', ...given.guildAggregate },
    submitters: given.submitters ?? 'servers',
    submissionOperators: given.submissionOperators ?? (given.operator === 'sum' ? ['sum'] : null),
    clientTime: given.clientTime ?? false,
    integrity: given.integrity ? withIntegrityDefaults(given.integrity) : null,
    visibility: given.visibility ?? 'public',
    runs: given.runs ? { keepDays: RUNS_KEEP_DAYS, ...given.runs } : null,
    entriesPer: given.entriesPer ?? 'player',
    entriesPerPlayerMax: given.entriesPer === 'run' ? (given.entriesPerPlayerMax ?? ENTRIES_PER_PLAYER) : null,
    proof: given.proof ?? 'moderators',
    counts: given.counts ?? 'all',
    decay: given.decay ?? null,
  };
}
