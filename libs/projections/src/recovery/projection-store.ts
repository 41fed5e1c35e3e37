/** A key of a shard, with the generation of the lists that it is of. */
export interface ShardKey {
  key: string;
  boardUid: number;
  scope: number;
  generation: number;
}

/**
 * What the projection is kept in, as a whole. Beside the lists it keeps how often the ledger was stamped: the ledger is
 * stamped first, so that a store with a later stamp has seen a ledger that is not there any more.
 */
export abstract class ProjectionStore {
  /** The latest stamp that any part of the store has; 0 where there is none. */
  abstract stamp(): Promise<number>;

  abstract setStamp(stamp: number): Promise<void>;

  /** Every key of a shard that there is, some at a time; one may come twice. */
  abstract shardKeys(): AsyncGenerator<ShardKey[]>;

  /** Removes keys; what says that a shard was retired stays. @returns how many went */
  abstract remove(keys: readonly string[]): Promise<number>;

  /** The largest share of its memory, 0 to 1, that a part of the store uses; 0 where none has a limit. */
  abstract memoryUse(): Promise<number>;

  /** Removes all that this installation ever wrote, but for the stamp. @returns how many keys there were */
  abstract empty(signal: AbortSignal): Promise<number>;
}
