import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AddressInfo, Server, Socket } from 'node:net';
import { monotonicMs, RateLimitedLog } from '@laddercast/platform';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { ClientTCP, ServerTCP } from '@nestjs/microservices';
import { LRUCache } from 'lru-cache';
import { concatMap, firstValueFrom, from, map, timeout } from 'rxjs';
import { PostgresDatabase, type SqlRunner } from '../database/postgres-database.js';
import { settledValue } from '../lanes/installation.js';
import type { LaneOwner } from './lane-owners.js';

/** Answers a message of another process. */
export type TakeMessage = (text: string) => Promise<string>;

/** What goes over the wire: a text, and what proves that its sender has the secret of this installation. */
interface Sealed {
  text: string;
  seal: string;
}

const PATTERN = 'lane-writes';
/** A message of 512 writes, each with 1 KiB of metadata and all columns, in characters. */
const MESSAGE_LENGTH_MAX = 4_000_000;
/** Far more than an installation has processes; each may hold a message. */
const CONNECTIONS_MAX = 128;
const OWNERS_MAX = 256;
/** How a connection fails whose other end is no more. */
const GONE = new Set(['ECONNRESET', 'EPIPE']);
/** How often the log tells of messages that are not of this installation. */
const STRANGERS_EVERY_MS = 60_000;

/**
 * Carries messages to the owners of lanes, and takes those of other processes: over TCP, each sealed by a secret of the
 * installation, which who reads PostgreSQL has.
 */
@Injectable()
export class LaneLink {
  private readonly log = new Logger('lanes');
  private readonly failures = new RateLimitedLog('lanes');
  private server: OwnPortServer | null = null;
  private secret: Promise<string> | null = null;
  private strangerToldAtMs = -Infinity;
  private readonly clients = new LRUCache<string, ClientTCP>({
    max: OWNERS_MAX,
    dispose: (client) => void client.close(),
  });

  constructor(@Inject(PostgresDatabase) private readonly database: SqlRunner) {}

  /**
   * Takes messages until {@link close}.
   * @param port 0: any free one
   * @returns the port
   */
  async listen(host: string, port: number, take: TakeMessage): Promise<number> {
    const secret = await this.readSecret();
    const server = new OwnPortServer({ host, port, maxBufferSize: MESSAGE_LENGTH_MAX });
    server.addHandler(PATTERN, async (message: Sealed) => {
      if (isSealed(message, secret)) return sealed(await take(message.text), secret);
      this.tellStranger();
      return null;
    });
    this.server = server;
    return server.open(host, port);
  }

  /** The owner's answer; null: none came within `withinMs`, and one that comes later is not heard. */
  async send({ host, port }: LaneOwner, text: string, withinMs: number): Promise<string | null> {
    try {
      const answered = from(this.readSecret()).pipe(
        concatMap((secret) => {
          const sent = this.clientOf(host, port).send<Sealed, Sealed>(PATTERN, sealed(text, secret));
          return sent.pipe(map((answer) => (isSealed(answer, secret) ? answer.text : null)));
        }),
        timeout(withinMs),
      );
      return await firstValueFrom(answered);
    } catch {
      return null;
    }
  }

  close(): void {
    this.clients.clear();
    this.server?.close();
    this.server = null;
  }

  private tellStranger(): void {
    if (monotonicMs() - this.strangerToldAtMs < STRANGERS_EVERY_MS) return;
    this.strangerToldAtMs = monotonicMs();
    this.log.warn('A message without the seal of this installation came to the port of the lanes, and was not taken.');
  }

  private tell(address: string, error: NodeJS.ErrnoException): void {
    // It ended, as in each rolling restart: another process owns its lanes a moment later.
    if (GONE.has(error.code ?? '')) this.log.debug(`The owner of lanes at ${address} is gone: ${error.message}`);
    else this.failures.warn(`At ${address} no owner of lanes is reached; what was for it is written from here`, error);
  }

  private clientOf(host: string, port: number): ClientTCP {
    const key = `${host}:${port}`;
    const known = this.clients.get(key);
    if (known) return known;
    const client = new PromptClient({ host, port, maxBufferSize: MESSAGE_LENGTH_MAX }, (error) =>
      this.tell(key, error),
    );
    this.clients.set(key, client);
    return client;
  }

  /** Drawn by the first process that asks for it. */
  private readSecret(): Promise<string> {
    this.secret ??= settledValue(this.database, 'lane-secret', randomBytes(32).toString('hex')).catch(
      (error: unknown) => {
        this.secret = null;
        throw error;
      },
    );
    return this.secret;
  }
}

/** Messages leave at once: one waits for the answer to the one before. */
class PromptClient extends ClientTCP {
  constructor(
    options: ConstructorParameters<typeof ClientTCP>[0],
    private readonly tell: (error: NodeJS.ErrnoException) => void,
  ) {
    super(options);
  }

  override handleError(error: NodeJS.ErrnoException): void {
    this.tell(error);
  }

  override createSocket(): ReturnType<ClientTCP['createSocket']> {
    const socket = super.createSocket();
    (socket.netSocket as Socket).setNoDelay(true);
    return socket;
  }
}

/** A server whose port is its own, and not shared with the processes beside it. */
class OwnPortServer extends ServerTCP {
  /** Anybody can send what is no message: nobody is told of each. */
  protected override handleError(): void {
    return;
  }

  override async handleEvent(): Promise<void> {
    return;
  }

  open(host: string, port: number): Promise<number> {
    const server = this.unwrap<Server>();
    server.maxConnections = CONNECTIONS_MAX;
    server.on('connection', (socket: Socket) => socket.setNoDelay(true));
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, exclusive: true }, () => resolve((server.address() as AddressInfo).port));
    });
  }
}

const sealOf = (text: string, secret: string): Buffer => createHmac('sha256', secret).update(text).digest();

const sealed = (text: string, secret: string): Sealed => ({ text, seal: sealOf(text, secret).toString('base64') });

function isSealed(message: unknown, secret: string): message is Sealed {
  const { text, seal } = (message ?? {}) as Partial<Sealed>;
  if (typeof text !== 'string' || typeof seal !== 'string') return false;
  const given = Buffer.from(seal, 'base64');
  const right = sealOf(text, secret);
  return given.length === right.length && timingSafeEqual(given, right);
}
