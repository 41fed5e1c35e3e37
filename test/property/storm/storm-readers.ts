import { setTimeout as sleep } from 'node:timers/promises';
import type { Dice } from '@laddercast/testing';
import { GUILDS, PLAYERS, REGIONS } from './storm-boards.js';
import type { StormActs } from './storm-acts.js';
import type { StormClient } from './storm-client.js';
import type { StormModel } from './storm-model.js';
import type { StormWeather } from './storm-weather.js';

const PAUSE_MS = 25;
const WRONG_MAX = 50;
/** The contract says one second; a machine that restarts processes beside it is slower. */
const UNRANKED_WITHIN_MS = 5000;
/** Of a row that is left out or shown again: an api hears of it through a projector, which may be killed in between. */
const SEEN_AGAIN_WITHIN_MS = 20_000;

interface Row {
  rank: number;
  playerId: string;
  score: number;
}

interface Page {
  entries: Row[];
  total: number;
  boardVersion?: number;
  accuracy?: string;
  window: { id: string };
}

interface Asked {
  board: string;
  window: string;
  scope: string;
  sinceMs: number;
  hidden: boolean;
  life: number;
}

/** Reads of every kind that go on all through a storm: each answer is one that may be, or says that there is none now. */
export class StormReaders {
  readonly statuses = new Map<number, number>();
  private readonly versions = new Map<string, number>();
  private readonly readers: Promise<void>[] = [];
  private isOver = false;

  constructor(
    private readonly client: StormClient,
    private readonly model: StormModel,
    private readonly acts: StormActs,
    private readonly weather: StormWeather,
  ) {}

  begin(...dice: Dice[]): void {
    this.isOver = false;
    this.readers.push(...dice.map((own) => this.read(own)));
  }

