import { LadderError } from '@laddercast/domain';
import { metrics, monotonicMs, sleep } from '@laddercast/platform';
import { Cluster, Command, type Redis } from 'ioredis';
import { serverOf } from '../clients/redis-address.js';
import { CONNECT_TIMEOUT_MS, RedisClients, type RedisConnectionOptions } from '../clients/redis-clients.js';
import { slotOf } from './redis-keys.js';
import { RedisRefusal } from '../clients/redis-refusal.js';
import { askNode, askServer, noteCall, readNodeStates, type RedisNodeState } from '../clients/redis-nodes.js';
import type { ScriptCall } from './redis-scripts.js';
import { slotsByOwner } from '../clients/redis-slots.js';

export type { RedisConnectionOptions };

/** Answers that say "not now" or "not here", as opposed to "never" (Redis: reply errors). */
const NOT_NOW =
  /^(NOPERM|WRONGPASS|DENIED|LOADING|CLUSTERDOWN|OOM|READONLY|MASTERDOWN|TRYAGAIN|BUSY|NOREPLICAS|MISCONF|MOVED|ASK|NOAUTH|ERR ACL failure in script|ERR The user executing the script)\b/;
/** What the scripts say of a list whose board is served from another generation: this process has not heard of it. */
const RETIRED = /^RETIRED\b/;
/** What the scripts say of a shard that has lost a key: whoever asked has it brought back. */
const LOST = /^LOST\b/;
/** Answers after which the same call is sent once more by itself: the script is unknown there, or its slot has moved. */
const SEND_AGAIN = /^(NOSCRIPT|MOVED|ASK|TRYAGAIN)\b/;

type Argument = string | number | Buffer;

/** Methods that ioredis has, and its types do not. */
interface Scripting {
  evalshaBuffer(sha1: string, keys: number, ...rest: Argument[]): Promise<unknown>;
  evalBuffer(body: string, keys: number, ...rest: Argument[]): Promise<unknown>;
}

/**
 * Redis as every part of the service uses it: one server or a cluster, commands with a time-out and no queue while it
 * is away, reconnecting for ever, and never an error that nobody handles.
 * Commands of one moment travel together, to a cluster per node (ioredis auto-pipelining, which sends no more to a node
 * before it has answered).
 */
export class RedisConnection {
  private readonly clients: RedisClients;
  private readonly client: Redis | Cluster;
  private readonly readyListeners = new Set<() => void>();
  private sessionNumber = 0;
  private masterSignature = '';
  private readonly refused = new RedisRefusal();
  private toldRefusal: string | null = null;

  readonly namespace: string;

  constructor(private readonly options: RedisConnectionOptions) {
    this.namespace = options.namespace ?? '';
    this.clients = new RedisClients(options);
    this.client = this.clients.main();
    this.client.on('ready', () => this.ready());
    this.client.on('error', (error: Error) => {
      this.refused.forget();
      this.refused.note(error);
    });
    if (this.client instanceof Cluster) {
      this.client.on('+node', (node: Redis) => node.on('ready', () => this.ready()));
    }
  }

  /**
   * Connects; afterwards the connection repairs itself.
   * @throws PROJECTION_UNAVAILABLE when there is no answer now; it goes on trying all the same
   */
  async connect(): Promise<void> {
    if (this.isReady) return;
    const connecting = this.client.status === 'wait' ? this.beginConnecting() : this.untilReady();
    await connecting.catch((error: unknown) => {
      throw this.failure(error);
    });
    // A cluster's client connects to each master at its first command, and that would count as another session.
    if (this.isCluster) await this.answers();
  }

  /** Whether it is only read, and says nothing of what was lost. */
  get isReplica(): boolean {
    return this.options.isReplica ?? false;
  }

  get isReady(): boolean {
    return this.client.status === 'ready';
  }

  /** Whether keys lie on several masters, each of which can forget by itself. */
  get isCluster(): boolean {
    return this.client instanceof Cluster;
  }

  /** Why Redis, which is there, does nothing for us, as a sentence; null where it does, or says nothing. */
  get refusal(): string | null {
    return this.refused.sentence;
  }

  /** Whether {@link refusal} is of our user or password: then no wait helps. */
  get isUserRefused(): boolean {
    return this.refused.isOfUser;
  }

  /** Whether every master answers now. */
  async answers(): Promise<boolean> {
    const pongs = await Promise.allSettled(this.masterClients().map((node) => node.ping()));
    return this.isReady && pongs.length > 0 && pongs.every(({ status }) => status === 'fulfilled');
  }

  /** What each master that answers says of its memory. */
  nodeStates(): Promise<RedisNodeState[]> {
    return readNodeStates(this.masterClients());
  }

