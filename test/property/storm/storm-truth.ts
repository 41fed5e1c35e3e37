import { setTimeout as sleep } from 'node:timers/promises';
import { isOfOperator, type ListedRun } from './storm-acts.js';
import type { StormClient } from './storm-client.js';
import type { StormModel, StormRun } from './storm-model.js';
import { StormQuestions, type Question } from './storm-questions.js';

const TIMES_MAX = 120;
const PAUSE_MS = 500;
const PAGE = 500;
const EDITIONS_MAX = 100;

/** An old edition as it was read first, by player; of those that nobody had hidden. */
type KeptEdition = Map<string, string>;

interface EditionPage {
  entries: { rank: number; playerId: string; score: number; achievedAt: string }[];
  total: number;
}

/** Compares everything that the service shows with what a model folds to. */
export class StormTruth {
  compared = 0;
  nowMs = 0;
  private readonly editions = new Map<string, KeptEdition>();

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
      const all = new StormQuestions(madeOf(given), this.nowMs).all();
      const questions = all.filter((question) => open?.has(nameOf(question)) ?? true);
      wrong = [];
      open = new Set();
      for (const question of questions) {
        const what = await this.ask(question);
        this.compared += 1;
        if (what === null) continue;
        wrong.push(what);
        open.add(nameOf(question));
      }
    }
    if (wrong.length > 0) throw new Error(`${wrong.length} lists are not as folded:\n${wrong.slice(0, 12).join('\n')}`);
  }

  private async ask(question: Question): Promise<string | null> {
    const { path, asks, body: sent, expected, answer } = question;
    const key =
      asks === undefined ? undefined : asks === 'operator' ? this.client.key : this.client.tokens.get(asks.player);
    const { status, body } = await this.client.once(path, { key, ...(sent && { method: 'POST', body: sent }) });
    const found = JSON.stringify(status === 200 ? answer(body as never) : status);
    const wanted = JSON.stringify(expected());
    return found === wanted
      ? null
      : `${nameOf(question)}\n  is    ${found}\n  folds ${wanted}${status === 200 ? '' : JSON.stringify(body)}`;
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

  /** Expects every old edition to say what it said when it was read first, whatever was done since. */
  async expectEditions(model: StormModel): Promise<void> {
    for (const board of model.boards.keys()) {
      for (const window of model.ended.keys()) {
        if (!model.windowsOf(board).includes(window)) continue;
        const path = `/v1/boards/${board}/windows/${window}/editions?limit=${EDITIONS_MAX}`;
        const { editions } = await this.written(path);
        const [last, ...older] = editions.map(({ edition }) => edition).sort((a, b) => b - a);
        if (last === undefined) throw new Error(`${board} has no edition of ${window}`);
        for (const edition of older) await this.expectEdition(model, board, `window=${window}&edition=${edition}`);
      }
    }
  }

  /** The editions of a window that has ended, as soon as one is written: whoever did that may have been killed. */
  private async written(path: string): Promise<{ editions: { edition: number }[] }> {
    for (let times = 0; times < TIMES_MAX; times += 1) {
      const { code } = await this.client.send('GET', path);
      if (code !== 'EDITION_NOT_FOUND') break;
      await sleep(PAUSE_MS);
    }
    return (await this.client.done<{ editions: { edition: number }[] }>('GET', path)).body;
  }

  private async expectEdition(model: StormModel, board: string, query: string): Promise<void> {
    const path = `/v1/boards/${board}/entries?${query}&limit=100`;
    const { body } = await this.client.done<EditionPage>('GET', path);
    const isSeen = ({ playerId }: { playerId: string }): boolean => !model.isHidden(board, playerId);
    const textOf = (row: EditionPage['entries'][number]): string =>
      [body.total, row.rank, row.score, row.achievedAt].join(' ');
    const rows = new Map(body.entries.filter(isSeen).map((row) => [row.playerId, textOf(row)]));
    const kept = this.editions.get(path);
    this.compared += 1;
    if (kept === undefined) this.editions.set(path, rows);
    const differing = [...(kept ?? [])].filter(([player, text]) => rows.has(player) && rows.get(player) !== text);
    const missing = [...(kept?.keys() ?? [])].filter((playerId) => isSeen({ playerId }) && !rows.has(playerId));
    if (differing.length + missing.length > 0)
      throw new Error(`${path}: ${JSON.stringify({ differing, missing, now: [...rows] })}`);
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

const nameOf = ({ path, asks }: Question): string =>
  typeof asks === 'object' ? `${path}, asked by ${asks.player}` : path;

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
