import { withBoardDefaults, type BoardDefinition, type GivenBoard, type RankStyle } from '@laddercast/domain';
import { guildScoreOf, SortedArrayOracle, type OracleValues } from '@laddercast/testing';

const HOUR_MS = 3_600_000;

/** A submission, an operator's act or a trim, as it was accepted; `score` null takes the entry away. */
export interface StormRun {
  id: string;
  kind: 'run' | 'set' | 'override' | 'removal' | 'trim';
  board: string;
  playerId: string;
  score: number | null;
  columns: number[];
  atMs: number;
  windows: string[];
  voided: boolean;
  held: boolean;
  verified: boolean;
  /** As it was submitted. */
  wasHeld: boolean;
  wasVerified: boolean;
}

export interface StormSanction {
  kind: 'ban' | 'shadow' | 'hide';
  boards: string[] | null;
  untilMs: number | null;
}

type Values = Omit<OracleValues, 'playerId'>;

/** A player that left a guild that keeps its part, and when. */
interface Leaving {
  guild: string;
  playerId: string;
  atMs: number;
}

/** Where a player belongs. */
interface Home {
  region: string | null;
  guild: string | null;
}

export interface GuildRow {
  playerId: string;
  score: number;
}

export interface ModelRow extends OracleValues {
  rank: number;
}

/** Every run and act, as they were answered; lists are folded from them whenever somebody looks, as plainly as possible. */
export class StormModel {
  readonly boards = new Map<string, BoardDefinition>();
  readonly runs: StormRun[] = [];
  readonly sanctions = new Map<string, StormSanction>();
  readonly homes = new Map<string, Home>();
  /** Ended windows, by their ids: who belonged where at the end. */
  readonly ended = new Map<string, Map<string, Home>>();
  private readonly leavings: Leaving[] = [];

  constructor(readonly players: readonly string[]) {
    for (const player of players) this.homes.set(player, { region: null, guild: null });
  }

  add(board: string, given: GivenBoard): void {
    this.boards.set(board, withBoardDefaults(given));
  }

  windowsOf(board: string): string[] {
    return [...new Set(this.runs.filter((run) => run.board === board).flatMap(({ windows }) => windows))].sort();
  }

  runsOf(board: string, playerId: string): StormRun[] {
    return this.runs.filter((run) => run.board === board && run.playerId === playerId);
  }

  isBanned(board: string, playerId: string): boolean {
    return this.inForce(board, playerId)?.kind === 'ban';
  }

  isRanked(board: string, playerId: string): boolean {
    const kind = this.inForce(board, playerId)?.kind;
    return kind !== 'ban' && kind !== 'shadow';
  }

  isHidden(board: string, playerId: string): boolean {
    return this.inForce(board, playerId)?.kind === 'hide';
  }

  isShadowed(board: string, playerId: string): boolean {
    return this.inForce(board, playerId)?.kind === 'shadow';
  }

  private inForce(board: string, playerId: string): StormSanction | undefined {
    const sanction = this.sanctions.get(playerId);
    return sanction && (sanction.boards === null || sanction.boards.includes(board)) ? sanction : undefined;
  }

  end(window: string): void {
    this.ended.set(window, new Map([...this.homes].map(([player, home]) => [player, { ...home }])));
  }

  /** Puts a player into a guild, or into none. */
  move(playerId: string, guild: string | null, atMs: number): void {
    const home = this.homes.get(playerId)!;
    if (home.guild === guild) return;
    if (home.guild !== null) this.leavings.push({ guild: home.guild, playerId, atMs });
    home.guild = guild;
    this.returns.push({ guild: guild ?? '', playerId, atMs });
  }

  private readonly returns: Leaving[] = [];

  /** What the player's runs come to in a window, of those that were accepted before a time. */
  entry(board: string, window: string, playerId: string, nowMs: number, beforeMs = Infinity): Values | null {
    let entry: Values | null = null;
    for (const run of this.runsOf(board, playerId)) {
      if (!run.windows.includes(window) || run.voided || run.held || run.atMs >= beforeMs) continue;
      const rolled = window.startsWith('rolling:');
      const isIn = !rolled || hourOf(run.atMs) > hourOf(nowMs) - Number.parseInt(window.slice(8));
      const own = { score: run.score!, columns: run.columns, achievedAtMs: run.atMs };
      if (run.kind !== 'run') entry = isIn && run.score !== null ? own : null;
      else if (isIn) entry = this.after(this.boards.get(board)!, entry, own);
    }
    return entry;
  }

