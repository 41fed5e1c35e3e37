import { hash } from 'node:crypto';
import { LadderError } from '@laddercast/domain';
import { assertScope, type Identity } from '@laddercast/identity';
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
import { v7 as uuidv7 } from 'uuid';
import { canonical, parseTimestamp } from '../bodies/compiled-body.js';
import { recordedPlayer, type GameBody } from '../bodies/game-body.js';
import { RecordGamesCommand, type GameResult, type RatedGameAnswer } from './pool-commands.js';
import { problemOfItem } from '../problem-of-item.js';
import { assertMetadataFits } from '../scores/score-submitter.js';
import { GameRanks, type RankedGame, type StandingBefore } from './game-ranks.js';
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
    private readonly ranks: GameRanks,
  ) {}

  async execute({ identity, games, waitSeconds }: RecordGamesCommand): Promise<(GameResult | LadderError)[]> {
    assertScope(identity, 'scores:write');
    const writes = games.map((game) => (game instanceof LadderError ? game : tried(() => toWrite(game))));
    const before = waitSeconds === 0 ? null : await this.ranks.before(writes.filter(isWrite));
    // They enter the ledger in the order of the array: nothing is awaited between them.
    const held: HeldPools = new Map();
    const recorded = await Promise.all(
      writes.map((write) =>
        write instanceof LadderError
          ? write
          : this.record(write, held).catch((error: unknown) => problemOfItem(error, 'with the same gameId')),
      ),
    );
    const untilMs = monotonicMs() + waitSeconds * 1000;
    const rated = before === null ? new Map<Recorded, RatedGameAnswer | null>() : await this.ratedOf(recorded, untilMs);
    if (before !== null) await this.addRanks(rated, before, untilMs, identity);
    return recorded.map((one) => (one instanceof LadderError ? one : resultOf(one, rated.get(one) ?? null)));
  }

  private async record(write: GameWrite, held: HeldPools): Promise<Recorded> {
    return { write, receipt: await this.writer.record(write, held) };
  }

  /** What is known of the games after the wait. */
  private async ratedOf(
    recorded: readonly (Recorded | LadderError)[],
    untilMs: number,
  ): Promise<Map<Recorded, RatedGameAnswer | null>> {
    const rated = new Map<Recorded, RatedGameAnswer | null>();
    const byPool = new Map<number, Recorded[]>();
    for (const one of recorded) {
      if (one instanceof LadderError) continue;
      const { poolUid } = one.receipt;
      byPool.set(poolUid, [...(byPool.get(poolUid) ?? []), one]);
    }
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

  private async addRanks(
    rated: ReadonlyMap<Recorded, RatedGameAnswer | null>,
    before: StandingBefore,
    untilMs: number,
    identity: Identity,
  ): Promise<void> {
    const games = [...rated].flatMap(([{ write, receipt }, answer]): RankedGame[] => {
      if (answer === null || 'reason' in answer) return [];
      const { position, replayed } = receipt;
      return [{ write, position, isReplayed: replayed, players: answer.players }];
    });
    const ranks = await this.ranks.after(games, before, untilMs, identity);
    for (const player of games.flatMap(({ players }) => players)) player.rank = ranks.get(player) ?? null;
  }
}

const isWrite = (write: GameWrite | LadderError): write is GameWrite => !(write instanceof LadderError);

function tried(make: () => GameWrite): GameWrite | LadderError {
  try {
    return make();
  } catch (error) {
    if (error instanceof LadderError) return error;
    throw error;
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
    gameId: body.gameId ?? uuidv7(),
    players: body.players.map(recordedPlayer),
    playedAtMs: body.playedAt === undefined ? null : parseTimestamp(body.playedAt),
    weight: body.weight ?? 1,
    metadata,
    bodySha256: hash('sha256', canonical(body), 'buffer'),
  };
}
