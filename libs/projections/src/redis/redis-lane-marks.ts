import { LadderError } from '@laddercast/domain';
import { Injectable } from '@nestjs/common';
import { RedisConnection } from './redis-connection.js';
import { markKey } from './redis-keys.js';
import { callOf, redisScripts } from './redis-scripts.js';

/** The marks of the lanes, one on every master (RankProjection says what they mean). */
@Injectable()
export class RedisLaneMarks {
  constructor(private readonly redis: RedisConnection) {}

  async drop(lane: number): Promise<void> {
    await Promise.all(this.keys(lane).map((key) => this.redis.command('DEL', key)));
  }

  async open(lane: number): Promise<void> {
    await Promise.all(this.keys(lane).map((key) => this.redis.command('SET', key, 0, 'NX')));
  }

  async advance(lane: number, from: number, to: number, session: number): Promise<void> {
    const calls = this.keys(lane).map((key) => callOf(redisScripts.advanceMark, [key], [from, to]));
    const reached = this.redis.session() === session ? await this.redis.run(calls) : [];
    // Asked again afterwards: the connection may have been replaced while the mark was under way. Then the mark may
    // stand, but its offset is not committed, and whatever lies beyond the committed offset is applied again.
    if (this.redis.session() !== session) {
      throw behind(`The connection to Redis was replaced while changes of lane ${lane} were applied.`);
    }
    if (reached.some((answer) => answer !== 1)) {
      throw behind(`Redis has lost changes of lane ${lane} from before position ${from}.`);
    }
  }

  async readMark(lane: number): Promise<number | null> {
    return (await this.readLanes([lane]))[0]!;
  }

  /** The lowest mark of each lane over all masters, null where one has none: one command to each master. */
  async readLanes(lanes: readonly number[]): Promise<(number | null)[]> {
    const tags = this.redis.tagsOfMasters((tag) => markKey(lanes[0]!, tag));
    const byMaster = (await Promise.all(
      tags.map((tag) => this.redis.command('MGET', ...lanes.map((lane) => markKey(lane, tag)))),
    )) as (Buffer | null)[][];
    return lanes.map((_, at) => {
      const marks: (Buffer | null)[] = byMaster.map((found) => found[at]!);
      return marks.some((mark) => mark === null) ? null : Math.min(...marks.map((mark) => Number(String(mark))));
    });
  }

  private keys(lane: number): string[] {
    return this.redis.tagsOfMasters((tag) => markKey(lane, tag)).map((tag) => markKey(lane, tag));
  }
}

function behind(detail: string): LadderError {
  return new LadderError('PROJECTION_UNAVAILABLE', `${detail} They are applied again from PostgreSQL.`);
}