  async end(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.readers.splice(0));
  }

  private async read(dice: Dice): Promise<void> {
    while (!this.isOver) {
      await sleep(PAUSE_MS);
      const board = dice.oneOf([...this.model.boards.keys()]);
      const windows = this.model.windowsOf(board);
      if (windows.length === 0) continue;
      const window = dice.isUnder(0.5) ? 'alltime' : dice.oneOf(windows);
      const places = [...REGIONS.map((id) => `region:${id}`), ...GUILDS.map((id) => `guild:${id}`)];
      const isRegional = this.model.boards.get(board)!.scopes.includes('guild');
      const scope = isRegional && dice.isUnder(0.5) ? dice.oneOf(places) : 'global';
      const hidden = PLAYERS.some((player) => this.model.isHidden(board, player));
      const asked = { board, window, scope, hidden, sinceMs: Date.now(), life: this.weather.apiLives };
      const kind = dice.next();
      if (kind < 0.6) await this.page(asked, dice);
      else if (kind < 0.75) await this.player(asked, dice);
      else if (kind < 0.9) await this.rank(asked, dice);
      else await this.guilds(asked);
    }
  }

  private async get<Body>(path: string): Promise<Body | null> {
    const { status, body } = await this.client.once(path, { key: undefined });
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (status === 200) return body as Body;
    const { code } = (body ?? {}) as { code?: string };
    // Nothing of it is there, or not now.
    const isFine = status === 0 || status === 503 || (status === 404 && code !== undefined);
    if (!isFine) this.wrong(`${path}: ${status} ${JSON.stringify(body)}`);
    return null;
  }

  private async page(asked: Asked, dice: Dice): Promise<void> {
    const { board, window, scope } = asked;
    const style = dice.oneOf(['ordinal', 'competition']);
    const path = `/v1/boards/${board}/entries?window=${window}&scope=${scope}&rankStyle=${style}&limit=100`;
    const name = `${board} ${window} ${scope} ${style} of api ${asked.life}`;
    const known = this.versions.get(name) ?? 0;
    const page = await this.get<Page>(path);
    if (page === null) return;
    const { entries, total, boardVersion, accuracy } = page;
    const where = `${path} (${JSON.stringify(entries.map(({ rank, playerId, score }) => [rank, playerId, score]))})`;
    if (new Set(entries.map(({ playerId }) => playerId)).size < entries.length) this.wrong(`a player twice: ${where}`);
    this.unranked(asked, entries, where);
    const ascending = this.model.boards.get(board)!.order === 'asc';
    const isSorted = entries.every(
      ({ score }, at) => at === 0 || !(ascending ? score < entries[at - 1]!.score : score > entries[at - 1]!.score),
    );
    if (!isSorted) this.wrong(`out of order: ${where}`);
    const isHidden = asked.hidden || PLAYERS.some((player) => this.model.isHidden(board, player));
    // Of an ended window the row of a sanctioned player is left out until its next edition.
    if (style === 'ordinal' && !isHidden && !this.wasHidden() && !this.model.ended.has(window)) {
      const isGapless = entries.every(({ rank }, at) => rank === at + 1) && total === entries.length;
      if (!isGapless && accuracy !== 'estimated') this.wrong(`total ${total}, with gaps: ${where}`);
    }
    // Versions of windows that begin and end reckon with clocks that agree, and the ledger's is days ahead here.
    const isCompared = window === 'alltime' && accuracy !== 'estimated' && asked.life === this.weather.apiLives;
    if (boardVersion === undefined || !isCompared) return;
    if (boardVersion < known) this.wrong(`${name}: version ${boardVersion} after ${known}: ${where}`);
    this.versions.set(name, Math.max(boardVersion, this.versions.get(name) ?? 0));
  }

  /** Rows of a player that was hidden a moment ago may still be left out. */
  private wasHidden(): boolean {
    return Date.now() - this.acts.hidingAtMs < SEEN_AGAIN_WITHIN_MS;
  }

  /** Who was taken out of the ranks is in none of them. */
  private unranked({ sinceMs, window }: Asked, rows: readonly Row[], where: string): void {
    // Standings that are written follow with their next edition.
    if (this.model.ended.has(window)) return;
    for (const { playerId } of rows) {
      const since = this.acts.unrankedSinceMs.get(playerId);
      if (since === undefined) continue;
      const ms = sinceMs - Math.max(since, this.weather.upSinceMs);
      if (ms > UNRANKED_WITHIN_MS) this.wrong(`${playerId} is ranked ${ms} ms after it was taken out: ${where}`);
    }
  }

  private async player(asked: Asked, dice: Dice): Promise<void> {
    const { board, window, scope } = asked;
    const accuracy = dice.oneOf(['exact', 'estimated']);
    const playerId = dice.oneOf(PLAYERS);
    const path = `/v1/boards/${board}/players/${playerId}?window=${window}&scope=${scope}&accuracy=${accuracy}`;
    const answer = await this.get<{ entry: Row; total: number; neighbours: Row[] }>(path);
    if (answer === null) return;
    const { entry, total, neighbours } = answer;
    if (accuracy === 'exact') {
      if (entry.rank > total) this.wrong(`rank ${entry.rank} of ${total}: ${path}`);
      this.unranked(asked, [entry, ...(neighbours ?? [])], path);
    }
  }

  private async rank({ board, window, scope }: Asked, dice: Dice): Promise<void> {
    const path = `/v1/boards/${board}/rank?window=${window}&scope=${scope}&score=${dice.below(101)}`;
    const answer = await this.get<{ rank: number; total: number }>(path);
    if (answer && answer.rank > answer.total + 1) this.wrong(`${path}: ${JSON.stringify(answer)}`);
  }

  private async guilds({ board, window }: Asked): Promise<void> {
    if (!this.model.boards.get(board)!.scopes.includes('guild')) return;
    const answer = await this.get<Page>(`/v1/boards/${board}/guilds?window=${window}`);
    const names = answer?.entries.map(({ playerId }) => playerId) ?? [];
    const isOnce = new Set(names).size === names.length && names.every((name) => GUILDS.includes(name));
    if (!isOnce) this.wrong(`guilds of ${board} ${window}: ${names.join()}`);
  }

  private wrong(what: string): void {
    if (this.client.wrong.length < WRONG_MAX) this.client.wrong.push(what);
  }
}
