import { setTimeout as sleep } from 'node:timers/promises';
import { GUILDS, PLAYERS, REGIONS } from './storm-boards.js';
import { isOfOperator, type ListedRun } from './storm-acts.js';
import type { StormClient } from './storm-client.js';
import type { StormModel, StormRun } from './storm-model.js';

const TIMES_MAX = 120;
const PAUSE_MS = 500;
const PAGE = 500;
const STYLES = ['ordinal', 'competition'] as const;

interface Row {
  rank: number;
  playerId: string;
  score: number;
  columns?: Record<string, number>;
  achievedAt: string;
}

interface Page {
  entries: Row[];
  total: number;
  window: { edition?: number; revising?: boolean };
}

/** What is asked, what comes, and what should. */
interface Question {
  path: string;
  expected: () => unknown;
  answer: (body: never) => unknown;
}

/** Compares everything that the service shows with what a model folds to. */
export class StormTruth {
  compared = 0;
  nowMs = 0;

  constructor(
    private readonly client: StormClient,
    /** Goes on with the ledger's clock, so that what waits for it is done. */
    private readonly pass: (ms: number) => Promise<void>,
  ) {}

  /**
   * Resolves once every list is as the model folds, or what is made of the model. What limits take away meanwhile is read anew
   * each time.
   * @throws what was not, after a minute and more
   */
  async expectLists(given: StormModel, madeOf: (model: StormModel) => StormModel = (model) => model): Promise<void> {
    let open: Set<string> | null = null;
    let wrong: string[] = [];
    for (let times = 0; times < TIMES_MAX && (open === null || open.size > 0); times += 1) {
      if (times > 0) await sleep(PAUSE_MS);
      await this.pass(1000);
      await this.expectRuns(given);
      const questions = this.questions(madeOf(given)).filter(({ path }) => open?.has(path) ?? true);
      wrong = [];
      open = new Set();
      for (const question of questions) {
        const what = await this.ask(question);
        this.compared += 1;
        if (what === null) continue;
        wrong.push(what);
        open.add(question.path);
      }
    }
    if (wrong.length > 0) throw new Error(`${wrong.length} lists are not as folded:\n${wrong.slice(0, 12).join('\n')}`);
  }

  private async ask({ path, expected, answer }: Question): Promise<string | null> {
    const { status, body } = await this.client.once(path, { key: undefined });
    const found = JSON.stringify(status === 200 ? answer(body as never) : status);
    const wanted = JSON.stringify(expected());
    return found === wanted
      ? null
      : `${path}\n  is    ${found}\n  folds ${wanted}${status === 200 ? '' : JSON.stringify(body)}`;
  }

  private questions(model: StormModel): Question[] {
    return [...model.boards.keys()].flatMap((board) =>
      model.windowsOf(board).flatMap((window) => {
        const scopes = model.boards.get(board)!.scopes.includes('guild')
          ? ['global', ...REGIONS.map((id) => `region:${id}`), ...GUILDS.map((id) => `guild:${id}`)]
          : ['global'];
        return [
          ...scopes.flatMap((scope) => STYLES.map((style) => this.list(model, board, window, scope, style))),
          ...(scopes.length > 1 ? [this.guilds(model, board, window)] : []),
          ...PLAYERS.slice(0, 2).map((player) => this.player(model, board, window, player)),
          this.rank(model, board, window),
        ];
      }),
    );
  }

  private list(
    model: StormModel,
    board: string,
    window: string,
    scope: string,
    style: (typeof STYLES)[number],
  ): Question {
    const { columns } = model.boards.get(board)!;
    return {
      path: `/v1/boards/${board}/entries?window=${window}&scope=${scope}&rankStyle=${style}&limit=100`,
      expected: () => [
        model.ranked(board, window, scope, this.nowMs).entries.length,
        model
          .list(board, window, scope, style, this.nowMs)
          .map(({ rank, playerId, score, achievedAtMs, columns: own }) => [rank, playerId, score, achievedAtMs, own]),
      ],
      answer: ({ total, entries }: Page) => [
        total,
        entries.map(({ rank, playerId, score, achievedAt, columns: own }) => [
          ...[rank, playerId, score, Date.parse(achievedAt)],
          columns.map(({ name }) => own![name]),
        ]),
      ],
    };
  }

