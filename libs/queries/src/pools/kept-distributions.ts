import { LadderError, newcomer, type RatingPool } from '@laddercast/domain';
import {
  poolNotFound,
  PostgresDatabase,
  RatingAlgorithms,
  ratingDistribution,
  type Pool,
  type RatingDistribution,
} from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';

const POOLS_KEPT_MAX = 1000;
/** The most that are computed at a time: each reads all ratings of a pool, on a connection of its own. */
const UNDER_WAY_MAX = 2;
/** An answer is kept this many times as long as it took: computing takes a twentieth of a connection at most. */
const KEPT_PER_MS = 20;
const KEPT_LEAST_MS = 5000;
const KEPT_MOST_MS = 300_000;

/** How many points a bucket holds where ratings are some hundreds apart. */
const WIDTH = 25;
/** Where a newcomer's deviation is less than this, such a bucket would hold most players. */
const DEVIATION_LEAST = 2 * WIDTH;

/** Distributions of pools as they were a moment ago: each is computed once at a time, and kept for the longer the longer it took. */
@Injectable()
export class KeptDistributions {
  private readonly kept = new LRUCache<number, RatingDistribution>({ max: POOLS_KEPT_MAX, ttl: KEPT_LEAST_MS });
  private readonly underWay = new Map<number, Promise<RatingDistribution>>();

  constructor(
    private readonly database: PostgresDatabase,
    private readonly algorithms: RatingAlgorithms,
  ) {}

  /** @throws OVERLOADED when those of too many pools are being computed, POOL_NOT_FOUND, ALGORITHM_MISSING */
  async of(pool: Pool): Promise<RatingDistribution> {
    const known = this.kept.get(pool.uid) ?? this.underWay.get(pool.uid);
    if (known) return known;
    if (this.underWay.size >= UNDER_WAY_MAX) {
      const detail = `The distributions of ${UNDER_WAY_MAX} pools are being computed already; send it again shortly.`;
      throw new LadderError('OVERLOADED', detail, { retryAfterSeconds: 1 });
    }
    const computed = this.compute(pool).finally(() => this.underWay.delete(pool.uid));
    this.underWay.set(pool.uid, computed);
    return computed;
  }

  private async compute(pool: Pool): Promise<RatingDistribution> {
    const beganAtMs = monotonicMs();
    const distribution = await ratingDistribution(
      this.database,
      pool.uid,
      widthFor(this.algorithms.poolOf(pool.definition)),
    );
    if (!distribution) throw poolNotFound(pool.id);
    const tookMs = monotonicMs() - beganAtMs;
    const ttl = Math.min(KEPT_MOST_MS, Math.max(KEPT_LEAST_MS, KEPT_PER_MS * tookMs));
    this.kept.set(pool.uid, distribution, { ttl });
    return distribution;
  }
}

/** 25 points, or where ratings are much closer together a tenth of a newcomer's deviation, rounded down to 1, 2.5 or 5 of a power of ten. */
export function widthFor(pool: RatingPool): number {
  const { deviation } = newcomer(pool).state;
  if (deviation === null || deviation >= DEVIATION_LEAST) return WIDTH;
  const tenth = deviation / 10;
  const power = 10 ** Math.floor(Math.log10(tenth));
  return power * [5, 2.5, 1].find((part) => part * power <= tenth)!;
}
