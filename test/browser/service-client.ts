import { setTimeout } from 'node:timers/promises';

const SHOWN_WITHIN_MS = 60_000;

/** The REST calls by which these tests bring about what the page then has to show. */
export class ServiceClient {
  constructor(
    readonly url: string,
    readonly adminKey: string,
  ) {}

  /** @throws with the answer when it is a refusal */
  async call<Body>(method: string, path: string, body?: object): Promise<Body> {
    const response = await fetch(new URL(path, this.url), {
      method,
      headers: { authorization: `Bearer ${this.adminKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text ? JSON.parse(text) : null) as Body;
  }

  async makeBoard(board: string, options: object = {}): Promise<void> {
    await this.call('PUT', `/v1/boards/${board}`, {
      title: `Board ${board}`,
      order: 'desc',
      operator: 'sum',
      windows: ['alltime', 'daily'],
      push: { intervalMs: 100 },
      ...options,
    });
  }

  /** Submits `player → score` in the order given; the answer is sent when it is durable. */
  async submit(board: string, scores: Record<string, number>, options: object = {}): Promise<void> {
    const submissions = Object.entries(scores).map(([playerId, score]) => ({ board, playerId, score, ...options }));
    const { results } = await this.call<{ results: { problem?: object }[] }>('POST', '/v1/scores', { submissions });
    const refused = results.find(({ problem }) => problem);
    if (refused) throw new Error(JSON.stringify(refused));
  }

  /** Waits until the board shows so many entries: what a page opened before would call movement. */
  async untilShown(board: string, entries: number): Promise<void> {
    for (const endsAtMs = Date.now() + SHOWN_WITHIN_MS; Date.now() < endsAtMs;) {
      const { total } = await this.call<{ total: number }>('GET', `/v1/boards/${board}/entries?limit=1`);
      if (total === entries) return;
      await setTimeout(50);
    }
    throw new Error(`The board ${board} did not show ${entries} entries within ${SHOWN_WITHIN_MS} ms.`);
  }
}
