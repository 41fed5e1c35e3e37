import { setTimeout as sleep } from 'node:timers/promises';
import { SEASON, type FaultBoard } from './boards.js';
import { call, type Answer } from './call.js';
import type { Chance } from './chance.js';
import type { FaultInstallation } from './installation.js';
import type { KnownRuns, ShownList, ShownRow } from './known-runs.js';
import { Waits } from './waits.js';

/**
 * What is read: a list near its top, which comes from the snapshot too; pages that no snapshot has; a player's exact
 * rank with those around it, counted over the shards; an estimated rank; a window that ended.
 */
export const READS = ['list', 'deep', 'player', 'estimated', 'ended'] as const;
export type Read = (typeof READS)[number];

/** What one kind of read was answered with, since it was last asked. */
export interface ReadCounts {
  ok: number;
  refused: number;
  /** The codes that were given for it. */
  codes: Set<string>;
  /** No answer came: the process was not there, or did not answer in time. */
  unanswered: number;
  /** Of those that were answered: how many were as of a moment before they were asked for, as a snapshot is. */
  before: number;
  /** Of those that were answered: the oldest that one was, in milliseconds. */
  oldestMs: number;
  /** The longest wait of any, those without an answer included; known once they are taken. */
  slowestMs: number;
}

export interface ReadersOptions {
  boards: readonly FaultBoard[];
  players: number;
  known: KnownRuns;
  chance: Chance;
  /** Where they ask; default: every api process. */
  urls?: readonly string[];
}

const EVERY_MS = 100;
/** What the snapshots of the boards do not hold. */
const DEEP_OFFSET = 100;

/** The problem of a player without an entry. */
interface NoEntry {
  code?: string;
  total?: number;
  /** Where the total is estimated. */
  errorBound?: number;
}

interface ShownAnswer {
  window: { id: string };
  total: number;
  boardVersion: number;
  asOf: string;
  accuracy?: string;
  errorBound?: number;
  entries?: ShownRow[];
  neighbours?: ShownRow[];
}

/** Readers of every board over every api, who judge each answer by what was sent and what was shown before. */
export class Readers {
  /** What no reader should ever see. */
  readonly wrong: string[] = [];
  /** Over the whole time. */
  readonly all = newCounts();
  private counts = newCounts();
  private readonly waits = new Map(READS.map((kind) => [kind, new Waits()]));
  private readonly versions = new Map<string, { version: number; total: number; asOfMs: number }>();
  private readonly reading: Promise<void>[];
  private isStopping = false;

  private constructor(
    private readonly installation: FaultInstallation,
    private readonly options: ReadersOptions,
  ) {
    const { boards, chance, urls = installation.apis.map(({ url }) => url) } = options;
    this.reading = urls.flatMap((url, at) =>
      boards.map((board, of) => this.read(url, board, chance.fork(at * boards.length + of))),
    );
  }

