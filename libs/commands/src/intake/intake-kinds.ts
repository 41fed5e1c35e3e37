import { LadderError, validationFailed } from '@laddercast/domain';
import { reasonOf, type IntakeTopic } from '@laddercast/event-log';
import type { Identity } from '@laddercast/identity';
import type { CommandBus } from '@nestjs/cqrs';
import { parseGame, type GameBody } from '../bodies/game-body.js';
import { parseBatchedSubmission } from '../bodies/submission-body.js';
import { SubmitScoresCommand, type BoardSubmission } from '../commands.js';
import { RecordGamesCommand } from '../pools/pool-commands.js';

/** What other systems write to a topic, and what becomes of it. */
export interface IntakeKind<Item> {
  readonly topic: IntakeTopic;
  /** The setting with the key whose rights count. */
  readonly keySetting: IntakeKeySetting;
  /** The largest message that is parsed; what is within all limits is smaller. */
  readonly bytesMax: number;
  /** @throws LadderError where it is not well formed */
  parse(json: unknown): Item;
  /** The board whose checks are asked about it; null where none are. */
  boardOf(item: Item): string | null;
  /** What became of each, in the order given. */
  submit(
    commands: Pick<CommandBus, 'execute'>,
    identity: Identity,
    items: readonly Item[],
  ): Promise<readonly (object | LadderError)[]>;
}

export type IntakeKeySetting = 'KAFKA_IN_SCORES_KEY' | 'KAFKA_IN_GAMES_KEY';

/** @throws VALIDATION_FAILED where nothing would tell a message from its repetition */
function assertHasId(id: string | undefined, name: string): void {
  if (id !== undefined) return;
  throw validationFailed([{ pointer: `/${name}`, message: 'is required: a message may arrive more than once' }]);
}

/** Messages like an item of `POST /v1/scores`. */
export const SUBMISSION_MESSAGES: IntakeKind<BoardSubmission> = {
  topic: 'in.scores',
  keySetting: 'KAFKA_IN_SCORES_KEY',
  bytesMax: 64 * 1024,
  parse: (json) => {
    const { board, ...body } = parseBatchedSubmission(json);
    assertHasId(body.submissionId, 'submissionId');
    return { boardId: board, body };
  },
  boardOf: ({ boardId }) => boardId,
  submit: (commands, identity, items) => commands.execute(new SubmitScoresCommand(identity, [...items], null)),
};

/** Messages like the body of `POST /v1/games`. */
export const GAME_MESSAGES: IntakeKind<GameBody> = {
  topic: 'in.games',
  keySetting: 'KAFKA_IN_GAMES_KEY',
  bytesMax: 1024 * 1024,
  parse: (json) => {
    const game = parseGame(json);
    assertHasId(game.gameId, 'gameId');
    return game;
  },
  boardOf: () => null,
  submit: (commands, identity, items) => commands.execute(new RecordGamesCommand(identity, items, 0)),
};

/** What is in a message, or why it is refused. */
export function itemOf<Item>({ parse, bytesMax }: IntakeKind<Item>, value: Buffer | null): Item | LadderError {
  try {
    return parse(parseJson(value, bytesMax));
  } catch (error) {
    if (error instanceof LadderError) return error;
    throw error;
  }
}

/** @throws MALFORMED_JSON, PAYLOAD_TOO_LARGE */
function parseJson(value: Buffer | null, bytesMax: number): unknown {
  if (value === null) throw new LadderError('MALFORMED_JSON', 'The message has no value.');
  if (value.length > bytesMax) {
    const limit = `at most ${bytesMax} are taken`;
    throw new LadderError('PAYLOAD_TOO_LARGE', `The message has ${value.length} bytes; ${limit}.`);
  }
  const text = textOf(value);
  if (text === null) throw new LadderError('MALFORMED_JSON', 'The message is not UTF-8.');
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')) as unknown;
  } catch (error) {
    throw new LadderError('MALFORMED_JSON', `The message is not JSON: ${reasonOf(error)}`);
  }
}

/** null when the bytes are not UTF-8. */
export function textOf(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
