import type { LadderProblem } from '../rest/problem.js';
import type { Connection } from './connection.js';
import type { Change, LiveList } from './live-list.js';

type OnProblem = (problem: LadderProblem, about: { fatal: boolean }) => void;

/** Which list is watched. */
export interface WatchOptions {
  /** `daily` follows each next day; `daily:2026-11-20` ends with that day. Default: as in reads. */
  window?: string | undefined;
  /** `region:EU`, `guild:red`, `country:US`; default: everybody. */
  scope?: string | undefined;
  rankStyle?: 'ordinal' | 'competition' | 'dense' | undefined;
  /** `player`: rows say who it is, with avatar, region and attributes, as of now. */
  fields?: readonly 'player'[] | undefined;
  /**
   * Hears what is wrong with this watch, in place of the `onProblem` of the client. `fatal`: it has ended; else it is asked for
   * again by itself.
   */
  onProblem?: OnProblem | undefined;
}

/** The first places. */
export interface TopOptions extends WatchOptions {
  /** Rounded up to 10, 25, 50 or 100 by the service; default 10. */
  limit?: number | undefined;
}

/** A player and the rows around. */
export interface WatchPlayerOptions extends WatchOptions {
  playerId: string;
  /** How many rows above and below, up to 25; default 5. */
  around?: number | undefined;
}

/** Some places further down. */
export interface WatchRangeOptions extends WatchOptions {
  /** The first row is that of rank offset + 1. */
  offset: number;
  /** Up to 100; default 10. */
  limit?: number | undefined;
}

/** A player and its friends, ranked among themselves. */
export interface WatchFriendsOptions extends WatchOptions {
  playerId: string;
}

/** Hears each new list, and what is different from the one before. */
export type OnList = (list: LiveList, change: Change) => void;

/** A list that is watched. */
export interface Watch {
  /** The newest list; null before the first. */
  readonly list: LiveList | null;
  close(): void;
}

/** The live side of a board. */
export interface LiveBoard {
  watchTop(options: TopOptions, onList: OnList): Watch;
  watchPlayer(options: WatchPlayerOptions, onList: OnList): Watch;
  watchRange(options: WatchRangeOptions, onList: OnList): Watch;
  watchFriends(options: WatchFriendsOptions, onList: OnList): Watch;
  /** The first guilds. */
  watchGuilds(options: Omit<TopOptions, 'scope' | 'fields'>, onList: OnList): Watch;
  /**
   * The first places as an async iterator; leaving the loop ends the subscription. It yields the newest list: a slow
   * reader skips those between. It throws `LadderProblem` when the list may not be watched (any more), and returns when
   * its window has ended, or the client was closed.
   */
  top(options?: TopOptions): AsyncIterableIterator<LiveList>;
}

export function createLiveBoard(board: string, connection: Connection, onProblem: OnProblem): LiveBoard {
  const watch = (channel: string, { onProblem: tell = onProblem, ...asked }: WatchOptions, onList: OnList): Watch =>
    connection.watch(
      { board, channel, ...asked },
      {
        onList,
        onDelay: (problem) => tell(problem, { fatal: false }),
        onEnd: (problem) => problem && tell(problem, { fatal: true }),
      },
    );
  return {
    watchTop: (options, onList) => watch('top', options, onList),
    watchPlayer: (options, onList) => watch('player', options, onList),
    watchRange: (options, onList) => watch('range', options, onList),
    watchFriends: (options, onList) => watch('friends', options, onList),
    watchGuilds: (options, onList) => watch('guilds', options, onList),
    top: ({ onProblem: _own, ...asked } = {}) => iterate(connection, { board, channel: 'top', ...asked }),
  };
}

function iterate(connection: Connection, request: { board: string; channel: string }): AsyncIterableIterator<LiveList> {
  let newest: LiveList | null = null;
  let problem: LadderProblem | null = null;
  let isOver = false;
  let wake: () => void = () => undefined;
  let watch: { close(): void } | null = null;
  const start = (): { close(): void } =>
    connection.watch(request, {
      onList(list) {
        newest = list;
        wake();
      },
      onEnd(why) {
        problem = why;
        isOver = true;
        wake();
      },
    });
  const next = async (): Promise<IteratorResult<LiveList>> => {
    if (!isOver) watch ??= start();
    while (newest === null && !isOver) await new Promise<void>((resolve) => (wake = resolve));
    if (newest !== null) {
      const value = newest;
      newest = null;
      return { value, done: false };
    }
    const why = problem;
    problem = null;
    if (why !== null) throw why;
    return { value: undefined, done: true };
  };
  return {
    next,
    async return() {
      isOver = true;
      newest = null;
      watch?.close();
      wake();
      return { value: undefined, done: true };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
