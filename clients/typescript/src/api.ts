import type { components as Live } from './generated/live-api.js';
import type { components as Rest, operations } from './generated/rest-api.js';

/** Bodies of REST, by their names in /openapi.json. */
export type Schemas = Rest['schemas'];

/** Frames of the live socket, by their names in /asyncapi.json. */
export type Frames = Live['schemas'];

export type Board = Schemas['Board'];
export type EntriesPage = Schemas['EntriesPage'];
export type PlayerRank = Schemas['PlayerRank'];
export type RankOfScore = Schemas['RankOfScore'];
export type WindowsPage = Schemas['WindowsPage'];
export type CirclePage = Schemas['CirclePage'];
export type PlayersLookup = Schemas['PlayersLookup'];
export type SubmissionResult = Schemas['SubmissionResult'];

/** A row of a list that is read. */
export type RankedEntry = Schemas['RankedEntry'];

/** A row of a list that is watched. */
export type Entry = Frames['Entry'];

/** How scores of a board are to be written. */
export type ScoreFormat = Board['format'];

type QueryOf<Operation extends keyof operations> = NonNullable<operations[Operation]['parameters']['query']>;

export type EntriesQuery = QueryOf<'getEntries'>;
export type PlayerQuery = QueryOf<'getPlayer'>;
export type RankQuery = QueryOf<'getRankOfScore'>;
export type WindowsQuery = QueryOf<'getWindows'>;
export type CircleQuery = QueryOf<'getFriendsBoard'>;
export type LookupQuery = QueryOf<'lookupPlayers'>;
export type GuildsQuery = QueryOf<'getGuilds'>;
export type GuildsPage = operations['getGuilds']['responses'][200]['content']['application/json'];

/** A score as it is submitted. Without `playerId` it is of the player whose token is in use. */
export type Submission = Omit<Schemas['Submission'], 'playerId'> & { playerId?: string };