  /**
   * Every master by the slots that it serves (`all` for a single server), and whether it answers within `ms`; none while a
   * cluster's slots are not known.
   */
  async masterStates(ms: number): Promise<{ slots: string; answers: boolean }[]> {
    const states = await this.askMasters(ms);
    if (states.length > 0 && states.every(({ answers }) => answers)) {
      this.refused.forget();
      this.toldRefusal = null;
    }
    return states;
  }

  private async askMasters(ms: number): Promise<{ slots: string; answers: boolean }[]> {
    const { client } = this;
    if (!(client instanceof Cluster)) {
      return [{ slots: 'all', answers: await this.heard(askServer(client, `${this.namespace}asked`), ms) }];
    }
    // Its client says nothing of one that is not formed, and tries again.
    if (!this.isReady) await this.heard(this.clients.askSomeNode(client), ms);
    const nodes = new Map(client.nodes('all').map((node) => [`${node.options.host}:${node.options.port}`, node]));
    const owned = slotsByOwner(client.slots);
    return Promise.all(
      [...owned].map(async ([owner, slots]) => {
        const node = nodes.get(owner);
        return { slots, answers: node !== undefined && (await this.heard(askNode(node), ms)) };
      }),
    );
  }

  /** Whether an answer came within `ms`; a refusal is remembered. */
  private heard(asking: Promise<unknown>, ms: number): Promise<boolean> {
    const answered = asking.then(
      () => this.isReady,
      (error: unknown) => {
        this.note(error);
        return false;
      },
    );
    return Promise.race([answered, sleep(ms).then(() => false)]);
  }

  /**
   * Counts what may have lost writes: a new connection, or another master. Writes of one session reached the same
   * servers in the order in which they were sent.
   */
  session(): number {
    if (this.client instanceof Cluster) {
      const signature = [...this.masters()].sort().join(' ');
      if (signature !== this.masterSignature) this.sessionNumber += 1;
      this.masterSignature = signature;
    }
    return this.sessionNumber;
  }

  /** Calls the listener after each (re)connection. */
  onReady(listener: () => void): () => void {
    this.readyListeners.add(listener);
    return () => this.readyListeners.delete(listener);
  }

  /**
   * Calls scripts, all sent together; answers in the same order, with strings as Buffers.
   * @throws PROJECTION_UNAVAILABLE
   */
  async run(calls: readonly ScriptCall[]): Promise<unknown[]> {
    this.assertReady();
    const beganAtMs = monotonicMs();
    this.gather();
    const settled = await Promise.allSettled(calls.map((call) => this.callByHash(call)));
    if (calls.length > 0) noteCall(calls[0]!.script.name, beganAtMs);
    return settled.map((result) => {
      if (result.status === 'rejected') throw this.failure(result.reason);
      return result.value;
    });
  }

  /**
   * Sends one plain command; strings come back as Buffers.
   * @throws PROJECTION_UNAVAILABLE
   */
  async command(name: string, ...args: Argument[]): Promise<unknown> {
    this.assertReady();
    const beganAtMs = monotonicMs();
    try {
      return await this.client.sendCommand(new Command(name, args, { replyEncoding: null, keyPrefix: this.namespace }));
    } catch (error) {
      throw this.failure(error);
    } finally {
      noteCall('command', beganAtMs);
    }
  }

  /**
   * Every key that there is, some at a time and without the namespace; one may come twice.
   * @throws PROJECTION_UNAVAILABLE
   */
  async *keys(): AsyncGenerator<string[]> {
    for (const node of this.client instanceof Cluster ? this.client.nodes('master') : [this.client]) {
      for (let cursor = '0', isBegun = false; !isBegun || cursor !== '0'; isBegun = true) {
        this.assertReady();
        const scanned = node.scan(cursor, 'MATCH', `${this.namespace}*`, 'COUNT', KEYS_SCANNED_AT_ONCE);
        const [next, keys] = await scanned.catch((error: unknown) => {
          throw this.failure(error);
        });
        yield keys.map((key) => key.slice(this.namespace.length));
        cursor = next;
      }
    }
  }

  /**
   * One hash tag number for each master, such that `keyOf(tag)` lies there; a single server has the tag 0.
   * @throws PROJECTION_UNAVAILABLE while a cluster's slots are not known
   */
  tagsOfMasters(keyOf: (tag: number) => string): number[] {
    if (!(this.client instanceof Cluster)) return [0];
    this.assertReady();
    const slots = this.client.slots;
    const missing = new Set(this.masters());
    const tags: number[] = [];
    for (let tag = 0; missing.size > 0 && tag < MARK_TAGS_TRIED_MAX; tag += 1) {
      const owner = slots[slotOf(keyOf(tag))]?.[0];
      if (owner !== undefined && missing.delete(owner)) tags.push(tag);
    }
    if (missing.size > 0 || tags.length === 0) throw this.failure(new Error('no key lands on every master'));
    return tags;
  }

