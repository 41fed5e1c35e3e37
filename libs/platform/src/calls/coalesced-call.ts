import { monotonicMs, sleep } from '../clock.js';

/** How long calls gather before the next one is sent: the longer, the more there were last time. */
export interface Gathering {
  eachMs: number;
  mostMs: number;
}

/** One call for all who make it at the same time. It is sent after they came, so no answer is older than its call. */
export class CoalescedCall<Answer> {
  /** The answer for those who call now; it is not sent yet. */
  private gathering: Promise<Answer> | null = null;
  private gathered = 0;
  private underWay: Promise<unknown> | null = null;
  /** When the next call may be sent. */
  private notBeforeMs = -Infinity;

  constructor(
    private readonly question: () => Promise<Answer>,
    private readonly leftToGather: Gathering = { eachMs: 0, mostMs: 0 },
  ) {}

  ask(): Promise<Answer> {
    this.gathered += 1;
    this.gathering ??= this.gather();
    return this.gathering;
  }

  private async gather(): Promise<Answer> {
    await this.underWay;
    const waitMs = this.notBeforeMs - monotonicMs();
    if (waitMs > 0) await sleep(waitMs);
    const { eachMs, mostMs } = this.leftToGather;
    this.notBeforeMs = monotonicMs() + Math.min(mostMs, eachMs * this.gathered);
    this.gathering = null;
    this.gathered = 0;
    const answer = this.question();
    this.underWay = answer.then(
      () => undefined,
      () => undefined,
    );
    return answer;
  }
}
