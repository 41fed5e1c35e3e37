/**
 * Knows who is whose friend, and who follows whom. Default: the service's own, in PostgreSQL, fed by
 * `PUT /v1/players/{player}/friends/{other}` and `…/follows/{other}`. A team that keeps its players' friends elsewhere
 * brings a graph of its own; those two addresses then answer 422 `NOT_SUPPORTED`.
 *
 * Boards of friends are merged when they are read: one call for each board that is read, its answer remembered by each
 * process for a second, and never a call for a submission.
 * At most 500 ids for one player: of a longer answer the first 500 are used. A player named twice, or itself, counts once.
 * A graph that throws: what was remembered is used; where nothing is, the read is answered with 503 `LEDGER_UNAVAILABLE`.
 */
export abstract class FriendGraph {
  /** The player's friends, without the player. */
  abstract friendsOf(playerId: string): Promise<readonly string[]>;

  /** Whom the player follows. */
  abstract followedBy(playerId: string): Promise<readonly string[]>;
}
