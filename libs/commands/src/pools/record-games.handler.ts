import { hash, randomUUID } from 'node:crypto';
import { LadderError } from '@laddercast/domain';
import { assertScope } from '@laddercast/identity';
import {
  GameWriter,
  gamesById,
  PostgresDatabase,
  type GameReceipt,
  type GameWrite,
  type HeldPools,
} from '@laddercast/ledger';
import { monotonicMs } from '@laddercast/platform';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { canonical, parseTimestamp } from '../bodies/compiled-body.js';
import { recordedPlayer, type GameBody } from '../bodies/game-body.js';
import { RecordGamesCommand, type GameResult, type RatedGameAnswer } from './pool-commands.js';
import { problemOfItem } from '../problem-of-item.js';
import { assertMetadataFits } from '../scores/score-submitter.js';
import { ratedGameAnswer } from './rated-game-answer.js';
import { RatingWaits } from './rating-waits.js';

interface Recorded {
  write: GameWrite;
  receipt: GameReceipt;
}

@CommandHandler(RecordGamesCommand)
export class RecordGamesHandler implements ICommandHandler<RecordGamesCommand> {
  constructor(
    private readonly writer: GameWriter,
    private readonly waits: RatingWaits,
    private readonly database: PostgresDatabase,
  ) {}

  async execute({ identity, games, waitSeconds }: RecordGamesCommand): Promise<(GameResult | LadderError)[]> {
    assertScope(identity, 'scores:write');
    // They enter the ledger in the order of the array: nothing is awaited before.
    const held: HeldPools = new Map();
    const recorded = await Promise.all(
      games.map((game) =>
        game instanceof LadderError
          ? game
          : this.record(game, held).catch((error: unknown) => problemOfItem(error, 'with the same gameId')),
      ),
    );
    const rated = await this.ratedOf(recorded, waitSeconds);
    return recorded.map((one) => (one instanceof LadderError ? one : resultOf(one, rated.get(one) ?? null)));
  }

  private async record(body: GameBody, held: HeldPools): Promise<Recorded> {
    const write = toWrite(body);
    return { write, receipt: await this.writer.record(write, held) };
  }

  /** What is known of the games after the wait; nothing where nobody waits. */
  private async ratedOf(
    recorded: readonly (Recorded | LadderError)[],
    waitSeconds: number,
  ): Promise<Map<Recorded, RatedGameAnswer | null>> {
    const rated = new Map<Recorded, RatedGameAnswer | null>();
    if (waitSeconds === 0) return rated;
    const byPool = new Map<number, Recorded[]>();
    for (const one of recorded) {
      if (one instanceof LadderError) continue;
      const { poolUid } = one.receipt;
      byPool.set(poolUid, [...(byPool.get(poolUid) ?? []), one]);
    }
    const untilMs = monotonicMs() + waitSeconds * 1000;
    await Promise.all(
      [...byPool].map(async ([poolUid, ofPool]) => {
        const last = ofPool.reduce((most, { receipt }) => Math.max(most, receipt.position), 0);
        await this.waits.rated(poolUid, last, untilMs);
        const ids = ofPool.map(({ write }) => write.gameId);
        // They are recorded whether or not they can be read now.
        const games = await gamesById(this.database, poolUid, ids).catch(() => []);
        const byId = new Map(games.map((game) => [game.gameId, game]));
        for (const one of ofPool) {
          const game = byId.get(one.write.gameId);
          if (game) rated.set(one, ratedGameAnswer(game));
        }
      }),
    );
    return rated;
  }
}

function resultOf({ write, receipt }: Recorded, rated: RatedGameAnswer | null): GameResult {
  const { gameId, poolId } = write;
  const { replayed, position, unrated } = receipt;
  return {
    ...{ gameId, pool: poolId, outcome: 'recorded', replayed, position },
    rated: rated ?? (unrated === null ? null : { reason: unrated }),
  };
}

/** @throws METADATA_TOO_LARGE */
function toWrite(body: GameBody): GameWrite {
  const metadata = body.metadata === undefined ? null : JSON.stringify(body.metadata);
  assertMetadataFits(metadata);
  return {
    poolId: body.pool,
    gameId: body.gameId ?? randomUUID(),
    players: body.players.map(recordedPlayer),
    playedAtMs: body.playedAt === undefined ? null : parseTimestamp(body.playedAt),
    weight: body.weight ?? 1,
    metadata,
    bodySha256: hash('sha256', canonical(body), 'buffer'),
  };
}
