import { setTimeout as sleep } from 'node:timers/promises';
import { call, type Answer } from '../../faults/call.js';
import type { FaultInstallation } from '../../faults/installation.js';

const TRIED_FOR_MS = 90_000;
const PAUSE_MS = 100;
const ANSWER_WITHIN_MS = 10_000;

/** The last answer, and whether one before it was lost or put off: the act may have been done then. */
export interface Sent<Body> {
  status: number;
  body: Body;
  code: string | undefined;
  isAgain: boolean;
}

/** An operator that sends again what was not answered, or not now, as the contract says. */
export class StormClient {
  /** What nobody should ever see. */
  readonly wrong: string[] = [];
  /** How often something was sent again. */
  again = 0;

  constructor(
    private readonly installation: FaultInstallation,
    /** A token of each player, by its id. */
    readonly tokens: ReadonlyMap<string, string>,
    readonly key: string = installation.adminKey,
  ) {}

  /** One answer, as it came; readers take it so. */
  once(path: string, options: { method?: string; body?: unknown; key?: string | undefined } = {}): Promise<Answer> {
    const given = { timeoutMs: ANSWER_WITHIN_MS, ...('key' in options ? {} : { key: this.key }), ...options };
    return call(this.installation.apis[0]!.url + path, given as Parameters<typeof call>[1]);
  }

  async send<Body = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Sent<Body>> {
    const endsAtMs = Date.now() + TRIED_FOR_MS;
    for (let isAgain = false; ; isAgain = true) {
      const answer = await this.once(path, { method, body });
      const isLost = answer.status === 0 || answer.status === 503 || answer.status === 429;
      if (!isLost) {
        const code = (answer.body as { code?: string } | null)?.code;
        if (answer.status >= 500) this.wrong.push(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
        return { status: answer.status, body: answer.body as Body, code, isAgain };
      }
      if (Date.now() > endsAtMs) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
      this.again += 1;
      await sleep(PAUSE_MS);
    }
  }

  /** As {@link send}, where nothing but success is right. */
  async done<Body = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Sent<Body>> {
    const sent = await this.send<Body>(method, path, body);
    if (sent.status >= 300)
      throw new Error(`${method} ${path} ${JSON.stringify(body)}: ${sent.status} ${JSON.stringify(sent.body)}`);
    return sent;
  }
}
