import { ask, expectAnswer } from './ask.js';
import type { Target } from '../load/requests.js';
import { distinctScore, playerOf } from './entries.js';
import type { LargeBoard } from './large-board.js';

/** An entry of an answer, as far as it is checked. */
interface Entry {
  playerId: string;
  score: number;
  rank: number;
  accuracy?: string;
  errorBound?: number;
}

/** The answers of `/players/<id>` and of `/entries`, as far as they are checked. */
interface PlayerAnswer {
  entry: Entry;
  neighbours: Entry[];
  total: number;
  accuracy?: string;
  errorBound?: number;
}

interface ListAnswer {
  entries: Entry[];
}

/** What is read of the n-th player, and whether the answer is what the board was filled with. */
export interface Question {
  path(player: number): string;
  /** @throws Error when it is not */
  check(body: PlayerAnswer & ListAnswer, player: number, board: LargeBoard): void;
}

const around = 5;

/** What is read: nobody submits, so every rank is known. */
export const questions = {
  'around me (11)': {
    path: (player) => `/players/${playerOf(player)}?around=${around}`,
    check: (body, player, board) => {
      checkEntry(body, player, board);
      const { rank } = body.entry;
      const [from, to] = [Math.max(1, rank - around), Math.min(board.entries, rank + around)];
      checkList(body.neighbours, from, to - from + 1, board);
    },
  },
  'exact rank': {
    path: (player) => `/players/${playerOf(player)}?around=0`,
    check: (body, player, board) => {
      checkEntry(body, player, board);
      expectAnswer(body.entry.accuracy !== 'estimated' && body.accuracy !== 'estimated', 'it is exact', body);
    },
  },
  'estimated rank': {
    path: (player) => `/players/${playerOf(player)}?around=0&accuracy=estimated`,
    check: (body, player, board) => {
      const score = distinctScore(player);
      const away = Math.abs(body.entry.rank - board.better(score) - 1);
      const errorBound = body.errorBound ?? body.entry.errorBound ?? 0;
      expectAnswer(body.entry.score === score && away <= errorBound, `${away} places from the true rank`, body);
    },
  },
  'top 10': {
    path: () => '/entries?limit=10',
    check: (body, _, board) => checkList(body.entries, 1, 10, board),
  },
} satisfies Record<string, Question>;

export type QuestionName = keyof typeof questions;

function checkEntry(body: PlayerAnswer, player: number, board: LargeBoard): void {
  const score = distinctScore(player);
  expectAnswer(body.entry.playerId === playerOf(player) && body.entry.score === score, `the score is ${score}`, body);
  expectAnswer(body.entry.rank === board.better(score) + 1, `the rank is ${board.better(score) + 1}`, body);
  expectAnswer(body.total === board.entries, `the total is ${board.entries}`, body);
}

function checkList(entries: readonly Entry[], from: number, count: number, board: LargeBoard): void {
  expectAnswer(entries.length === count, `${count} entries`, entries);
  entries.forEach(({ rank, score, playerId }, index) => {
    expectAnswer(
      rank === from + index && board.better(score) + 1 === rank,
      `entry ${index} has its true rank`,
      entries,
    );
    expectAnswer(score === distinctScore(Number(playerId.slice('user'.length))), 'each has its score', entries);
  });
}

/** Reads while others load the service, and checks each answer. */
export class SampledReads {
  /** The text of the last answer. */
  last: string | null = null;
  readonly #question: Question;

  constructor(
    private readonly service: Target,
    private readonly board: LargeBoard,
    question: QuestionName,
  ) {
    this.#question = questions[question];
  }

  async look(): Promise<void> {
    const player = Math.floor(Math.random() * this.board.entries);
    const path = `/v1/boards/${this.board.id}${this.#question.path(player)}`;
    const { body, text } = await ask<PlayerAnswer & ListAnswer>(this.service, { method: 'GET', path });
    this.#question.check(body, player, this.board);
    this.last = text;
  }
}
