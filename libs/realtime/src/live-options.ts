/** The gateway's limits; every one has a default that suits one process with some ten thousand sockets. */
export class LiveOptions {
  /** The most subscriptions of one socket (SOCKET_SUBSCRIPTIONS_MAX). */
  subscriptionsMax = 50;
  /** The most sockets of this process; one more is told OVERLOADED and closed with 1013. */
  socketsMax = 20_000;
  /** Of those, the most of one player, one API key, and one address without identity; one more is closed with 1013, too. */
  socketsPerPlayerMax = 20;
  socketsPerKeyMax = 10_000;
  socketsPerAddressMax = 2000;
  /** The most subscriptions of one player over its sockets (SUBSCRIPTIONS_PER_PLAYER_MAX). */
  subscriptionsPerPlayerMax = 200;
  /** How many times as many a key, or an address without identity, may have: many players are behind each. */
  subscriptionsSharedBy = 100;
  // Of each of the following a player, or an address without identity, has a tenth at most: see WatchBudget.
  /** The most names of scopes without a score that subscriptions wait for. */
  unusedScopesMax = 1000;
  /** The most different channels beside tops (players, ranges, circles) that this process watches, all exact at each tick. */
  watchedChannelsMax = 1000;
  /** The most players beyond those whose ranks are estimated. */
  estimatedPlayersMax = 20_000;
  /** The most sockets of shadowed players, whose lists are read for them alone (SHADOW_SOCKETS_MAX). */
  shadowSocketsMax = 1000;
  /** The most watched ratings of players in pools. */
  watchedRatingsMax = 5000;
  /** The most members of all watched circles together; one in several circles counts for each. */
  watchedMembersMax = 20_000;
  /** The largest message; a larger one is answered with an error frame. */
  messageBytesMax = 16 * 1024;
  /** Messages that a socket may send at once (never less than it takes to resume everything), and how many more each second. */
  messagesBurst = 120;
  messagesPerSecond = 20;
  /** Messages of one socket that may wait while one is being answered. */
  messagesWaitingMax = 120;
  /** A socket with more unsent bytes than this gets no deltas until it has drained, and a fresh snapshot then. */
  behindBytes = 256 * 1024;
  /** A socket with more unsent bytes than this is ended. */
  bufferedBytesMax = 4 * 1024 * 1024;
  /** All sockets together may have this many unsent bytes; beyond it those with the most are ended. */
  unsentBytesMax = 512 * 1024 * 1024;
  /** A socket that is behind for longer than this is ended. */
  behindForMs = 60_000;
  /** How often a connection is asked by the protocol whether it lives (RFC 6455, section 5.5.2). */
  pingEveryMs = 20_000;
  /** How often a client is told, by a message, that the connection lives: it cannot see pings of the protocol. */
  aliveEveryMs = 5000;
  /** How often the API keys of all sockets are looked up again: a revoked one loses its sockets within this time and a sweep. */
  keyCheckEveryMs = 500;
  /** How often ended tokens and keys, drained readers and windows that froze or ended are looked for. */
  sweepEveryMs = 1000;
  /** How often a feed looks for itself, should a hint be lost. */
  pollEveryMs = 5000;

  constructor(given: Partial<LiveOptions> = {}) {
    Object.assign(this, given);
    this.messagesBurst = given.messagesBurst ?? Math.max(this.messagesBurst, 2 * this.subscriptionsMax);
    this.messagesWaitingMax = given.messagesWaitingMax ?? this.messagesBurst;
  }
}
