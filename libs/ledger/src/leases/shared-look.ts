import { sleep, untilBeatMs } from '@laddercast/platform';
import type { SqlRunner } from '../database/postgres-database.js';
import { prepared } from '../database/postgres-statements.js';
import { RunAgain, type Duty } from './leased-task.js';

/** How long a question waits for others of this process, to go in one statement with them. */
const GATHER_MS = 10;

/** What one look found. */
interface Answer {
  /** The minute since 1970, by the database's clock. */
  minute: number;
  /** Of each question whether it has rows; null: nobody asked it. */
  found: (boolean | null)[];
}

/**
 * Whether there is anything to do: a SELECT without parameters that has a row then, or what the minute since 1970 says, by
 * the database's clock.
 */
export type DueQuestion = string | ((minute: number) => boolean);

/**
 * Asks PostgreSQL for many duties at once whether there is anything to do: hardly ever is. They look at the same beat, so
 * that an idle process asks one question in it, however many duties it has.
 */
export class SharedLook {
  private readonly questions: string[] = [];
  private statement: string | null = null;
  private readonly asked = new Set<number>();
  private looking: Promise<Answer | null> | null = null;

  constructor(private readonly database: SqlRunner) {}

  /** As the duty given, at beats of its `everyMs`, and run only where its question says so, or cannot be answered. */
  duty(question: DueQuestion, duty: Duty): Duty {
    const isDue = this.add(question);
    const run = async (signal: AbortSignal): Promise<RunAgain> => {
      const done = (await isDue()) ? await duty.run(signal) : undefined;
      return done instanceof RunAgain ? done : new RunAgain(untilBeatMs(duty.everyMs));
    };
    return { ...duty, run };
  }

  /** @returns asks it: true also where there was no answer, so that what fails holds up nothing else */
  private add(question: DueQuestion): () => Promise<boolean> {
    if (typeof question !== 'string') {
      return async () => {
        const answer = await this.look();
        return answer === null || question(answer.minute);
      };
    }
    const at = this.questions.push(question) - 1;
    this.statement = null;
    return async () => {
      this.asked.add(at);
      const answer = await this.look();
      return answer?.found[at] !== false;
    };
  }

  private look(): Promise<Answer | null> {
    return (this.looking ??= this.ask());
  }

  private async ask(): Promise<Answer | null> {
    await sleep(GATHER_MS);
    const isAsked = this.questions.map((_, at) => this.asked.has(at));
    this.asked.clear();
    this.looking = null;
    this.statement ??= prepared(statementOf(this.questions));
    // The one whose part of it fails meets the failure again, and says so.
    const rows = await this.database.query<Answer>(this.statement, [isAsked]).catch(() => null);
    return rows?.[0] ?? null;
  }
}

/** Questions of duties whose lease another process has are not asked: their numbers are false in `$1`. */
const statementOf = (questions: readonly string[]): string => `
  SELECT floor(extract(epoch FROM ladder_now()) / 60)::float8 AS minute, ARRAY[
    ${questions.map((rows, at) => `CASE WHEN ($1::bool[])[${at + 1}] THEN EXISTS (${rows}) END`).join(',\n    ')}
  ]::bool[] AS found`;
