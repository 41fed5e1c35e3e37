// What a team's endpoint may ask the QueryBus. Who may read the board is the endpoint's to decide.
export { QueryBus } from '@nestjs/cqrs';
export {
  GetEntriesAroundQuery,
  GetEntriesQuery,
  GetPercentilesQuery,
  GetPlayerQuery,
  GetRankOfScoreQuery,
  GetRatingQuery,
  GetWindowsQuery,
  LookupPlayersQuery,
  type EntriesAround,
  type EntriesPage,
  type ListEnvelope,
  type ListSelection,
  type Percentiles,
  type PlayerRank,
  type PlayersLookup,
  type RankOfScore,
  type ShownRating,
  type WindowsPage,
} from '@laddercast/queries';
