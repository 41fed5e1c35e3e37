import { stopSteps } from '../../tools/commands.mjs';
import { describeFailure } from '../../tools/problem.mjs';
import type { RunningProcesses } from '../../tools/running.mjs';
import { removeDataDirectory } from '../../tools/services/postgres-account.mjs';

/** How a command that starts services ends: once, with nothing of it left. */
export class Ending {
  /** What is stopped. */
  running: RunningProcesses | null = null;
  private ending: Promise<never> | null = null;

  /** @param runDir removed with all that is in it */
  constructor(private readonly runDir: string) {}

  /** Ends the process with this code, or with 1 where something could not be stopped. */
  end(code: number): Promise<never> {
    this.ending ??= this.stop(code);
    return this.ending;
  }

  /** Ends the process with 1 and a message that says why; nothing where it ends already. */
  fail(error: unknown): void {
    if (this.ending !== null) return;
    console.error(`\n${describeFailure(error)}\n`);
    void this.end(1);
  }

  private async stop(code: number): Promise<never> {
    let exitCode = code;
    try {
      await stopSteps();
      await this.running?.stopAll();
      removeDataDirectory(this.runDir);
    } catch (error) {
      console.error(describeFailure(error));
      exitCode = 1;
    }
    process.exit(exitCode);
  }
}