  private guilds(model: StormModel, board: string, window: string): Question {
    const { order } = model.boards.get(board)!;
    const inOrder = (rows: { playerId: string; score: number }[]): unknown =>
      rows
        .map(({ playerId, score }) => [playerId, score] as const)
        .sort((a, b) => (order === 'desc' ? b[1] - a[1] : a[1] - b[1]) || (a[0] < b[0] ? -1 : 1));
    return {
      path: `/v1/boards/${board}/guilds?window=${window}`,
      expected: () => inOrder(model.guilds(board, window, GUILDS, this.nowMs)),
      answer: ({ entries }: Page) => inOrder(entries),
    };
  }

  private player(model: StormModel, board: string, window: string, playerId: string): Question {
    return {
      path: `/v1/boards/${board}/players/${playerId}?window=${window}`,
      expected: () => {
        const found = model.ranked(board, window, 'global', this.nowMs);
        const index = found.indexOf(playerId);
        return index < 0 || model.isHidden(board, playerId)
          ? 404
          : [index + 1, found.entries[index]!.score, found.entries.length];
      },
      answer: ({ entry, total }: { entry: Row; total: number }) => [entry.rank, entry.score, total],
    };
  }

  private rank(model: StormModel, board: string, window: string): Question {
    const score = 50.5;
    return {
      path: `/v1/boards/${board}/rank?window=${window}&score=${score}&rankStyle=competition`,
      expected: () => {
        const found = model.ranked(board, window, 'global', this.nowMs);
        return [found.rankOfValues({ score, columns: [0] }, 'competition'), found.entries.length];
      },
      answer: ({ rank, total }: { rank: number; total: number }) => [rank, total],
    };
  }

  /**
   * Expects every answered run to be there, once, and takes the order of acceptance from the service, with what limits took
   * away: where in that order a trim falls is up to the projector.
   */
  private async expectRuns(model: StormModel): Promise<void> {
    for (const board of model.boards.keys()) {
      const listed = await this.listed(board);
      const known = new Map(model.runs.filter((run) => run.board === board).map((run) => [run.id, run]));
      const runs = listed.map((run) => (run.kind === 'trim' ? trimOf(board, run) : known.get(run.submissionId)!));
      const missing = [...known.values()].filter((run) => run.kind !== 'trim' && !runs.includes(run));
      const differing = listed.filter((run, at) => run.kind !== 'trim' && !isSame(runs[at], run));
      if (missing.length + differing.length > 0)
        throw new Error(`runs of ${board}: missing ${JSON.stringify(missing)}, other ${JSON.stringify(differing)}`);
      const others = model.runs.filter((run) => run.board !== board);
      model.runs.splice(0, model.runs.length, ...others, ...runs);
    }
  }

  /** All runs of a board, the first one first. */
  private async listed(board: string): Promise<ListedRun[]> {
    const all: ListedRun[] = [];
    for (let cursor = ''; ;) {
      const path = `/v1/boards/${board}/runs?limit=${PAGE}${cursor}`;
      const { body } = await this.client.done<{ runs: ListedRun[]; next: string | null }>('GET', path);
      all.push(...body.runs);
      if (body.next === null) return all.reverse();
      cursor = `&cursor=${body.next}`;
    }
  }
}

function isSame(run: StormRun | undefined, listed: ListedRun): boolean {
  if (run === undefined) return false;
  const state = run.voided ? 'voided' : run.held ? 'held' : 'counted';
  const isVerified = isOfOperator(run.kind) || run.verified === listed.verified;
  return state === listed.state && run.kind === listed.kind && run.score === listed.score && isVerified;
}

const trimOf = (board: string, { playerId, achievedAt, windows }: ListedRun): StormRun => ({
  ...{ id: '', kind: 'trim', board, playerId, score: null, columns: [], atMs: Date.parse(achievedAt), windows },
  ...{ voided: false, held: false, verified: false, wasHeld: false, wasVerified: false },
});
