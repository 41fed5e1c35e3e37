import { assertMayRead, Authenticator, type Identity } from '@laddercast/identity';
import { isBanned, LadderError, NEVER_USED_SCOPE, type Board } from '@laddercast/domain';
import { monotonicMs, nowMs, RateLimitedLog } from '@laddercast/platform';
import {
  EntryDetails,
  faultOfStyle,
  isShadowedOn,
  isUnused,
  ListResolver,
  styleToRead,
  type ResolvedList,
} from '@laddercast/queries';
import { nameOfRef } from '@laddercast/projections';
import { Injectable } from '@nestjs/common';
import type { ListFeed } from '../feeds/list-feed.js';
import { LiveFeeds } from '../feeds/live-feeds.js';
import { RatingWatches } from '../feeds/rating-watches.js';
import { LiveOptions } from '../live-options.js';
import { RatingMessage, type ChannelMessage } from '../protocol/client-messages.js';
import type { LiveSocket } from '../connection/live-socket.js';
import { LiveStats } from '../live-stats.js';
import { LiveSubscription, type AnySubscription, type SubscriptionEvents } from '../connection/live-subscription.js';
import { asLadderError } from '../protocol/problems.js';
import { refOf } from '../publishing/snapshot-tick.js';
import { namesInUse, namesOfRequest } from './names-in-use.js';
import { ScopesAwaitingScores } from './scopes-awaiting-scores.js';
import { ShadowSockets } from './shadow-sockets.js';

/** The life of subscriptions: who may subscribe, what they get, and what happens to them when a board changes. */
@Injectable()
export class SubscriptionLifecycle {
  private readonly feedOf = new Map<LiveSubscription, ListFeed>();
  private readonly unusedScopes: ScopesAwaitingScores;
  private readonly shadowSockets: ShadowSockets;
  private readonly failures = new RateLimitedLog(SubscriptionLifecycle.name);
  private isLookingForUsed = false;

  constructor(
    private readonly feeds: LiveFeeds,
    private readonly resolver: ListResolver,
    private readonly ratings: RatingWatches,
    private readonly details: EntryDetails,
    readonly authenticator: Authenticator,
    readonly options: LiveOptions,
    readonly stats: LiveStats,
  ) {
    this.unusedScopes = new ScopesAwaitingScores(options.unusedScopesMax);
    this.shadowSockets = new ShadowSockets(options.shadowSocketsMax, stats);
  }

  /** Sets the socket's identity; subscriptions that it may not read end. */
  async identify(socket: LiveSocket, identity: Identity, token: string): Promise<void> {
    const before = socket.identity;
    socket.identify(identity, token);
    for (const subscription of [...socket.subscriptions.values()]) {
      if (!isOfList(subscription)) {
        await this.ratings.identityChanged(subscription);
        continue;
      }
      this.endIfForbidden(subscription);
      const { request } = subscription;
      if (request.seesUnlisted(before) && !request.seesUnlisted(socket.identity)) await this.serveAgain(subscription);
      else await this.lookAtWorld(subscription);
    }
  }

  /**
   * Serves a new subscription, its snapshot first; with `seq` that of a resume, which replaces a live one of this id.
   * @throws SUBSCRIPTION_EXISTS, SUBSCRIPTION_LIMIT, BOARD_NOT_FOUND, POOL_NOT_FOUND, WINDOW_NOT_FOUND, SCOPE_NOT_FOUND, ENTRY_NOT_FOUND,
   * UNAUTHENTICATED, FORBIDDEN, VALIDATION_FAILED, RANK_STYLE_NOT_KEPT, PROJECTION_UNAVAILABLE, PROJECTION_BEHIND
   */
  async subscribe(
    socket: LiveSocket,
    id: string,
    request: ChannelMessage | RatingMessage,
    seq?: number,
  ): Promise<void> {
    const known = socket.subscriptions.get(id);
    if (known && seq === undefined) {
      throw new LadderError(
        'SUBSCRIPTION_EXISTS',
        `This socket has a subscription "${id}"; unsubscribe it, or choose another id.`,
      );
    }
    if (known) this.end(known);
    const { subscriptionsMax } = this.options;
    if (socket.subscriptions.size >= subscriptionsMax) {
      throw new LadderError('SUBSCRIPTION_LIMIT', `A socket may have at most ${subscriptionsMax} subscriptions.`);
    }
    const events: SubscriptionEvents = {
      refused: (error) => this.refuse(subscription, error),
      worldDoubted: async () => (isOfList(subscription) ? this.lookAtWorld(subscription) : undefined),
    };
    const subscription: AnySubscription =
      request instanceof RatingMessage
        ? new LiveSubscription(id, request, socket, this.stats, events)
        : new LiveSubscription(id, request, socket, this.stats, events);
    subscription.heardSeq = seq ?? 0;
    socket.subscriptions.set(id, subscription);
    this.stats.subscriptions += 1;
    try {
      await (isOfList(subscription) ? this.serve(subscription, seq) : this.ratings.join(subscription, seq));
    } catch (error) {
      this.end(subscription);
      throw error;
    }
  }

