import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultBoard } from './boards.js';
import { call, type Answer } from './call.js';
import type { FaultInstallation } from './installation.js';

/** What one kind of read was answered with, since it was last asked. */
export interface ReadCounts {
  ok: number;
  refused: number;
  /** Of those that were answered: the oldest that one was, in milliseconds. */
  oldestMs: number;
}

interface ListAnswer {
  boardVersion: number;
  total: number;
  asOf: string;
  accuracy?: string;
  errorBound?: number;
}

const EVERY_MS = 100;

/** Readers of every board over every api, who watch that nothing is shown that the board never had. */
export class Readers {
  /** What no reader should ever see. */
  readonly wrong: string[] = [];
  private readonly counts = { list: newCounts(), player: newCounts() };
  private readonly versions = new Map<string, { version: number; total: number; asOfMs: number }>();
  private readonly reading: Promise<void>[];
  private isStopping = false;

  private constructor(
    private readonly installation: FaultInstallation,
    boards: readonly FaultBoard[],
  ) {
    this.reading = installation.apis.flatMap(({ url }) => boards.map((board) => this.read(url, board)));
  }

  static start(installation: FaultInstallation, boards: readonly FaultBoard[]): Readers {
    return new Readers(installation, boards);
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.reading);
  }

  /** What was read since the last time that this was asked: lists come from the snapshot too, players only from the shards. */
  take(): { list: ReadCounts; player: ReadCounts } {
    const taken = { ...this.counts };
    this.counts.list = newCounts();
    this.counts.player = newCounts();
    return taken;
  }

  private async read(url: string, board: FaultBoard): Promise<void> {
    while (!this.isStopping) {
      const list = await this.ask(`${url}/v1/boards/${board}/entries?limit=100`, this.counts.list);
      if (list) this.compare(`${board} at ${url}`, list);
      await this.ask(`${url}/v1/boards/${board}/players/p1?fallback=last`, this.counts.player);
      await sleep(EVERY_MS);
    }
  }

  private async ask(url: string, counts: ReadCounts): Promise<Answer | null> {
    const answer = await call(url, { key: this.installation.adminKey });
    const { status, headers, body } = answer;
    if (status === 200) {
      counts.ok += 1;
      const ageMs = Date.now() - Date.parse((body as { asOf: string }).asOf);
      counts.oldestMs = Math.max(counts.oldestMs, ageMs);
      return answer;
    }
    if (status === 503 && headers['retry-after'] !== undefined) counts.refused += 1;
    else if (status !== 0) this.wrong.push(`${url}: ${status} ${JSON.stringify(body)}`);
    return null;
  }

  /**
   * Nobody leaves these boards, so a total that falls is a part of a board, and a version never falls at all; except in
   * the last snapshot that is shown while the shards cannot be asked, and which says that it is older. An estimate is as
   * near as it says, and has a version of its own.
   */
  private compare(name: string, { body }: Answer): void {
    const { boardVersion: version, total, asOf, accuracy, errorBound = 0 } = body as ListAnswer;
    const asOfMs = Date.parse(asOf);
    const before = this.versions.get(name);
    if (before && asOfMs < before.asOfMs) return;
    const isEstimated = accuracy === 'estimated';
    const most = isEstimated ? total + errorBound : total;
    if (before && most < before.total) this.wrong.push(`${name}: at most ${most} after ${before.total}`);
    if (isEstimated) return;
    if (before && version < before.version) this.wrong.push(`${name}: version ${version} after ${before.version}`);
    this.versions.set(name, { version, total, asOfMs });
  }
}

const newCounts = (): ReadCounts => ({ ok: 0, refused: 0, oldestMs: 0 });
