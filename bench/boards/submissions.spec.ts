import { describe, expect, it } from 'vitest';
import { distinctScore } from './entries.js';
import { Submissions, type BoardSubmission } from './submissions.js';

const bestOf = (submissions: BoardSubmission[], first: (playerId: string) => number) => {
  const best = new Map<string, number>();
  let improved = 0;
  for (const { playerId, score } of submissions) {
    const before = best.get(playerId) ?? first(playerId);
    if (score > before) improved += 1;
    best.set(playerId, Math.max(before, score));
  }
  return { best, improved };
};
const firstOf = (playerId: string): number => distinctScore(Number(playerId.slice(4)));

describe('submissions of the benchmark', () => {
  it('improve as often as asked, for players of the board', () => {
    const submissions = new Submissions({ entries: 1000, players: 100, improving: 30 }).take(10_000);
    const { improved, best } = bestOf(submissions, firstOf);
    expect(improved).toBeGreaterThan(2700);
    expect(improved).toBeLessThan(3300);
    expect(best.size).toBe(100);
    expect([...best.keys()].every((id) => Number(id.slice(4)) % 10 === 0)).toBe(true);
  });

  it('have ids that no other run has', () => {
    const source = new Submissions({ entries: 10, players: 2 });
    const ids = [...source.take(3), ...source.take(3)].map(({ submissionId }) => submissionId);
    expect(new Set(ids).size).toBe(6);
    expect(source.prefix).toBe('run2-');
  });

  it('go on from what was sent, and not from what was only prepared', () => {
    const source = new Submissions({ entries: 10, players: 1, improving: 100 });
    const first = source.take(10);
    source.sent(5);
    const [next] = source.take(1);
    expect(next!.score).toBeGreaterThan(first[4]!.score);
    expect(next!.score).toBeLessThanOrEqual(first[4]!.score + 20_000);
  });
});
