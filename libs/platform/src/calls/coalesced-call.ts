import { monotonicMs, sleep } from '../clock.js';

/** How long those who come next are left to gather: the longer, the more asked the last time. */
export interface Gathering {
  eachMs: number;
  mostMs: number;
}

/** One question for all who ask it at a time; each is answered by what was asked after it came. */
export class CoalescedCall<Answer> {
  /** What those who ask now will be answered: it has not been asked yet. */
  private gathering: Promise<Answer> | null = null;
  private gathered = 0;
  private underWay: Promise<unknown> | null = null;
  /** From when on it is asked again. */
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
