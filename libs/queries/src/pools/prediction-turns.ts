import { LadderError, type Steps } from '@laddercast/domain';
import { monotonicMs } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';

/** How long a prediction holds the process before all else goes on; its own steps are shorter. */
const TURN_MS = 4;
/** The most predictions that are under way: the longest takes some tenths of a second by itself. */
const UNDER_WAY_MAX = 16;

interface Work {
  steps: Steps<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Computes predictions in turns of some milliseconds, so that neither requests nor each other wait for a long one. */
@Injectable()
export class PredictionTurns {
  private readonly underWay: Work[] = [];

  /** @throws OVERLOADED when too many are under way, and what the steps throw */
  async run<Result>(steps: Steps<Result>): Promise<Result> {
    if (this.underWay.length >= UNDER_WAY_MAX) {
      const detail = `${UNDER_WAY_MAX} predictions are being computed already; send it again shortly.`;
      throw new LadderError('OVERLOADED', detail, { retryAfterSeconds: 1 });
    }
    return new Promise<Result>((resolve, reject) => {
      this.underWay.push({ steps, resolve: (result) => resolve(result as Result), reject });
      if (this.underWay.length === 1) setImmediate(() => this.turn());
    });
  }

  private turn(): void {
    const work = this.underWay.shift()!;
    try {
      const untilMs = monotonicMs() + TURN_MS;
      let step = work.steps.next();
      while (!step.done && monotonicMs() < untilMs) step = work.steps.next();
      if (step.done) work.resolve(step.value);
      else this.underWay.push(work);
    } catch (error) {
      work.reject(error);
    }
    if (this.underWay.length > 0) setImmediate(() => this.turn());
  }
}