  /** Ends a subscription. An unknown id is no error: the subscription may have just ended by itself. */
  unsubscribe(socket: LiveSocket, id: string): void {
    const subscription = socket.subscriptions.get(id);
    if (subscription) this.end(subscription);
  }

  /** The moment as of which the lists that a socket follows are known, Unix ms; now where it follows none. */
  asOfMs(socket: LiveSocket): number {
    let asOfMs = nowMs();
    for (const subscription of socket.subscriptions.values()) {
      const feed = this.feedOf.get(subscription as LiveSubscription);
      if (feed) asOfMs = Math.min(asOfMs, subscription.channel?.knownAsOfMs?.(feed) ?? feed.asOfMs);
    }
    return asOfMs;
  }

  endAll(socket: LiveSocket): void {
    for (const subscription of [...socket.subscriptions.values()]) this.end(subscription);
  }

  /**
   * Follows a change of a board or its windows: subscribers without the right to read it any more are told so, and end.
   * Watched rows wait until each list is resolved anew.
   */
  boardChanged(board: Board): void {
    for (const feed of this.feeds.ofBoard(board.uid)) {
      feed.boardChanged(board);
      void this.renew(feed);
    }
    for (const [subscription, feed] of [...this.feedOf]) {
      if (feed.resolved.board.uid === board.uid) this.endIfForbidden(subscription);
    }
  }

  /** The board was deleted or reset: subscribers move to the board that has its id now, or are told that there is none. */
  async boardGone(board: Board): Promise<void> {
    for (const [subscription, feed] of [...this.feedOf]) {
      // Ended or moved meanwhile.
      if (feed.resolved.board.uid !== board.uid || this.feedOf.get(subscription) !== feed) continue;
      await this.serveAgain(subscription);
    }
  }

  /** Resolves lists anew whose windows froze or ended, or will before the next sweep, and scopes that are new. */
  sweep(): void {
    for (const feed of this.feeds.all()) if (feed.isHeldWithin(this.options.sweepEveryMs)) void this.renew(feed);
    void this.lookForUsed();
  }

  /** Moves subscriptions that wait for the first score of a scope to its list. */
  private async lookForUsed(): Promise<void> {
    const { names } = this.unusedScopes;
    if (this.isLookingForUsed || names.length === 0) return;
    this.isLookingForUsed = true;
    try {
      const used = await this.resolver.usedScopes(names);
      for (const subscription of used.flatMap((name) => this.unusedScopes.of(name)))
        await this.serveAgain(subscription);
    } catch (error) {
      this.failures.warn('Scopes that are new cannot be looked up', error);
    } finally {
      this.isLookingForUsed = false;
    }
  }

  private async renew(feed: ListFeed): Promise<void> {
    const askedAtMs = monotonicMs();
    for (const [names, subscribers] of namesInUse(feed)) {
      const still = (): LiveSubscription[] => subscribers.filter((one) => this.feedOf.get(one) === feed);
      try {
        const resolved = await this.resolver.resolve(names);
        // A board that was reset has other lists, to which its subscribers move anyway.
        if (resolved.board.uid !== feed.resolved.board.uid) return;
        if (nameOfRef(refOf(resolved)) !== nameOfRef(refOf(feed.resolved))) {
          for (const subscription of still()) await this.serveAgain(subscription);
          continue;
        }
        feed.follow(resolved, askedAtMs);
        await this.restyle(feed);
      } catch (error) {
        // Standings are being written, or the database is away: nothing is read until the next sweep resolves the list.
        const isGone = error instanceof LadderError && GONE.includes(error.code);
        if (isGone) for (const subscription of still()) this.refuse(subscription, error);
      }
    }
  }

