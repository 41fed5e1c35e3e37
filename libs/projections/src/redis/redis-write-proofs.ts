import type { RedisConnection } from './redis-connection.js';
import { proofKey } from './redis-keys.js';

/** As long as somebody may go on from what was proven. */
const KEPT_MS = 7 * 86_400_000;

/**
 * Words on every master that prove what was written before them, as the marks of lanes do: replicas, dumps and append-only
 * files are prefixes of the stream of writes.
 */
export class RedisProofs {
  constructor(private readonly redis: RedisConnection) {}

  async leave(name: string, proof: string, session: number): Promise<boolean> {
    if (this.redis.session() !== session) return false;
    await Promise.all(this.keys(name).map((key) => this.redis.command('SET', key, proof, 'PX', KEPT_MS)));
    // Or it may stand on a server that lacks what was written before.
    return this.redis.session() === session;
  }

  async find(name: string): Promise<string | null> {
    const words = await Promise.all(this.keys(name).map((key) => this.redis.command('GET', key)));
    const [first] = words.map((word) => (word === null ? null : String(word)));
    return words.every((word) => word !== null && String(word) === first) ? (first ?? null) : null;
  }

  private keys(name: string): string[] {
    return this.redis.tagsOfMasters((tag) => proofKey(name, tag)).map((tag) => proofKey(name, tag));
  }
}
