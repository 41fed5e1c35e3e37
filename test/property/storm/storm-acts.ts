import type { Dice } from '@laddercast/testing';
import { GUILDS, REGIONS } from './storm-boards.js';
import type { Sent, StormClient } from './storm-client.js';
import type { StormModel, StormRun, StormSanction } from './storm-model.js';

const REASON = 'a storm';
const TOTALS = [0.1, 0.2, 0.3, 1e16, -1e16, 7, -3, 0];

interface Receipt {
  outcome: string;
  windows: string[];
  replayed: boolean;
  score: number;
}

interface ActedWindow {
  window: string;
  after: { score: number } | null;
}

interface Flag {
  flagId: string;
  board: string;
  rule: string;
  submissionIds: string[];
  decision: string | null;
}

/** What is said of one run in lists of runs. */
export interface ListedRun {
  submissionId: string;
  playerId: string;
  kind: StormRun['kind'];
  state: 'counted' | 'held' | 'voided';
  score: number | null;
  achievedAt: string;
  windows: string[];
  verified: boolean;
}

/** What a player and its moderators do, each act with what should come of it; one act of a player at a time. */
export class StormActs {
  readonly counts = new Map<string, number>();
  /** When a ban or a shadow was answered, by player; absent: there is none. */
  readonly unrankedSinceMs = new Map<string, number>();
  /** When somebody was last about to be hidden, or to be seen again; Infinity while that is on its way. */
  hidingAtMs = 0;
  nowMs = 0;
  private ids = 0;

  constructor(
    private readonly client: StormClient,
    private readonly model: StormModel,
    /** Each player's own: what happens at once does not change what one of them draws. */
    private readonly diceOf: ReadonlyMap<string, Dice>,
  ) {}

  /** Any act but a move. */
  async act(player: string): Promise<void> {
    const dice = this.diceOf.get(player)!;
    const board = dice.oneOf([...this.model.boards.keys()]);
    const what = dice.next();
    if (what < 0.42) await this.submit(board, player);
    else if (what < 0.47) await this.submitAgain(board, player);
    else if (what < 0.62) await this.voidOrRestore(board, player);
    else if (what < 0.7) await this.verify(board, player);
    else if (what < 0.77) await this.override(board, player);
    else if (what < 0.89) await this.decide(player);
    else if (what < 0.93) await this.lift(player);
    else if (what < 0.96) await this.settle(player);
    else await this.sanction(player);
  }

