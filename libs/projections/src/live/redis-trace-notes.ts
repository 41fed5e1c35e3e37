import { nowMs } from '@laddercast/platform';
import { Injectable } from '@nestjs/common';
import { RedisConnection } from '../redis/redis-connection.js';
import { tracesKey } from '../redis/redis-keys.js';
import type { ListRef } from '../ranks/snapshot-store.js';
import { TRACE_NOTE_MS, TRACE_NOTES_MAX, TraceNotes, type TraceNote } from './trace-notes.js';

/** Notes of traces in Redis: a small sorted set for each list, by the time of the note, that goes by itself. */
@Injectable()
export class RedisTraceNotes extends TraceNotes {
  constructor(private readonly redis: RedisConnection) {
    super();
  }

  async leave(list: ListRef, notes: readonly TraceNote[]): Promise<void> {
    const key = tracesKey(list);
    const members = notes.flatMap((note) => [nowMs(), memberOf(note)]);
    if (members.length === 0) return;
    await Promise.all([
      this.redis.command('ZADD', key, ...members),
      this.redis.command('ZREMRANGEBYRANK', key, 0, -TRACE_NOTES_MAX - 1),
      this.redis.command('PEXPIRE', key, TRACE_NOTE_MS),
    ]);
  }

  async waiting(list: ListRef): Promise<TraceNote[]> {
    const range = [nowMs() - TRACE_NOTE_MS, '+inf', 'LIMIT', 0, TRACE_NOTES_MAX] as const;
    const members = (await this.redis.command('ZRANGEBYSCORE', tracesKey(list), ...range)) as Buffer[];
    return members.map((member) => noteOf(String(member)));
  }

  async forget(list: ListRef, notes: readonly TraceNote[]): Promise<void> {
    if (notes.length > 0) await this.redis.command('ZREM', tracesKey(list), ...notes.map(memberOf));
  }
}

/** A traceparent holds no space; a player's id may. */
const memberOf = ({ traceparent, playerId }: TraceNote): string => `${traceparent} ${playerId}`;

function noteOf(member: string): TraceNote {
  const end = member.indexOf(' ');
  return { traceparent: member.slice(0, end), playerId: member.slice(end + 1) };
}
