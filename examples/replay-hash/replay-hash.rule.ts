import { IntegrityRule, type ExaminedRun, type Suspicion } from '@laddercast/leaderboard';
import { Injectable } from '@nestjs/common';

/** The game puts the hash of a run's inputs into its metadata. */
const hashOf = ({ metadata }: ExaminedRun): string | null => {
  const hash = metadata?.['replayHash'];
  return typeof hash === 'string' && hash.length <= 128 ? hash : null;
};

/** Nobody presses the same buttons at the same moments twice: a replay that comes again was copied. */
@Injectable()
export class ReplayHashRule extends IntegrityRule {
  readonly name = 'replay-hash';
  override readonly earlierRuns = 50;

  async examine(run: ExaminedRun, earlier: readonly ExaminedRun[]): Promise<Suspicion | null> {
    const hash = hashOf(run);
    if (hash === null) return { severity: 'low', summary: 'The run has no replay.', details: {}, key: 'no replay' };
    const same = earlier.find((other) => hashOf(other) === hash);
    if (same === undefined) return null;
    const details = { replayHash: hash, sameAs: same.submissionId, scoreThere: same.score };
    const severity = same.score === run.score ? 'medium' : 'high';
    return { severity, summary: 'The replay is that of an earlier run.', details, key: hash };
  }
}
