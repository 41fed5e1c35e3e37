import { randomBytes } from 'node:crypto';
import { createApp } from '@laddercast/leaderboard';
import { loadEnvironment } from '@laddercast/platform';
import { DatabaseClock } from '@laddercast/testing';
import type { DynamicModule, Type } from '@nestjs/common';
import { serviceOf } from '../../leaderboard/src/start-service.js';
import { caughtUp } from './caught-up.js';
import { playerToken } from './player-token.js';
import { testServers } from './test-servers.js';

export interface TestServiceOptions {
  /** The modules of the team. */
  modules: readonly (Type<object> | DynamicModule)[];
  /** Settings of docs/reference/settings.md, over those that a test has. */
  settings?: Readonly<Record<string, string>>;
}

/** An answer of the service, its body parsed. */
export interface TestAnswer<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

/** The whole service with a team's modules in this process, on a database and a Redis of its own. */
export interface TestService {
  /** Without a slash at its end. */
  readonly url: string;
  /** Of a key that may do everything. */
  readonly adminKey: string;
  /**
   * Calls the service.
   * @param path begins with a slash
   * @param options `body`: sent as JSON; `token`: a key or a player's token, by default the admin key; null: none
   */
  request<Body = Record<string, unknown>>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    options?: { body?: unknown; token?: string | null },
  ): Promise<TestAnswer<Body>>;
  /** The secret of a new API key with these scopes. */
  key(...scopes: string[]): Promise<string>;
  /** A token of this player, good for an hour. */
  playerToken(playerId: string): Promise<string>;
  /** What a module of the process made, by its class. */
  get<Part>(token: { prototype: Part }): Part;
  /**
   * Resolves when everything written before is in the ranks, and every consumer group has handled it, the team's as well.
   * Reads that come after it show it.
   * @throws after 30 s, with the groups that are behind
   */
  whenApplied(): Promise<void>;
  /** The ledger's clock in the test's hands: boards reset, and windows close, by it. */
  clock(): Promise<Pick<DatabaseClock, 'stopAt' | 'goOnFrom' | 'nowMs'>>;
  /** Ends the service and what was started for it. */
  close(): Promise<void>;
}

/**
 * Starts the service with modules of a team, as `startService` runs it with every role. Where it runs: see `testServers`.
 * The first start in a project makes a database, which takes some seconds.
 */
export async function startTestService({ modules, settings = {} }: TestServiceOptions): Promise<TestService> {
  const [adminKey, jwtSecret] = [secret(), secret()];
  const servers = await testServers();
  const environment = loadEnvironment({
    DATABASE_URL: servers.databaseUrl,
    REDIS_URL: servers.redisUrl,
    BOOTSTRAP_ADMIN_KEY: adminKey,
    JWT_SECRET: jwtSecret,
    LOG_LEVEL: 'warn',
    DATABASE_MAY_FORGET: 'true',
    ...settings,
  });
  const ends: (() => Promise<void>)[] = [() => servers.close()];
  const close = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const app = await createApp(serviceOf({ name: 'test', modules }), environment);
    ends.push(() => app.close());
    await app.init();
    await app.startAllMicroservices();
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const request = requestTo(url, adminKey);
    let clock: Promise<DatabaseClock> | undefined;
    return {
      url,
      adminKey,
      request,
      key: async (...scopes) => {
        const { status, body } = await request('POST', '/v1/admin/api-keys', { body: { name: 'test', scopes } });
        if (status !== 201) throw new Error(`No key could be made: ${JSON.stringify(body)}`);
        return body['secret'] as string;
      },
      playerToken: (playerId) => playerToken(jwtSecret, playerId),
      get: (token) => app.get(token as Type, { strict: false }),
      whenApplied: () => caughtUp(app),
      clock: () => {
        clock ??= DatabaseClock.of(servers.databaseUrl).then((made) => {
          ends.push(() => made.close());
          return made;
        });
        return clock;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const secret = (): string => randomBytes(24).toString('hex');

const requestTo =
  (url: string, adminKey: string): TestService['request'] =>
  async <Body>(method: string, path: string, options: { body?: unknown; token?: string | null } = {}) => {
    const { body, token = adminKey } = options;
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token !== null && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('Content-Type') ?? '');
    return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as Body };
  };
