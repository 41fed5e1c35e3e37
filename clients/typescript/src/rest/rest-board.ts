import { newId } from '../world.js';
import type * as Api from '../api.js';
import type { Call, CallOptions, Query } from './http.js';

/** More lists than anybody reads; the one read first is forgotten. */
const LISTS_MAX = 200;
const SUBMIT_RETRIES_MAX = 4;

/** How a score is submitted. */
export interface SubmitOptions extends Pick<CallOptions, 'onRetry'> {
  /** Whole seconds, up to 10, to wait until the exact rank can be answered. */
  waitSeconds?: number;
}

/** One board over REST. Every call rejects with `LadderProblem`. */
export interface RestBoard {
  readonly id: string;
  /** What the board ranks, and how. */
  definition(): Promise<Api.Board>;
  /** Resolves when the score is durable. A `submissionId` is drawn when absent, so that every retry is safe. */
  submit(submission: Api.Submission, options?: SubmitOptions): Promise<Api.SubmissionResult>;
  entries(query?: Api.EntriesQuery): Promise<Api.EntriesPage>;
  /** The pages of a list as it stood at one moment: nobody twice, nobody missing. They can be read for 5 minutes. */
  pages(query?: Omit<Api.EntriesQuery, 'cursor' | 'offset'>): AsyncGenerator<Api.EntriesPage, void, undefined>;
  player(playerId: string, query?: Api.PlayerQuery): Promise<Api.PlayerRank>;
  /** The rank that a score would get now. */
  rankOf(score: number, query?: Omit<Api.RankQuery, 'score' | 'columns'>): Promise<Api.RankOfScore>;
  lookup(playerIds: readonly string[], query?: Api.LookupQuery & { ranked?: boolean }): Promise<Api.PlayersLookup>;
  friends(playerId: string, query?: Api.CircleQuery): Promise<Api.CirclePage>;
  guilds(query?: Api.GuildsQuery): Promise<Api.GuildsPage>;
  windows(query?: Api.WindowsQuery): Promise<Api.WindowsPage>;
}

/** Up to which version each list was read. */
export interface Versions {
  /** Reads a list, not before the version that was read last; remembers the one that comes. */
  read<Answer extends object>(list: string, query: Query, read: (query: Query) => Promise<Answer>): Promise<Answer>;
}

export function createVersions(isOn: boolean): Versions {
  const known = new Map<string, number>();
  return {
    async read(list, query, read) {
      const { window, scope, minVersion, asOf, edition, cursor, accuracy } = query;
      // These say a version of their own.
      const isOfItsOwn = [asOf, edition, cursor].some((one) => one != null) || accuracy === 'estimated';
      if (!isOn || isOfItsOwn) return read(query);
      const key = JSON.stringify([list, window ?? null, scope ?? 'global']);
      const answer = await read({ ...query, minVersion: minVersion ?? known.get(key) });
      const { boardVersion } = answer as { boardVersion?: number };
      if (boardVersion !== undefined) {
        const newest = Math.max(boardVersion, known.get(key) ?? 0);
        known.delete(key);
        known.set(key, newest);
        if (known.size > LISTS_MAX) known.delete(known.keys().next().value!);
      }
      return answer;
    },
  };
}

export function createRestBoard(
  id: string,
  call: Call,
  ownPlayer: () => Promise<string>,
  versions: Versions,
): RestBoard {
  const path = `/v1/boards/${encodeURIComponent(id)}`;
  const read = <Answer extends object>(rest: string, query: Query = {}, list = id): Promise<Answer> =>
    versions.read(list, query, (full) => call('GET', path + rest, { query: full }));
  return {
    id,
    definition: () => call('GET', path),
    submit(submission, { waitSeconds, onRetry } = {}) {
      const { submissionId = newId() } = submission;
      const body = async () => ({ ...submission, submissionId, playerId: submission.playerId ?? (await ownPlayer()) });
      return call('POST', `${path}/scores`, {
        body: body(),
        retries: SUBMIT_RETRIES_MAX,
        ...(onRetry && { onRetry }),
        ...(waitSeconds !== undefined && { headers: { prefer: `wait=${waitSeconds}` } }),
      });
    },
    entries: (query) => read('/entries', query),
    async *pages(query) {
      let page = await read<Api.EntriesPage>('/entries', { ...query, cursor: 'start' });
      for (;;) {
        yield page;
        if (page.next === null) return;
        page = await call('GET', page.next);
      }
    },
    player: (playerId, query) => read(`/players/${encodeURIComponent(playerId)}`, query),
    rankOf: (score, query) => read('/rank', { ...query, score }),
    lookup: (playerIds, { ranked, ...query } = {}) =>
      versions.read(id, query, (full) =>
        call('POST', `${path}/lookups`, {
          query: full,
          body: { playerIds, ...(ranked !== undefined && { ranked }) },
          retries: SUBMIT_RETRIES_MAX,
        }),
      ),
    friends: (playerId, query) => read(`/friends/${encodeURIComponent(playerId)}`, query),
    guilds: (query) => read('/guilds', query, `${id} guilds`),
    windows: (query) => call('GET', `${path}/windows`, { query }),
  };
}
