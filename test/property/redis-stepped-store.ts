import { RedisConnection } from '@laddercast/projections';
import { emptyTestRedis } from '@laddercast/testing';
import { Redis } from 'ioredis';

/** A connection whose script calls are steps, each by itself. */
export class SteppedConnection extends RedisConnection {
  /** Called before each step. */
  beforeStep: () => Promise<void> = async () => undefined;
  /** Called after each step, before its answer is known. */
  afterStep: () => Promise<void> = async () => undefined;
  /** How often the connection has been replaced beside what really happened. */
  replaced = 0;

  override session(): number {
    return super.session() + this.replaced;
  }

  override async run(calls: Parameters<RedisConnection['run']>[0]): Promise<unknown[]> {
    const answers: unknown[] = [];
    for (const call of calls) {
      await this.beforeStep();
      answers.push(...(await super.run([call])));
      await this.afterStep();
    }
    return answers;
  }
}

/** An empty store that actors share, with a plain client beside them. */
export class SteppedStore {
  private readonly connections: RedisConnection[] = [];

  private constructor(
    readonly url: string,
    readonly plain: Redis,
  ) {}

  static async open(): Promise<SteppedStore> {
    const url = await emptyTestRedis();
    return new SteppedStore(url, new Redis(url));
  }

  /** Connects, and is closed with the store. */
  async connected<Connection extends RedisConnection>(connection: Connection): Promise<Connection> {
    await connection.connect();
    this.connections.push(connection);
    return connection;
  }

  async close(): Promise<void> {
    this.plain.disconnect();
    await Promise.all(this.connections.map((connection) => connection.close()));
  }
}