  /** Serves subscriptions anew whose rank style has changed: the board's default, or one that is not kept any more. */
  private async restyle(feed: ListFeed): Promise<void> {
    for (const subscription of [...feed.subscribers()])
      if (!isInItsStyle(subscription, feed.resolved)) await this.serveAgain(subscription);
  }

  /** Serves a subscription from the beginning: from another list, or another channel. */
  private async serveAgain(subscription: LiveSubscription): Promise<void> {
    const feed = this.feedOf.get(subscription);
    if (!feed) return;
    this.detach(subscription);
    await this.serve(subscription, undefined, feed.seq).catch((error: unknown) => this.refuse(subscription, error));
  }

  private async serve(subscription: LiveSubscription, seq?: number, seqFloor?: number): Promise<void> {
    const { socket, request } = subscription;
    this.readableBoard(subscription);
    const askedAtMs = monotonicMs();
    const resolved = await this.resolver.resolve(namesOfRequest(request));
    // In a window that was over before anybody played in it nothing is waited for.
    if (resolved.list.scope === NEVER_USED_SCOPE && !isUnused(resolved.window)) this.unusedScopes.add(subscription);
    subscription.style = styleToRead(resolved, request.rankStyle);
    // What is longer than the board pushes is refused before a feed is opened for it.
    request.topLimit(resolved.board);
    const feed = await this.feeds.acquire(resolved, askedAtMs, seqFloor);
    if (!socket.isOpen || socket.subscriptions.get(subscription.id) !== subscription) {
      this.feeds.release(feed);
      return this.end(subscription);
    }
    if (this.releaseIfReplaced(subscription, feed)) return this.serve(subscription, undefined, feed.seq);
    this.feedOf.set(subscription, feed);
    // From here on, ending or moving the subscription releases its feed.
    const world = await this.worldOf(subscription, feed);
    // Ended or moved meanwhile.
    if (this.feedOf.get(subscription) !== feed) return;
    await this.join(subscription, feed, world, seq);
    // The board may have taken another style meanwhile.
    const isOld = this.feedOf.get(subscription) === feed && !isInItsStyle(subscription, feed.resolved);
    if (isOld) return this.serveAgain(subscription);
    // A sanction may have been announced while it joined: then what is known of it was forgotten.
    await this.followWorld(subscription);
  }

  /** @param world the shadowed player who sees the list with its own entry in it; null: as everybody sees it */
  private async join(
    subscription: LiveSubscription,
    feed: ListFeed,
    world: string | null,
    seq?: number,
  ): Promise<void> {
    const { socket, request, style } = subscription;
    const { resolved } = feed;
    subscription.worldOf = world;
    if (world !== null) this.shadowSockets.add(subscription);
    const isWanted = (): boolean =>
      socket.isOpen && this.feedOf.get(subscription) === feed && subscription.worldOf === world;
    const topLimit = request.topLimit(resolved.board);
    const watch = {
      ...request.asked(),
      ...(topLimit !== null && { offset: 0, limit: topLimit }),
      style,
      withPlayers: request.showsPlayers(),
      isOwn: request.seesUnlisted(socket.identity),
    };
    if (world !== null) return feed.joinWorld(subscription, { ...watch, worldOf: world }, isWanted);
    if (topLimit === null || watch.withPlayers) return feed.joinRows(subscription, watch, isWanted);
    if (seq === undefined || !isSameForEver(request, resolved)) return feed.joinTop(subscription, topLimit);
    return feed.resumeTop(subscription, topLimit, seq, isWanted);
  }

  /** The player of a subscription, where it is shadowed on the board and the channel shows players. */
  private async worldOf(
    { ownPlayer, request }: LiveSubscription,
    { worlds, resolved }: ListFeed,
  ): Promise<string | null> {
    if (ownPlayer === null || !worlds.has(request.channel)) return null;
    return isShadowedOn(await this.details.sanctionOf(ownPlayer), resolved.board.id) ? ownPlayer : null;
  }

  /**
   * Has a subscription served in its player's world if that is shadowed now, and as everybody's again once it is not, and
   * everybody's list has its entry: it never sees itself go.
   */
  private async lookAtWorld(subscription: LiveSubscription): Promise<void> {
    const { ownPlayer } = subscription;
    if (ownPlayer !== null) this.details.forget([ownPlayer], false);
    await this.followWorld(subscription);
  }

