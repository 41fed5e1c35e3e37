/**
 * `@laddercast/client`: leaderboards over REST and live, and scores that wait for the network.
 */
export { createLadder } from './ladder.js';
export type { Ladder, LadderBoard, LadderOptions } from './ladder.js';
export * from './rest.js';
export { keyOf } from './live/live-list.js';
export type { Change, LiveList } from './live/live-list.js';
export type { LiveState } from './live/connection.js';
export type {
  LiveBoard,
  OnList,
  TopOptions,
  Watch,
  WatchFriendsOptions,
  WatchOptions,
  WatchPlayerOptions,
  WatchRangeOptions,
} from './live/watches.js';
export type { QueueItem } from './queue/items.js';
export type { Queue, Settled } from './queue/queue.js';
export type { Storage } from './world.js';
