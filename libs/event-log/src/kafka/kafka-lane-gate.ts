import { backoffMs, sleep } from '@laddercast/platform';
import type { Consumer } from 'kafkajs';
import { reasonOf, type LogLine } from '../delivery/log-line.js';

/** Says which lanes a group may begin with; see {@link KafkaBarriers}. */
export interface LaneBarriers {
  isOpen(lane: number): boolean;
  /** Looks whether these can be opened, and opens them. @throws when brokers or the database do not answer */
  look(lanes: readonly number[]): Promise<void>;
}

interface Place {
  topic: string;
  partition: number;
}

const LOOK_AGAIN = { firstMs: 250, maxMs: 2000 };

/**
 * Keeps the partitions of lanes paused that one consumer's group must not begin with yet; the others go on meanwhile.
 * Partitions count as closed until it is known that they are not: another process may know of more lanes than this one.
 */
export class KafkaLaneGate {
  private readonly ended = new AbortController();
  private assigned: readonly Place[] = [];
  /** By name. Bounded by the partitions of the group's topics. */
  private readonly paused = new Map<string, Place>();
  private looking: Promise<void> | null = null;

  constructor(
    private readonly consumer: Pick<Consumer, 'pause' | 'resume'>,
    private readonly barriers: LaneBarriers,
    private readonly log: LogLine,
  ) {}

  /** To be called each time when the consumer has joined its group, before it fetches anything. */
  joined(assignment: Readonly<Record<string, readonly number[]>>): void {
    this.assigned = Object.entries(assignment).flatMap(([topic, partitions]) =>
      partitions.map((partition) => ({ topic, partition })),
    );
    const closed = this.assigned.filter(({ partition }) => !this.isOpen(partition));
    if (closed.length === 0) return;
    for (const place of closed) this.paused.set(`${place.topic}/${place.partition}`, place);
    this.consumer.pause(toPartitions(closed));
    this.looking ??= this.look();
  }

  isOpen(lane: number): boolean {
    return this.barriers.isOpen(lane);
  }

  async end(): Promise<void> {
    this.ended.abort();
    await this.looking;
  }

  private async look(): Promise<void> {
    const { signal } = this.ended;
    let waits = 0;
    for (let closed = this.closed(); closed.length > 0 && !signal.aborted; closed = this.closed()) {
      try {
        await this.barriers.look(closed);
      } catch (error) {
        this.log('debug', `It cannot be seen now whether lanes ${closed.join(', ')} may begin: ${reasonOf(error)}`);
      }
      if (signal.aborted) break;
      waits = this.resume() ? 0 : waits + 1;
      if (waits > 0) await sleep(backoffMs(waits - 1, LOOK_AGAIN.firstMs, LOOK_AGAIN.maxMs), signal);
    }
    this.looking = null;
  }

  /** Also those that are others' now: they may come back. */
  private resume(): boolean {
    const opened = [...this.paused].filter(([, { partition }]) => this.isOpen(partition));
    if (opened.length === 0) return false;
    try {
      this.consumer.resume(toPartitions(opened.map(([, place]) => place)));
    } catch (error) {
      // It has left its group: what is paused went with it, and the next consumer has a gate of its own.
      this.log('debug', `A consumer that ends takes no more lanes: ${reasonOf(error)}`);
      return false;
    }
    for (const [name] of opened) this.paused.delete(name);
    return true;
  }

  private closed(): number[] {
    return [...new Set(this.assigned.map(({ partition }) => partition))].filter((lane) => !this.isOpen(lane));
  }
}

const toPartitions = (places: readonly Place[]): { topic: string; partitions: number[] }[] =>
  places.map(({ topic, partition }) => ({ topic, partitions: [partition] }));