  /** As {@link lookAtWorld}, by what is known of the player. */
  private async followWorld(subscription: LiveSubscription): Promise<void> {
    const feed = this.feedOf.get(subscription);
    const { worldOf: before, ownPlayer } = subscription;
    if (!feed || (ownPlayer === null && before === null)) return;
    const isAsBefore = (): boolean => this.feedOf.get(subscription) === feed && subscription.worldOf === before;
    try {
      const world = await this.worldOf(subscription, feed);
      if (world === before || !isAsBefore()) return;
      if (world === null && ownPlayer === before && !(await this.isListedAgain(feed, ownPlayer!))) {
        return void feed.worlds.leaving.add(subscription);
      }
      // Shadowed again while that was looked up, it would see itself go.
      if (world === null && before !== null && (await this.isShadowedAgain(subscription, feed))) return;
      if (!isAsBefore()) return;
      subscription.detach();
      this.shadowSockets.delete(subscription);
      await this.join(subscription, feed, world);
    } catch (error) {
      this.refuse(subscription, error);
    }
  }

  private async isShadowedAgain(subscription: LiveSubscription, feed: ListFeed): Promise<boolean> {
    this.details.forget([subscription.ownPlayer!], false);
    return (await this.worldOf(subscription, feed)) !== null;
  }

  /** Whether everybody's list shows the entries of a player that was shadowed; of one that is banned now it never will. */
  private async isListedAgain(feed: ListFeed, playerId: string): Promise<boolean> {
    const sanction = await this.details.sanctionOf(playerId);
    if (isBanned(sanction, feed.resolved.board.id)) return true;
    if (!(await feed.worlds.isInList(playerId))) return false;
    // The last tick may be from before that.
    await feed.renumber();
    return true;
  }

  /**
   * Releases the feed if the board was reset, deleted or made private while the feed opened.
   * @returns whether there is another board under the id now
   * @throws BOARD_NOT_FOUND, UNAUTHENTICATED, FORBIDDEN
   */
  private releaseIfReplaced(subscription: LiveSubscription, feed: ListFeed): boolean {
    let isReplaced = true;
    try {
      isReplaced = this.readableBoard(subscription).uid !== feed.resolved.board.uid;
      return isReplaced;
    } finally {
      if (isReplaced) this.feeds.release(feed);
    }
  }

  /** @throws BOARD_NOT_FOUND, UNAUTHENTICATED, FORBIDDEN */
  private readableBoard({ socket, request }: LiveSubscription): Board {
    const board = this.resolver.knownBoard(request.board);
    assertMayWatch(socket.identity, board, request);
    return board;
  }

  private endIfForbidden(subscription: LiveSubscription): void {
    const feed = this.feedOf.get(subscription);
    if (!feed) return;
    try {
      assertMayWatch(subscription.socket.identity, feed.resolved.board, subscription.request);
    } catch (error) {
      this.refuse(subscription, error);
    }
  }

  private refuse(subscription: AnySubscription, error: unknown): void {
    this.end(subscription);
    subscription.error(asLadderError(error));
  }

  private end(subscription: AnySubscription): void {
    if (isOfList(subscription)) this.detach(subscription);
    subscription.end();
  }

  private detach(subscription: LiveSubscription): void {
    subscription.detach();
    subscription.worldOf = null;
    this.unusedScopes.delete(subscription);
    this.shadowSockets.delete(subscription);
    const feed = this.feedOf.get(subscription);
    if (!feed) return;
    this.feedOf.delete(subscription);
    this.feeds.release(feed);
  }
}

/** Of a list, or of a rating. */
const isOfList = (subscription: AnySubscription): subscription is LiveSubscription =>
  !(subscription.request instanceof RatingMessage);

/** The errors after which a list cannot be followed. */
const GONE: readonly string[] = ['SCOPE_NOT_FOUND', 'WINDOW_NOT_FOUND', 'SNAPSHOT_GONE'];

/** Whether a subscription is served in the style that it would be served in now. */
const isInItsStyle = ({ request, style }: LiveSubscription, resolved: ResolvedList): boolean =>
  faultOfStyle(resolved, style) === null && (request.rankStyle ?? styleToRead(resolved, undefined)) === style;

/** @throws UNAUTHENTICATED, FORBIDDEN */
function assertMayWatch(identity: Identity, board: Board, request: ChannelMessage): void {
  assertMayRead(identity, board);
  request.assertMayWatch(identity);
}

/**
 * Whether the request always means the same list. `daily` does not: a client that resumes it may hold rows of the day
 * before, and cannot say so.
 */
const isSameForEver = ({ window: name }: ChannelMessage, { window }: ResolvedList): boolean =>
  window.endsAtMs === null || window.id === name;
