import type { Board, BoardDefinition, LadderEvent } from '@laddercast/domain';
import type { LogRecord } from '@laddercast/event-log';
import type { EntryNews, PlayerOrGuild, SagaEvent, SagaNews, SagaTopic } from '@laddercast/extension';
import { toTimestamp } from '@laddercast/platform';

/** Whom the numbers of events name; what is gone is undefined. */
export interface NamesOfNumbers {
  board(uid: number): Board | undefined;
  /** The id of a window. */
  window(uid: number): string | undefined;
  pool(uid: number): string | undefined;
}

type EventOf<T extends SagaTopic> = Extract<LadderEvent, { type: T }>;
type Tell<T extends SagaTopic> = (event: EventOf<T>, names: NamesOfNumbers) => SagaNews[T] | null;

/** An event in the ids of people; null: it is about something that is gone, or about our lists alone. */
export function sagaEventOf({ event, position, writtenAtMs }: LogRecord, names: NamesOfNumbers): SagaEvent | null {
  const tell = TELL[event.type] as Tell<SagaTopic>;
  const news = tell(event, names);
  return news && ({ topic: event.type, position, writtenAt: toTimestamp(writtenAtMs), ...news } as SagaEvent);
}

const TELL: { [T in SagaTopic]: Tell<T> } = {
  'entry-changed': ({ boardUid, playerId, isGuild, changes }, names) => {
    const board = names.board(boardUid);
    if (!board) return null;
    const entries = changes.flatMap(({ windowUid, entryId, entry }): EntryNews[] => {
      const window = names.window(windowUid);
      if (window === undefined) return [];
      return [
        {
          window,
          ...(entryId !== undefined && { entryId }),
          entry: entry && {
            score: entry.score,
            columns: namedColumns(board.definition, entry.columns),
            achievedAt: toTimestamp(entry.achievedAtMs),
          },
        },
      ];
    });
    // Barriers of our lists have none.
    return entries.length === 0 ? null : { board: board.id, ...whose(playerId, isGuild), entries };
  },
  'player-changed': ({ playerId, isGuild }) => whose(playerId, isGuild),
  'sanction-changed': ({ playerId, sanction }) => ({
    playerId,
    sanction: sanction && { kind: sanction.kind, boards: sanction.boards, until: timeOf(sanction.untilMs) },
  }),
  'board-changed': ({ boardId, formerId }) => {
    if (boardId !== null) return { board: boardId, gone: false };
    return formerId === undefined ? null : { board: formerId, gone: true };
  },
  'window-closed': ({ boardUid, windowId }, names) => {
    const board = names.board(boardUid);
    return board ? { board: board.id, window: windowId } : null;
  },
  'standings-revised': ({ boardUid, windowId, edition, isFrozen = false }, names) => {
    const board = names.board(boardUid);
    return board ? { board: board.id, window: windowId, edition, frozen: isFrozen } : null;
  },
  'game-recorded': ({ poolUid }, names) => {
    const pool = names.pool(poolUid);
    return pool === undefined ? null : { pool };
  },
  'rating-changed': ({ poolUid, playerId, rating }, names) => {
    const pool = names.pool(poolUid);
    if (pool === undefined) return null;
    const { state, games, wins, draws, losses, peak, lastPlayedAtMs } = rating;
    return {
      ...{ pool, playerId, rating: state.rating, deviation: state.deviation, volatility: state.volatility },
      ...{ games, wins, draws, losses },
      peak: peak && { rating: peak.rating, at: toTimestamp(peak.atMs), gameId: peak.gameId },
      lastPlayedAt: timeOf(lastPlayedAtMs),
    };
  },
  'run-recorded': (run, names) => {
    const board = names.board(run.boardUid);
    if (!board) return null;
    const { playerId, submissionId, held, score, proof, verified, sourceId, metadata } = run;
    return {
      ...{ board: board.id, playerId, submissionId, held, score, proof, verified, sourceId },
      columns: namedColumns(board.definition, run.columns),
      windows: run.windowUids.flatMap((uid) => names.window(uid) ?? []),
      achievedAt: toTimestamp(run.achievedAtMs),
      acceptedAt: toTimestamp(run.acceptedAtMs),
      metadata: metadata === null ? null : (JSON.parse(metadata) as Record<string, unknown>),
    };
  },
  'flag-raised': ({ flagId, rule, severity, boardUid, playerId, summary }, names) => {
    const board = names.board(boardUid);
    return board ? { flagId, rule, severity, board: board.id, playerId, summary } : null;
  },
};

const whose = (id: string, isGuild = false): PlayerOrGuild => (isGuild ? { guildId: id } : { playerId: id });

const timeOf = (unixMs: number | null): string | null => (unixMs === null ? null : toTimestamp(unixMs));

const namedColumns = ({ columns }: BoardDefinition, values: readonly number[]): Record<string, number> =>
  Object.fromEntries(columns.map(({ name }, at) => [name, values[at] ?? 0]));
