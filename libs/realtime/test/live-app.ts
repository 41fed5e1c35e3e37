import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { Authenticator, PlayerTokens, RateLimits, type RateLimitRates, type SigningKeys } from '@laddercast/identity';
import { NO_EXTENSIONS } from '@laddercast/extension';
import {
  BoardCatalog,
  LedgerClock,
  PostgresDatabase,
  RatingAlgorithms,
  WindowCatalog,
  type KeyLook,
} from '@laddercast/ledger';
import { ClientAddresses, TokenLeases } from '@laddercast/platform';
import { Announcements, SnapshotStore } from '@laddercast/projections';
import { CircleMembers, EntryDetails, ListResolver, OwnWorlds, RankEstimates } from '@laddercast/queries';
import {
  createLiveAdapter,
  gatewayProviders,
  LiveOptions,
  LiveOrigins,
  RankGateway,
  SnapshotTick,
} from '@laddercast/realtime';
import { SignJWT } from 'jose';
import type { TestBoards } from './boards.js';

const JWT_SECRET = 'a secret of the tests, 32 characters';
export const READ_KEY = 'a-key-with-the-scope-read';
/** Keys that operators took back. */
export const revokedKeys = new Set<string>();
/** What other keys are, and what becomes of them. */
export const keyLooks = new Map<string, KeyLook>();
/** What keys are looked up in: how often it was asked, and until when it does not answer. */
export const keyStore = { asked: 0, answers: Promise.resolve() };
/** Where tokens' keys come from, beside the secret. */
export const issuer: { signingKeys: SigningKeys | null } = { signingKeys: null };

function lookAt(token: string): KeyLook {
  const look = keyLooks.get(token);
  if (look) return look;
  if (revokedKeys.has(token)) return { state: 'revoked' };
  if (token !== READ_KEY) return { state: 'unknown' };
  return { state: 'valid', key: { keyId: 'k', name: 'k', scopes: ['read'] }, validForMs: null };
}

/** A player's token that ends in `lifeSeconds`. */
export function playerToken(playerId: string, lifeSeconds = 3600): Promise<string> {
  const expiresAt = Math.floor(Date.now() / 1000) + lifeSeconds;
  return new SignJWT({})
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(playerId)
    .setExpirationTime(expiresAt)
    .sign(new TextEncoder().encode(JWT_SECRET));
}

export interface LiveApp {
  url: string;
  gateway: RankGateway;
  close(): Promise<void>;
}

/** A store of buckets that is away: each gateway counts for itself. */
class NoLeases extends TokenLeases {
  override lease(): Promise<never> {
    return Promise.reject(new Error('There is no store of buckets.'));
  }
}

/** A ledger in which there are no pools. */
const NO_POOLS = { query: () => Promise.resolve([]) };

/** How a gateway of a test is set up. */
export interface LiveSetUp extends Partial<LiveOptions> {
  rates?: Partial<RateLimitRates>;
  origins?: string;
}

const NO_LIMITS: RateLimitRates = {
  keyPerSecond: 0,
  playerPerSecond: 0,
  addressPerSecond: 0,
  failedIdentityPerSecond: 0,
  windowSeconds: 2,
};

/** What a gateway process reads. */
export interface LivePorts {
  boards: TestBoards;
  resolver: ListResolver;
  store: SnapshotStore;
  announcements: Announcements;
  details: EntryDetails;
  members: CircleMembers;
  estimates: RankEstimates;
  /** Where players' own entries are read; absent: there are none. */
  worlds?: OwnWorlds;
  /** Where ratings are read; absent: there are no pools. */
  database?: PostgresDatabase;
}

/** A gateway process: a real HTTP server on a free port, over the ports given. */
export async function startLiveApp(ports: LivePorts, { rates, origins, ...options }: LiveSetUp = {}): Promise<LiveApp> {
  const look = async (tokens: readonly string[]): Promise<KeyLook[]> => {
    keyStore.asked += 1;
    await keyStore.answers;
    return tokens.map(lookAt);
  };
  const keys = { look };
  const module = await Test.createTestingModule({
    providers: [
      { provide: LiveOptions, useValue: new LiveOptions(options) },
      { provide: LiveOrigins, useValue: new LiveOrigins(origins) },
      { provide: ClientAddresses, useValue: new ClientAddresses('127.0.0.0/8') },
      { provide: RateLimits, useValue: new RateLimits(new NoLeases(), { ...NO_LIMITS, ...rates }) },
      { provide: SnapshotStore, useValue: ports.store },
      { provide: Announcements, useValue: ports.announcements },
      { provide: EntryDetails, useValue: ports.details },
      { provide: CircleMembers, useValue: ports.members },
      { provide: RankEstimates, useValue: ports.estimates },
      { provide: OwnWorlds, useValue: ports.worlds ?? new OwnWorlds(NO_POOLS) },
      { provide: ListResolver, useValue: ports.resolver },
      {
        provide: Authenticator,
        useValue: new Authenticator(keys, new PlayerTokens({ secret: JWT_SECRET, ...issuer })),
      },
      { provide: PostgresDatabase, useValue: ports.database ?? NO_POOLS },
      { provide: RatingAlgorithms, useValue: new RatingAlgorithms(NO_EXTENSIONS) },
      { provide: BoardCatalog, useValue: ports.boards.catalog() },
      { provide: LedgerClock, useValue: ports.boards.clock },
      { provide: WindowCatalog, useValue: ports.boards.windowCatalog() },
      SnapshotTick,
      ...gatewayProviders,
    ],
  }).compile();
  const app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter(), { logger: ['warn', 'error'] });
  app.useWebSocketAdapter(createLiveAdapter(app));
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as { port: number };
  return { url: `ws://127.0.0.1:${port}/v1/live`, gateway: app.get(RankGateway), close: () => app.close() };
}
