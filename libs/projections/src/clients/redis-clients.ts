import { backoffMs, monotonicMs, sentinelAddressOf, type SentinelAddress } from '@laddercast/platform';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import {
  clusterOptions,
  nodeOf,
  nodeOptions,
  optionsOfSentinels,
  RECONNECT,
  sentinelOptions,
  serverTls,
  type SentinelUser,
} from './redis-address.js';
import { askNode } from './redis-nodes.js';
import { isOfReplica } from './redis-refusal.js';
import { followSentinels } from './redis-sentinel-follower.js';

export interface RedisConnectionOptions {
  /** One address, nodes of one cluster separated by commas, or sentinels (see `sentinelAddressOf`). */
  url: string;
  /** Whom the sentinels know this process as, where they ask. */
  sentinelUser?: SentinelUser;
  /** Whether it is a replica that is read, and nothing else; of sentinels one of theirs. */
  isReplica?: boolean;
  /** Certificates (PEM) of those who may vouch for the servers, with rediss://; default: those that Node.js trusts. */
  ca?: string;
  /** What every key begins with, without braces: an installation finds its own data and nobody else's. */
  namespace?: string;
  connectTimeoutMs?: number;
  commandTimeoutMs?: number;
  /** Told of every failure of the connection itself, which goes on trying. */
  onError?: (error: Error) => void;
  /** Told why a Redis that is there does nothing for us, as a sentence, when that is new. */
  onRefusal?: (sentence: string) => void;
}

export const CONNECT_TIMEOUT_MS = 5000;
const COMMAND_TIMEOUT_MS = 1000;
/** A connection that says nothing for so long after a command is replaced: it may have died without a word. */
const SILENCE_MAX_MS = 3000;

const LEAVE_REPLICA_EVERY_MS = 5000;

/** Makes the clients of one address: of a server, of a cluster, or of the master that sentinels name. */
export class RedisClients {
  private readonly addresses: readonly string[];
  /** null where servers are named themselves. */
  private readonly sentinels: SentinelAddress | null;

  constructor(private readonly options: RedisConnectionOptions) {
    this.addresses = options.url.split(',');
    this.sentinels = sentinelAddressOf(options.url);
  }

  /** Whether sentinels say which server is the master. */
  get askSentinels(): boolean {
    return this.sentinels !== null;
  }

  /** A client for commands, not connected yet: it connects again for ever. */
  main(): Redis | Cluster {
    const { addresses, sentinels } = this;
    const { ca, isReplica } = this.options;
    const redisOptions = this.redisOptions();
    const tell = (error: Error): void => this.options.onError?.(error);
    if (sentinels) return this.ofSentinels(sentinels, tell);
    const client =
      addresses.length === 1
        ? new Redis(addresses[0]!, {
            ...redisOptions,
            ...serverTls(addresses[0]!, ca),
            reconnectOnError: isReplica ? null : leavesReplicas(),
          })
        : new Cluster(addresses.map(nodeOf), clusterOptions(addresses[0]!, redisOptions, ca));
    return client.on('error', tell);
  }

  /** A client for subscriptions, not connected yet: to the server, or to some node of the cluster. Once ended it stays so. */
  subscriber(main: Redis | Cluster): Redis {
    const { addresses, sentinels } = this;
    const { ca, sentinelUser: user } = this.options;
    const ends = { ...this.redisOptions(), retryStrategy: () => null };
    if (sentinels)
      return new Redis({ ...sentinelOptions(sentinels, ends, { ca, user }), sentinelRetryStrategy: () => null });
    return main instanceof Cluster
      ? new Redis({ ...ends, ...nodeOptions(addresses[0]!, ends, ca), ...this.someNode(main) })
      : new Redis(addresses[0]!, { ...ends, ...serverTls(addresses[0]!, ca) });
  }

  /**
   * Asks some node of a cluster, on a connection of its own, whether the cluster is formed.
   * @throws when it does not answer, or refuses; CLUSTERDOWN, as Redis says it
   */
  async askSomeNode(main: Cluster): Promise<void> {
    const node = this.subscriber(main).on('error', () => undefined);
    try {
      await node.connect();
      await askNode(node);
    } finally {
      node.disconnect();
    }
  }

  private ofSentinels(sentinels: SentinelAddress, tell: (error: Error) => void): Redis {
    const { ca, sentinelUser: user, isReplica } = this.options;
    const options = sentinelOptions(sentinels, this.redisOptions(), { ca, user });
    const client = new Redis(isReplica ? { ...options, role: 'slave' } : options);
    client.on('error', (error: Error) => tell(plainly(error)));
    if (!isReplica) followSentinels(client, sentinels, optionsOfSentinels(options));
    return client;
  }

  private someNode(cluster: Cluster): { host: string; port: number } {
    const known = cluster.nodes('all').map(({ options: { host, port } }) => ({ host, port }));
    const nodes = known.length > 0 ? known : this.addresses.map(nodeOf);
    const { host, port } = nodes[Math.floor(Math.random() * nodes.length)]!;
    return { host: host!, port: port! };
  }

  private redisOptions(): RedisOptions {
    return {
      lazyConnect: true,
      connectTimeout: this.options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      commandTimeout: this.options.commandTimeoutMs ?? COMMAND_TIMEOUT_MS,
      socketTimeout: Math.max(SILENCE_MAX_MS, this.options.commandTimeoutMs ?? 0),
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => backoffMs(attempt - 1, RECONNECT.firstMs, RECONNECT.maxMs),
    };
  }
}

/** After a fail-over the same name may lead to another server: a connection to one that is a replica now is made anew, at times. */
function leavesReplicas(): (error: Error) => boolean {
  let leftAtMs = -Infinity;
  return (error) => {
    if (!isOfReplica(error) || monotonicMs() - leftAtMs < LEAVE_REPLICA_EVERY_MS) return false;
    leftAtMs = monotonicMs();
    return true;
  };
}

/** Without how long it waits before it asks again, which is another time each time: what is said twice is logged once. */
const plainly = (error: Error): Error =>
  new Error(error.message.replace(/ Retrying from scratch after [\d.]+ms\./, ''), { cause: error });