  /**
   * A connection of its own for subscriptions, not connected yet: to the server, or to some node of the cluster. Once
   * ended it stays so; its owner disconnects it.
   */
  subscriber(): Redis {
    const client = this.clients.subscriber(this.client);
    client.on('error', (error: Error) => this.options.onError?.(error));
    // A master that another took the place of may stay there, and tells its listeners nothing more.
    if (this.clients.askSentinels) {
      const follow = (): void => {
        if (client.status === 'ready' && serverOf(client) !== serverOf(this.client as Redis)) client.disconnect();
      };
      client.on('end', this.onReady(follow));
    }
    // A subscriber only listens: without a question now and then, a connection that died in silence stays for hours.
    const probe = setInterval(() => {
      if (client.status === 'ready') client.ping().catch(() => undefined);
    }, SUBSCRIBER_PROBE_EVERY_MS).unref();
    client.on('end', () => clearInterval(probe));
    return client;
  }

  async close(): Promise<void> {
    this.readyListeners.clear();
    if (this.isReady) await this.client.quit().catch(() => this.client.disconnect());
    else this.client.disconnect();
  }

  private async callByHash(call: ScriptCall): Promise<unknown> {
    const { script, arguments: args } = call;
    const keys = call.keys.map((key) => this.namespace + key);
    try {
      return await this.scripting.evalshaBuffer(script.sha1, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !SEND_AGAIN.test(error.message)) throw error;
      return this.scripting.evalBuffer(script.body, keys.length, ...keys, ...args);
    }
  }

  /** Holds back what is sent, until everything that has come in has been seen to; a cluster's client does so itself. */
  private gather(): void {
    if (this.client instanceof Cluster) return;
    const { stream } = this.client;
    if (stream.writableCorked > 0) return;
    stream.cork();
    setImmediate(() => stream.uncork());
  }

  private masterClients(): Redis[] {
    return this.client instanceof Cluster ? this.client.nodes('master') : [this.client];
  }

  private get scripting(): Scripting {
    return this.client as unknown as Scripting;
  }

  /** Each kind of refusal is told once, until Redis is found to be well. */
  private note(error: unknown): void {
    this.refused.note(error);
    const { kind } = this.refused;
    if (kind === null || kind === this.toldRefusal) return;
    this.toldRefusal = kind;
    this.options.onRefusal?.(this.refusal!);
  }

  private masters(): Set<string> {
    const owners = new Set<string>();
    if (this.client instanceof Cluster) for (const nodes of this.client.slots) if (nodes?.[0]) owners.add(nodes[0]);
    return owners;
  }

  private ready(): void {
    this.refused.forget();
    this.sessionNumber += 1;
    for (const listener of this.readyListeners) listener();
  }

  private untilReady(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error('no connection in time')),
        this.options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      );
      const stop = this.onReady(() => {
        stop();
        clearTimeout(timer);
        resolve();
      });
    });
  }

  private assertReady(): void {
    if (!this.isReady) throw this.failure(new Error(`the connection is "${this.client.status}"`));
  }

  private failure(error: unknown): Error {
    if (error instanceof LadderError) return error;
    const message = error instanceof Error ? error.message : String(error);
    if (RETIRED.test(message)) {
      const detail = 'The lists of this board have moved, and this process has not heard where to; try again shortly.';
      return new LadderError('PROJECTION_UNAVAILABLE', detail, { retryAfterSeconds: 1 }, { cause: error });
    }
    if (LOST.test(message)) {
      const detail = 'Ranks of this list were lost and are being brought back from PostgreSQL.';
      return new LadderError('PROJECTION_UNAVAILABLE', detail, { retryAfterSeconds: 1 }, { cause: error });
    }
    metrics.redisFailures.inc();
    this.note(error);
    const refusedForGood = error instanceof Error && error.name === 'ReplyError' && !NOT_NOW.test(message);
    if (refusedForGood) return new Error(`Redis refused a command: ${message}`, { cause: error });
    const isRefused = this.refusal !== null;
    const detail = isRefused ? 'Redis refuses the service: see /health/ready.' : `Redis does not answer (${message}).`;
    return new LadderError('PROJECTION_UNAVAILABLE', detail, {}, { cause: error });
  }

  /** Sentinels are asked for ever, so that their answer is waited for no longer than that of a server. */
  private beginConnecting(): Promise<void> {
    const connecting = this.client.connect();
    if (!this.clients.askSentinels) return connecting;
    connecting.catch(() => undefined);
    return this.untilReady();
  }
}

const SUBSCRIBER_PROBE_EVERY_MS = 2000;
const KEYS_SCANNED_AT_ONCE = 1000;
/** With this many tries a master that owns one slot in 1,000 is still found. */
const MARK_TAGS_TRIED_MAX = 20_000;
