import { changesOfPlayer, PostgresDatabase, type RatingStep } from '@laddercast/ledger';
import { toTimestamp } from '@laddercast/platform';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { GetRatingHistoryQuery, type RatingHistory, type ShownRatingChange } from './pool-queries.js';
import { PoolReader } from './pool-reader.js';
import { cutPage } from '../shared/cut-page.js';

@QueryHandler(GetRatingHistoryQuery)
export class GetRatingHistoryHandler implements IQueryHandler<GetRatingHistoryQuery> {
  constructor(
    private readonly reader: PoolReader,
    private readonly database: PostgresDatabase,
  ) {}

  async execute({ caller, poolId, playerId, page: asked }: GetRatingHistoryQuery): Promise<RatingHistory> {
    const pool = await this.reader.pool(poolId, caller.identity);
    const isShown = await this.reader.isShown(playerId, caller);
    const { limit, beforePosition } = asked;
    const found = isShown
      ? await changesOfPlayer(this.database, pool.uid, playerId, { beforePosition, limit: limit + 1 })
      : [];
    const { page, next } = cutPage(found, limit, ({ position }) => String(position));
    return { pool: poolId, playerId, changes: page.map((step) => shownChange(playerId, step)), next };
  }
}

function shownChange(playerId: string, step: RatingStep): ShownRatingChange {
  const { gameId, position, playedAtMs, before, after, expected, k, outcome, engine, players, isRefund, recomputedBy } =
    step;
  const own = players.find((player) => player.playerId === playerId)!;
  const isOpponent = (player: (typeof players)[number]): boolean =>
    player.playerId !== playerId && (own.team === null || player.team !== own.team);
  const kind = isRefund ? 'refund' : recomputedBy === null ? 'game' : 'recomputed';
  return {
    ...{ kind, gameId, position, playedAt: toTimestamp(playedAtMs) },
    ...{ before, after, delta: after - before, expected, k, outcome, engine, recomputedBy },
    opponents: players.filter(isOpponent).map((player) => player.playerId),
  };
}