  static start(installation: FaultInstallation, options: ReadersOptions): Readers {
    return new Readers(installation, options);
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.reading);
  }

  /** How many reads were answered, and how many refused, over all kinds and the whole time. */
  sum(): { reads: number; refused: number } {
    const all = Object.values(this.all);
    const over = (count: 'ok' | 'refused'): number => all.reduce((sum, counts) => sum + counts[count], 0);
    return { reads: over('ok'), refused: over('refused') };
  }

  /** What was read since it was last taken. */
  get untaken(): Record<Read, ReadCounts> {
    return this.counts;
  }

  /** What was read since the last time that this was asked. */
  take(): Record<Read, ReadCounts> {
    const taken = this.counts;
    this.counts = newCounts();
    for (const [kind, waits] of this.waits) {
      taken[kind].slowestMs = waits.longestMs;
      waits.restart();
    }
    return taken;
  }

  private async read(url: string, board: FaultBoard, chance: Chance): Promise<void> {
    const others: Read[] = ['deep', 'estimated', ...(board === SEASON.board ? (['ended'] as const) : [])];
    for (let turn = chance.below(others.length); !this.isStopping; turn += 1) {
      for (const kind of ['list', 'player', others[turn % others.length]!] as const) {
        const playerId = `p${chance.below(this.options.players)}`;
        await this.ask(kind, `${url}/v1/boards/${board}`, board, playerId);
      }
      await sleep(EVERY_MS);
    }
  }

  private async ask(kind: Read, list: string, board: FaultBoard, playerId: string): Promise<void> {
    const path = {
      list: 'entries?limit=100',
      deep: `entries?offset=${DEEP_OFFSET}&limit=50`,
      player: `players/${playerId}?around=3`,
      estimated: `players/${playerId}?accuracy=estimated`,
      ended: `entries?window=${SEASON.id}&limit=500`,
    }[kind];
    const askedAtMs = Date.now();
    const asked = call(`${list}/${path}`, { key: this.installation.adminKey });
    const answer = await this.waits.get(kind)!.of(asked);
    const name = `${kind} at ${list}`;
    const wrong = this.judge(kind, board, playerId, answer, askedAtMs);
    // The total of an estimate counts the player who is asked for, whom its sketch may not hold yet.
    if (answer.status === 200 && kind !== 'estimated') wrong.push(...this.wentBack(name, answer.body as ShownAnswer));
    this.wrong.push(...wrong.map((what) => `${name}: ${what}`));
  }

  private judge(kind: Read, board: FaultBoard, playerId: string, answer: Answer, askedAtMs: number): string[] {
    const { status, headers, body } = answer;
    const counts = [this.counts[kind], this.all[kind]];
    if (status === 200) {
      const shown = body as ShownAnswer;
      const asOfMs = Date.parse(shown.asOf);
      for (const one of counts) {
        one.ok += 1;
        if (asOfMs < askedAtMs) one.before += 1;
        one.oldestMs = Math.max(one.oldestMs, Date.now() - asOfMs);
      }
      return this.options.known.judge(shownList(board, shown, Math.min(askedAtMs, asOfMs)));
    }
    if (status === 0) for (const one of counts) one.unanswered += 1;
    else if (status === 503 && headers['retry-after'] !== undefined) {
      for (const one of counts) {
        one.refused += 1;
        one.codes.add(String((body as { code?: string }).code));
      }
    } else if (status === 404) return this.withoutEntry(kind, board, playerId, body as NoEntry, askedAtMs);
    else return [`${status} ${JSON.stringify(body)}`];
    return [];
  }

  private withoutEntry(kind: Read, board: FaultBoard, playerId: string, problem: NoEntry, askedAtMs: number): string[] {
    // An estimate is as of a moment ago, and does not say of which.
    if (kind === 'estimated' && problem.code === 'ENTRY_NOT_FOUND') return [];
    // Nobody has played in it yet.
    if (kind === 'ended' && problem.code === 'WINDOW_NOT_FOUND') return [];
    const { total, errorBound } = problem;
    if (kind !== 'player' || total === undefined) return [`404 ${JSON.stringify(problem)}`];
    const wrong = this.options.known.miscounted({
      board,
      windowId: 'alltime',
      total,
      notBeforeMs: askedAtMs,
      ...(errorBound && { errorBound }),
    });
    if (this.options.known.isOn(board, 'alltime', playerId, askedAtMs)) wrong.push(`${playerId} has no entry any more`);
    return wrong;
  }

  /**
   * Nobody leaves these boards, so a total that falls is a part of a board, and a version never falls at all; except in
   * the last snapshot that is shown while the shards cannot be asked, and which says that it is older. An estimate is as
   * near as it says, and has a version of its own.
   */
  private wentBack(name: string, answer: ShownAnswer): string[] {
    const { boardVersion: version, total, asOf, accuracy, errorBound = 0 } = answer;
    const asOfMs = Date.parse(asOf);
    const before = this.versions.get(name);
    if (before && asOfMs < before.asOfMs) return [];
    const most = total + errorBound;
    const wrong = before && most < before.total ? [`at most ${most} after ${before.total}`] : [];
    if (accuracy === 'estimated') return wrong;
    this.versions.set(name, { version, total, asOfMs });
    return before && version < before.version ? [...wrong, `version ${version} after ${before.version}`] : wrong;
  }
}

const shownList = (board: FaultBoard, answer: ShownAnswer, notBeforeMs: number): ShownList => ({
  board,
  windowId: answer.window.id,
  total: answer.total,
  rows: answer.entries ?? answer.neighbours ?? [],
  notBeforeMs,
  errorBound: answer.errorBound ?? 0,
  accuracy: answer.accuracy,
});

const newCounts = (): Record<Read, ReadCounts> =>
  Object.fromEntries(
    READS.map((kind) => [
      kind,
      { ok: 0, refused: 0, codes: new Set(), unanswered: 0, before: 0, oldestMs: 0, slowestMs: 0 },
    ]),
  ) as unknown as Record<Read, ReadCounts>;