  private after(definition: BoardDefinition, entry: Values | null, run: Values): Values {
    if (entry === null) return run;
    if (definition.operator === 'latest') return run.achievedAtMs >= entry.achievedAtMs ? run : entry;
    if (definition.operator === 'sum') return run.score === 0 ? entry : { ...run, score: entry.score + run.score };
    const better = new SortedArrayOracle(definition);
    const of = (values: Values): OracleValues => ({ ...values, playerId: 'x' });
    return better.compare(of(run), of(entry)) < 0 ? run : entry;
  }

  /** The rows that others see, or a shadowed player, with their ranks among all who are ranked there. */
  list(board: string, window: string, scope: string, style: RankStyle, nowMs: number, viewer?: string): ModelRow[] {
    const ranked = this.ranked(board, window, scope, nowMs, viewer);
    return ranked.entries
      .map((entry, index) => ({ ...entry, rank: ranked.rankAt(index, style) }))
      .filter(({ playerId }) => !this.isHidden(board, playerId));
  }

  ranked(board: string, window: string, scope: string, nowMs: number, viewer?: string): SortedArrayOracle {
    const entries = this.players.flatMap((playerId) => {
      const isRanked = this.isRanked(board, playerId) || (playerId === viewer && this.isShadowed(board, playerId));
      if (!isRanked || !this.isIn(window, scope, playerId)) return [];
      const entry = this.entry(board, window, playerId, nowMs);
      return entry === null ? [] : [{ ...entry, playerId }];
    });
    return SortedArrayOracle.of(this.boards.get(board)!, entries);
  }

  private isIn(window: string, scope: string, playerId: string): boolean {
    const { region, guild } = (this.ended.get(window) ?? this.homes).get(playerId)!;
    return scope === 'global' || scope === `region:${region}` || scope === `guild:${guild}`;
  }

  /** What guilds come to in a window, by their ids. */
  guilds(board: string, window: string, guilds: readonly string[], nowMs: number): GuildRow[] {
    const { guildAggregate, order } = this.boards.get(board)!;
    return guilds.flatMap((guild) => {
      const members = this.ranked(board, window, `guild:${guild}`, nowMs).entries.map(({ score }) => score);
      const kept = guildAggregate.onLeave === 'keep' ? this.keptParts(board, window, guild, nowMs) : [];
      const parts = [...members, ...kept];
      return parts.length === 0 ? [] : [{ playerId: guild, score: guildScoreOf(guildAggregate, order, parts) }];
    });
  }

  /** Of each player that left for good while the window ran: what it had come to by then. */
  private keptParts(board: string, window: string, guild: string, nowMs: number): number[] {
    if (window.startsWith('rolling:')) return [];
    const endMs = this.endsAtMs.get(window) ?? Infinity;
    return this.players.flatMap((playerId) => {
      const isOf = (one: Leaving): boolean => one.guild === guild && one.playerId === playerId && one.atMs < endMs;
      const left = this.leavings.findLast(isOf);
      const isBack = left && this.returns.some((one) => isOf(one) && one.atMs > left.atMs);
      if (!left || isBack || !this.isRanked(board, playerId)) return [];
      const part = this.entry(board, window, playerId, nowMs, left.atMs);
      return part === null ? [] : [part.score];
    });
  }

  readonly endsAtMs = new Map<string, number>();

  /** The same players and runs as if nobody had ever done anything about them; what limits took away stays away. */
  withoutActs(): StormModel {
    const plain = new StormModel(this.players);
    for (const [id, definition] of this.boards) plain.boards.set(id, definition);
    for (const [player, home] of this.homes) plain.homes.set(player, home);
    for (const [window, homes] of this.ended) plain.ended.set(window, homes);
    for (const [window, ms] of this.endsAtMs) plain.endsAtMs.set(window, ms);
    plain.leavings.push(...this.leavings);
    plain.returns.push(...this.returns);
    for (const run of this.runs) {
      if (run.kind === 'override' || run.kind === 'removal') continue;
      // What was accepted above `holdAbove` cannot be held again; a board that counts verified runs takes it back.
      const isHeld = run.wasHeld && (run.held || this.boards.get(run.board)!.counts === 'verified');
      plain.runs.push({ ...run, voided: false, held: isHeld, verified: run.wasVerified });
    }
    return plain;
  }
}

const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS);
