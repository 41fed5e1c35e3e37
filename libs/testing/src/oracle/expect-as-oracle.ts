import type { PlayerRating } from '@laddercast/domain';
import { expect } from 'vitest';
import type { OracleRating } from './ratings-oracle.js';

const TOLERANCE = 1e-9;

/** Expects all players, and each of their numbers, to be what the oracle says. */
export function expectAsOracle(
  players: ReadonlyMap<string, PlayerRating>,
  oracle: ReadonlyMap<string, OracleRating>,
): void {
  expect([...players.keys()].sort()).toEqual([...oracle.keys()].sort());
  for (const [id, { state, peak, ...counts }] of players) {
    const expected = oracle.get(id)!;
    for (const name of ['rating', 'deviation', 'volatility'] as const) {
      const value = state[name];
      if (value === null) continue;
      const distance = Math.abs(value - expected[name]) / Math.max(1, Math.abs(expected[name]));
      expect(distance, `${name} of ${id}: ${value}, and ${expected[name]}`).toBeLessThan(TOLERANCE);
    }
    const { games, wins, draws, losses, lastPlayedAtMs } = expected;
    expect(counts).toMatchObject({ games, wins, draws, losses, lastPlayedAtMs });
    expect(Math.abs(peak!.rating - expected.peak!.rating)).toBeLessThan(1e-6);
    expect(peak!.gameId).toBe(expected.peak!.gameId);
  }
}
