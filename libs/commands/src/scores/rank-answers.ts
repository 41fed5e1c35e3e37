import type { RankAccuracy } from '@laddercast/domain';
import { metrics } from '@laddercast/platform';

const COUNTERS = {
  list: countersOf('list'),
  submission: countersOf('submission'),
  game: countersOf('game'),
};

function countersOf(of: string) {
  const counterOf = (accuracy: RankAccuracy | 'none') => metrics.rankAnswers.labels(of, accuracy);
  return { exact: counterOf('exact'), estimated: counterOf('estimated'), none: counterOf('none') };
}

/** Counts an answer by its accuracy; null: an answer without a rank. */
export function noteRankAnswer(
  of: keyof typeof COUNTERS,
  answer: { accuracy?: RankAccuracy; errorBound?: number } | null,
): void {
  const accuracy = answer === null ? 'none' : (answer.accuracy ?? 'exact');
  COUNTERS[of][accuracy].inc();
  if (answer !== null && accuracy === 'estimated') metrics.rankErrorBound.observe(answer.errorBound ?? 0);
}
