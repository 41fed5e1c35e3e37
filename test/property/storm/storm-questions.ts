import type { RankStyle } from '@laddercast/domain';
import { CREW, GUILDS, PLAYERS, REGIONS } from './storm-boards.js';
import type { ModelRow, StormModel } from './storm-model.js';

interface Row {
  rank: number;
  globalRank?: number;
  playerId: string;
  score: number;
  columns?: Record<string, number>;
  achievedAt: string;
}

interface Page {
  entries: Row[];
  total: number;
}

/** What is asked, what comes, and what should. */
export interface Question {
  path: string;
  /** Whose key or token asks; absent: nobody's. */
  asks?: 'operator' | { player: string };
  body?: object;
  expected: () => unknown;
  answer: (body: never) => unknown;
}

const CANDIDATE = 50.5;

/** Everything that the service shows of a list, as questions with what a model folds to. */
export class StormQuestions {
  constructor(
    private readonly model: StormModel,
    private readonly nowMs: number,
  ) {}

  all(): Question[] {
    const { model } = this;
    return [...model.boards.keys()].flatMap((board) => {
      const { scopes, dense } = model.boards.get(board)!;
      const styles: RankStyle[] = dense ? ['ordinal', 'competition', 'dense'] : ['ordinal', 'competition'];
      const isRegional = scopes.includes('guild');
      const places = isRegional ? [...REGIONS.map((id) => `region:${id}`), ...GUILDS.map((id) => `guild:${id}`)] : [];
      const shadowed = PLAYERS.filter((player) => model.isShadowed(board, player));
      return model
        .windowsOf(board)
        .flatMap((window) => [
          ...['global', ...places].flatMap((scope) => styles.map((style) => this.list(board, window, scope, style))),
          ...(isRegional ? [this.guilds(board, window)] : []),
          ...PLAYERS.slice(0, 2).map((player) => this.player(board, window, player)),
          this.rank(board, window),
          this.lookup(board, window),
          this.circle(board, window),
          this.exported(board, window),
          ...shadowed.flatMap((player) => [
            ...['global', ...places].map((scope) => this.list(board, window, scope, 'ordinal', player)),
            this.player(board, window, player, player),
          ]),
        ]);
    });
  }

  /** As others see it, or a shadowed player with its own token. */
  private list(board: string, window: string, scope: string, style: RankStyle, viewer?: string): Question {
    const { columns } = this.model.boards.get(board)!;
    return {
      path: `/v1/boards/${board}/entries?window=${window}&scope=${scope}&rankStyle=${style}&limit=100`,
      ...(viewer !== undefined && { asks: { player: viewer } }),
      expected: () => [
        this.model.ranked(board, window, scope, this.nowMs, viewer).entries.length,
        this.shown(board, window, scope, style, viewer).map((row) => [...placeOf(row), row.achievedAtMs, row.columns]),
      ],
      answer: ({ total, entries }: Page) => [
        total,
        entries.map(({ achievedAt, columns: own, ...row }) => [
          ...[...placeOf(row), Date.parse(achievedAt)],
          columns.map(({ name }) => own![name]),
        ]),
      ],
    };
  }

  private shown(board: string, window: string, scope: string, style: RankStyle, viewer?: string): ModelRow[] {
    return this.model.list(board, window, scope, style, this.nowMs, viewer);
  }

  private guilds(board: string, window: string): Question {
    const { order } = this.model.boards.get(board)!;
    const inOrder = (rows: { playerId: string; score: number }[]): unknown =>
      rows
        .map(({ playerId, score }) => [playerId, score] as const)
        .sort((a, b) => (order === 'desc' ? b[1] - a[1] : a[1] - b[1]) || (a[0] < b[0] ? -1 : 1));
    return {
      path: `/v1/boards/${board}/guilds?window=${window}`,
      expected: () => inOrder(this.model.guilds(board, window, GUILDS, this.nowMs)),
      answer: ({ entries }: Page) => inOrder(entries),
    };
  }

  private player(board: string, window: string, playerId: string, viewer?: string): Question {
    return {
      path: `/v1/boards/${board}/players/${playerId}?window=${window}`,
      ...(viewer !== undefined && { asks: { player: viewer } }),
      expected: () => {
        const found = this.model.ranked(board, window, 'global', this.nowMs, viewer);
        const index = found.indexOf(playerId);
        return index < 0 || this.model.isHidden(board, playerId)
          ? 404
          : [index + 1, found.entries[index]!.score, found.entries.length];
      },
      answer: ({ entry, total }: { entry: Row; total: number }) => [entry.rank, entry.score, total],
    };
  }

  private rank(board: string, window: string): Question {
    return {
      path: `/v1/boards/${board}/rank?window=${window}&score=${CANDIDATE}&rankStyle=competition`,
      expected: () => {
        const found = this.model.ranked(board, window, 'global', this.nowMs);
        return [found.rankOfValues({ score: CANDIDATE, columns: [0] }, 'competition'), found.entries.length];
      },
      answer: ({ rank, total }: { rank: number; total: number }) => [rank, total],
    };
  }

  private lookup(board: string, window: string): Question {
    return {
      path: `/v1/boards/${board}/lookups?window=${window}`,
      body: { playerIds: PLAYERS },
      expected: () => {
        const rows = this.shown(board, window, 'global', 'ordinal');
        return PLAYERS.map((player) => {
          const row = rows.find(({ playerId }) => playerId === player);
          return row === undefined ? null : placeOf(row);
        });
      },
      answer: ({ entries }: { entries: (Row | null)[] }) => entries.map((row) => (row === null ? null : placeOf(row))),
    };
  }

  private circle(board: string, window: string): Question {
    return {
      path: `/v1/boards/${board}/circles/${CREW}?window=${window}`,
      asks: 'operator',
      expected: () => {
        const { entries } = this.model.ranked(board, window, 'global', this.nowMs);
        const crew = entries.filter(({ playerId }) => isOfCrew(playerId));
        return crew
          .map((entry, at) => ({ ...entry, rank: at + 1, globalRank: entries.indexOf(entry) + 1 }))
          .filter(({ playerId }) => !this.model.isHidden(board, playerId))
          .map((row) => [...placeOf(row), row.globalRank]);
      },
      answer: ({ entries }: Page) => entries.map((row) => [...placeOf(row), row.globalRank]),
    };
  }

  private exported(board: string, window: string): Question {
    return {
      path: `/v1/boards/${board}/export?window=${window}&format=ndjson`,
      expected: () => this.shown(board, window, 'global', 'ordinal').map(placeOf),
      answer: (text: unknown) => rowsOf(text).map(placeOf),
    };
  }
}

export const isOfCrew = (player: string): boolean => PLAYERS.indexOf(player) % 2 === 0;

const placeOf = ({ rank, playerId, score }: Pick<Row, 'rank' | 'playerId' | 'score'>): unknown[] => [
  ...[rank, playerId, score],
];

/** Lines of an export; one line alone came as JSON. */
function rowsOf(body: unknown): Row[] {
  if (typeof body !== 'string') return [body as Row];
  const lines = body.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Row);
}