  private note(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  private expect(isTrue: boolean, what: string): void {
    if (!isTrue) this.client.wrong.push(what);
  }

  private bodies = new Map<string, { body: object; receipt: Receipt }>();

  async submit(board: string, playerId: string): Promise<void> {
    const { model } = this;
    const dice = this.diceOf.get(playerId)!;
    const definition = model.boards.get(board)!;
    const isSum = definition.operator === 'sum';
    const id = `${playerId}-${(this.ids += 1)}`;
    const score = isSum ? dice.oneOf(TOTALS) : dice.below(101);
    const columns = definition.columns.map(() => dice.below(3));
    const isSet = isSum && dice.isUnder(0.15);
    const verified = dice.isUnder(0.15);
    const body = {
      ...{ submissionId: id, playerId, score, metadata: { n: this.ids } },
      ...(columns.length > 0 && { columns: { moves: columns[0] } }),
      ...(isSet && { operator: 'set' }),
      ...(verified && { verified }),
    };
    const sent = await this.client.send<Receipt>('POST', `/v1/boards/${board}/scores`, body);
    if (model.isBanned(board, playerId)) {
      this.note('refused');
      return this.expect(sent.code === 'PLAYER_BANNED', `${id} of a banned player: ${JSON.stringify(sent)}`);
    }
    if (sent.status !== 200) return this.expect(false, `${id} ${JSON.stringify(body)}: ${JSON.stringify(sent)}`);
    const above = definition.integrity?.holdAbove ?? null;
    const isHeld = !verified && (definition.counts === 'verified' || (above !== null && score > above));
    const { outcome, windows, replayed } = sent.body;
    this.note(isHeld ? 'held' : isSet ? 'set' : 'counted');
    this.expect((outcome === 'held') === isHeld, `${id} on ${board} was ${outcome}`);
    this.expect(!replayed || sent.isAgain, `${id} was replayed, and is new`);
    const kind = isSet ? 'set' : 'run';
    const made = { id, kind, board, playerId, score, columns, atMs: this.nowMs, windows } as const;
    model.runs.push({ ...made, voided: false, held: isHeld, verified, wasHeld: isHeld, wasVerified: verified });
    this.bodies.set(id, { body, receipt: sent.body });
  }

  private async submitAgain(board: string, playerId: string): Promise<void> {
    const run = this.oneOf(board, playerId, ({ id }) => this.bodies.has(id));
    if (!run) return;
    const { body, receipt } = this.bodies.get(run.id)!;
    const sent = await this.client.send<Receipt>('POST', `/v1/boards/${board}/scores`, body);
    this.note('sent again');
    const { outcome, score, windows, replayed } = sent.body;
    const isSame = outcome === receipt.outcome && score === receipt.score && windows.join() === receipt.windows.join();
    this.expect(isSame && replayed, `${run.id} again: ${JSON.stringify(sent)}, and first ${JSON.stringify(receipt)}`);
  }

  private oneOf(board: string, player: string, fits: (run: StormRun) => boolean): StormRun | null {
    const runs = this.model.runsOf(board, player).filter((run) => run.kind !== 'trim' && fits(run));
    // Half of the acts are about what came last, so that some meet one another.
    if (runs.length === 0) return null;
    const dice = this.diceOf.get(player)!;
    return dice.isUnder(0.5) ? dice.oneOf(runs.slice(-3)) : dice.oneOf(runs);
  }

  private async voidOrRestore(board: string, player: string): Promise<void> {
    const run = this.oneOf(board, player, () => true);
    if (run) await this.setVoided(run, this.diceOf.get(player)!.isUnder(0.6));
  }

  async setVoided(run: StormRun, voided: boolean): Promise<void> {
    const path = `/v1/boards/${run.board}/submissions/${encodeURIComponent(run.id)}`;
    const why = `?reason=${REASON.replace(' ', '+')}`;
    const sent = voided
      ? await this.client.done<{ outcome: string; windows: ActedWindow[] }>('DELETE', path + why)
      : await this.client.done<{ outcome: string; windows: ActedWindow[] }>('POST', `${path}/restore${why}`);
    const changes = run.voided !== voided;
    run.voided = voided;
    this.note(voided ? 'void' : 'restore');
    const expected = changes ? (voided ? 'voided' : 'restored') : 'unchanged';
    const { outcome } = sent.body;
    this.expect(outcome === expected || sent.isAgain, `${path} voided=${voided}: ${outcome} instead of ${expected}`);
    this.compareWindows(run, sent);
  }

  /** On a board that trims nobody knows here what was trimmed since; what rolls has its own clock. */
  private compareWindows({ board, playerId, id }: StormRun, { body }: Sent<{ windows: ActedWindow[] }>): void {
    if (this.model.boards.get(board)!.limits.entriesMax !== null) return;
    for (const { window, after } of body.windows.filter((one) => !one.window.startsWith('rolling:'))) {
      const entry = this.model.entry(board, window, playerId, this.nowMs);
      const isSame = (after?.score ?? null) === (entry?.score ?? null);
      this.expect(isSame, `${id} of ${playerId} in ${board} ${window}: ${after?.score}, and folded ${entry?.score}`);
    }
  }

  private async verify(board: string, player: string): Promise<void> {
    const run = this.oneOf(board, player, ({ kind }) => kind === 'run' || kind === 'set');
    if (run) await this.setVerified(run, this.diceOf.get(player)!.isUnder(0.7));
  }

  async setVerified(run: StormRun, verified: boolean): Promise<void> {
    const path = `/v1/boards/${run.board}/submissions/${run.id}/verification`;
    const sent = await this.client.done<{ windows: ActedWindow[] }>('PUT', path, { verified, reason: REASON });
    this.note(verified ? 'verified' : 'not verified');
    run.verified = verified;
    run.held = !verified && (run.held || this.model.boards.get(run.board)!.counts === 'verified');
    this.compareWindows(run, sent);
  }

  /** An operator's entry or removal; sent again, it may stand twice, so what stands is read. */
  private async override(board: string, player: string): Promise<void> {
    const dice = this.diceOf.get(player)!;
    const path = `/v1/boards/${board}/players/${player}`;
    const { columns } = this.model.boards.get(board)!;
    const moves = columns.length > 0 && { columns: { moves: dice.below(3) } };
    if (dice.isUnder(0.6)) {
      await this.client.done('PUT', path, { score: dice.below(101), ...moves, reason: REASON });
      this.note('override');
    } else {
      // There may be nothing to take away.
      await this.client.send('DELETE', path);
      this.note('removal');
    }
    const known = new Set(this.model.runsOf(board, player).map(({ id }) => id));
    const { body } = await this.client.done<{ runs: ListedRun[] }>('GET', `${path}/runs?limit=20`);
    const made = body.runs.filter(({ kind, submissionId }) => isOfOperator(kind) && !known.has(submissionId));
    for (const { submissionId, kind, score, achievedAt, windows, ...more } of made.reverse()) {
      const row = (more as unknown as { columns: Record<string, number> }).columns;
      this.model.runs.push({
        ...{ id: submissionId, kind, board, playerId: player, score, windows, atMs: Date.parse(achievedAt) },
        columns: score === null ? [] : columns.map(({ name }) => row[name]!),
        ...{ voided: false, held: false, verified: false, wasHeld: false, wasVerified: false },
      });
    }
  }

  private async sanction(player: string): Promise<void> {
    const dice = this.diceOf.get(player)!;
    const kind = dice.oneOf(['ban', 'ban', 'shadow', 'hide'] as const);
    const boards = dice.oneOf([null, null, ['totals', 'bests'], ['checked', 'capped']]);
    const untilMs = dice.isUnder(0.4) ? this.nowMs + dice.from(1, 120) * 60_000 : null;
    const until = untilMs === null ? null : new Date(untilMs).toISOString();
    const body = { kind, boards, until, reason: REASON };
    this.hidingAtMs = Infinity;
    await this.client.done('PUT', `/v1/admin/players/${player}/sanction`, body);
    this.note(kind);
    this.sanctioned(player, { kind, boards, untilMs });
    this.hidingAtMs = Date.now();
  }

  private sanctioned(player: string, sanction: StormSanction): void {
    const isUnranked = sanction.kind !== 'hide' && sanction.boards === null;
    this.model.sanctions.set(player, sanction);
    if (!isUnranked) this.unrankedSinceMs.delete(player);
    else if (!this.unrankedSinceMs.has(player)) this.unrankedSinceMs.set(player, Date.now());
  }

  async lift(player: string): Promise<void> {
    // Readers must not hold what is shown from now on against the ban.
    this.unrankedSinceMs.delete(player);
    this.hidingAtMs = Infinity;
    await this.client.done('DELETE', `/v1/admin/players/${player}/sanction?reason=over`);
    this.model.sanctions.delete(player);
    this.hidingAtMs = Date.now();
    this.note('lift');
  }

  /** Who moves goes to another region; guilds have turns of their own, at which nobody plays. */
  private async settle(playerId: string): Promise<void> {
    const region = this.diceOf.get(playerId)!.oneOf([...REGIONS, null]);
    await this.client.done('PUT', `/v1/players/${playerId}`, { region });
    this.model.homes.get(playerId)!.region = region;
    this.note('region');
  }

  async move(playerId: string): Promise<void> {
    const from = this.model.homes.get(playerId)!.guild;
    const to = this.diceOf.get(playerId)!.oneOf([...GUILDS, null]);
    if (to !== null) await this.client.done('PUT', `/v1/guilds/${to}/members/${playerId}`);
    else if (from !== null) await this.client.done('DELETE', `/v1/guilds/${from}/members/${playerId}`);
    this.model.move(playerId, to, this.nowMs);
    this.note('guild');
  }

  private async decide(player: string): Promise<void> {
    const dice = this.diceOf.get(player)!;
    const state = dice.oneOf(['open', 'open', 'decided']);
    const { body } = await this.client.done<{ flags: Flag[] }>(
      'GET',
      `/v1/admin/flags?state=${state}&player=${player}`,
    );
    if (body.flags.length === 0) return;
    const flag = dice.oneOf(body.flags);
    const path = `/v1/admin/flags/${flag.flagId}`;
    if (state === 'decided') {
      await this.client.done('POST', path, { decision: 'reopen', reason: REASON });
      return this.note('reopen');
    }
    const decision = dice.oneOf(['accept', 'accept', 'void', 'dismiss', 'dismiss', 'ban'] as const);
    if (decision === 'ban' && dice.isUnder(0.5)) return;
    this.hidingAtMs = Infinity;
    const decided = await this.client.done<Flag>('POST', path, { decision, reason: REASON });
    this.note(decision);
    if (decision === 'ban') this.sanctioned(player, { kind: 'ban', boards: null, untilMs: null });
    this.hidingAtMs = Date.now();
    const runs = this.model.runs.filter(
      ({ board, id }) => board === flag.board && decided.body.submissionIds.includes(id),
    );
    for (const run of runs) follow(run, decision, flag.decision);
  }
}

export const isOfOperator = (kind: StormRun['kind']): boolean => kind === 'override' || kind === 'removal';

/** The table of the contract: what a decision does to a run; `stood` is what the flag was decided before. */
function follow(run: StormRun, decision: string, stood: string | null): void {
  if (stood === 'accept' && decision !== 'accept') run.verified = false;
  if (decision === 'void' || decision === 'ban') {
    run.voided = true;
    return;
  }
  // Somebody voided it by its id, and not by this flag.
  if (run.voided && stood !== 'void' && stood !== 'ban') return;
  run.voided = false;
  run.held = false;
  if (decision === 'accept') run.verified = true;
}
