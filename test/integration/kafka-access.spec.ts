// Real: a Kafka broker with TLS and SASL of the test's own, certificates made here, PostgreSQL, the relay, the adapter.
import { randomBytes } from 'node:crypto';
import {
  EventLog,
  kafkaAccess,
  KafkaEventLog,
  KafkaRelayTarget,
  OutboxRelay,
  PostgresEventLog,
} from '@laddercast/event-log';
import { KafkaTokens, LeaderboardModule, type KafkaToken } from '@laddercast/leaderboard';
import { Lanes, PostgresDatabase } from '@laddercast/ledger';
import { loadEnvironment } from '@laddercast/platform';
import {
  createTestDatabase,
  emptyTestRedis,
  freePort,
  optionalService,
  OutboxWriter,
  type TestDatabase,
} from '@laddercast/testing';
import { Injectable, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KafkaBrokers } from '../faults/kafka-brokers.js';
import { makeCertificates, type Certificates } from './certificates.js';

const SKIPPED = 'the tests on Kafka with TLS: no broker can be started. Install a JDK 17+ and Maven.';
const LANES = 2;
const SECURITY = 'org.apache.kafka.common.security';
const UNSECURED = `${SECURITY}.oauthbearer.internals.unsecured.OAuthBearerUnsecured`;
const PASSWORDS = { plain: 'plain-and-secret', 'scram-sha-256': 'secret-of-256', 'scram-sha-512': 'secret-of-512' };
/** How long the broker takes a token's connection for granted: kafkajs names itself again ten seconds before the end. */
const SESSION_MS = 12_000;
const TOKEN_MS = 2000;

const hasKafka = optionalService('TEST_KAFKA_BROKERS') !== undefined;
if (!hasKafka) {
  it.skipIf(process.env.REQUIRE_KAFKA !== '1')(`skips ${SKIPPED}`, () => {
    throw new Error(`REQUIRE_KAFKA=1 does not allow to skip ${SKIPPED}`);
  });
}

describe.skipIf(!hasKafka)('Kafka with TLS and SASL', () => {
  const undo: (() => Promise<unknown> | void)[] = [];
  let certificates: Certificates;
  let testDatabase: TestDatabase;
  let database: PostgresDatabase;
  const address = { SASL: '', MUTUAL: '' };

  beforeAll(async () => {
    certificates = makeCertificates();
    undo.push(() => certificates.remove());
    for (const name of ['SASL', 'MUTUAL'] as const) address[name] = `localhost:${await freePort()}`;
    const brokers = await KafkaBrokers.start(1, { listeners: address, ...brokerOptions(certificates) });
    undo.push(() => brokers.stop());
    testDatabase = await createTestDatabase();
    undo.push(() => testDatabase.drop());
    database = new PostgresDatabase({ url: testDatabase.url });
    await database.open({ migrate: true });
    undo.push(() => database.close());
  });
  afterAll(async () => {
    for (const step of undo.reverse()) await step();
  });

  const settingsOf = (more: Record<string, string>): Record<string, string> => ({
    DATABASE_URL: testDatabase.url,
    REDIS_URL: 'redis://127.0.0.1:6379',
    EVENT_LOG: 'kafka',
    KAFKA_BROKERS: address.SASL,
    KAFKA_PREFIX: `test-${randomBytes(4).toString('hex')}`,
    KAFKA_TLS: 'true',
    KAFKA_TLS_CA_FILE: certificates.ca,
    ...more,
  });

  function open(more: Record<string, string>): { log: KafkaEventLog; relay: OutboxRelay } {
    const environment = loadEnvironment(settingsOf(more));
    const options = {
      brokers: environment.KAFKA_BROKERS!.split(','),
      prefix: environment.KAFKA_PREFIX,
      lanes: new Lanes(LANES),
      log: () => undefined,
      connection: kafkaAccess(environment, () => Promise.reject(new Error('no token is needed here'))),
    };
    const outbox = new PostgresEventLog(database, { lanes: new Lanes(LANES), log: () => undefined });
    const log = new KafkaEventLog(database, options);
    const relay = new OutboxRelay(outbox, new KafkaRelayTarget(options));
    undo.push(async () => {
      await relay.stop();
      await log.close();
      await outbox.close();
    });
    return { log, relay };
  }

  async function goesThrough(log: EventLog, boardUid: number, players: string[]): Promise<void> {
    const seen: string[] = [];
    const subscription = await log.consume('secure', ['entry-changed'], ({ records }) => {
      for (const { event, key } of records) if ('boardUid' in event && event.boardUid === boardUid) seen.push(key);
      return Promise.resolve();
    });
    for (const player of players) {
      await new OutboxWriter(database).write(0, boardUid, [player]);
      await expect.poll(() => new Set(seen), { timeout: 30_000 }).toContain(player);
    }
    await subscription.stop();
  }

  const sasl = (mechanism: keyof typeof PASSWORDS, password = PASSWORDS[mechanism]): Record<string, string> => ({
    KAFKA_SASL_MECHANISM: mechanism,
    KAFKA_SASL_USERNAME: 'ladder',
    KAFKA_SASL_PASSWORD: password,
  });

  it.each(Object.keys(PASSWORDS) as (keyof typeof PASSWORDS)[])('carries events with %s', async (mechanism) => {
    const { log, relay } = open(sasl(mechanism));
    await log.start();
    relay.start();
    await goesThrough(log, 1, [`${mechanism}-1`, `${mechanism}-2`]);
    await relay.stop();
  });

  it('carries events where the brokers ask for a certificate', async () => {
    const own = { KAFKA_TLS_CERT_FILE: certificates.certificate, KAFKA_TLS_KEY_FILE: certificates.key };
    const { log, relay } = open({ KAFKA_BROKERS: address.MUTUAL, ...own });
    await log.start();
    relay.start();
    await goesThrough(log, 2, ['mutual']);
    await relay.stop();
  });

  it.each(Object.keys(PASSWORDS) as (keyof typeof PASSWORDS)[])(
    'says at once that a password of %s is wrong, and does not repeat it',
    async (mechanism) => {
      const failure = await open(sasl(mechanism, 'not-the-password'))
        .log.start()
        .catch((error: Error) => error.message);
      expect(failure).toMatch(/Kafka cannot be used at localhost:\d+: the brokers refuse KAFKA_SASL_USERNAME with its/);
      expect(failure).not.toContain('not-the-password');
    },
  );

  it('says at once that a certificate is not trusted', async () => {
    await expect(open({ ...sasl('plain'), KAFKA_TLS_CA_FILE: certificates.otherCa }).log.start()).rejects.toThrow(
      /Kafka cannot be used at .*: the certificate of the brokers is not trusted \(.*KAFKA_TLS_CA_FILE/,
    );
    const byNumber = { KAFKA_BROKERS: address.SASL.replace('localhost', '127.0.0.1') };
    await expect(open({ ...sasl('plain'), ...byNumber }).log.start()).rejects.toThrow(/certificate .* not trusted/);
  });

  it('says at once that the brokers miss a certificate, or want another', async () => {
    const stranger = { KAFKA_TLS_CERT_FILE: certificates.otherCa, KAFKA_TLS_KEY_FILE: certificates.otherKey };
    for (const own of [{}, stranger])
      await expect(open({ KAFKA_BROKERS: address.MUTUAL, ...own }).log.start()).rejects.toThrow(
        /Kafka cannot be used at .*: the brokers want another certificate from KAFKA_TLS_CERT_FILE, or one at all/,
      );
  });

  describe('with the tokens of a team', () => {
    let asked = 0;

    @Injectable()
    class TeamTokens extends KafkaTokens {
      token(): Promise<KafkaToken> {
        asked += 1;
        // What comes first may fail: the service that gives tokens starts at the same time.
        return asked === 1 ? Promise.reject(new Error('not yet')) : Promise.resolve(unsignedToken(TOKEN_MS));
      }
    }

    async function start(...extensions: Type<KafkaTokens>[]): Promise<EventLog> {
      const REDIS_URL = await emptyTestRedis();
      const environment = loadEnvironment(
        settingsOf({ REDIS_URL, KAFKA_SASL_MECHANISM: 'OAUTHBEARER', LOG_LEVEL: 'silent', LEDGER_LANES: `${LANES}` }),
      );
      const team = LeaderboardModule.forFeature({ extensions });
      @Module({ imports: [LeaderboardModule.forRoot({ environment, roles: ['projector'] }), team] })
      class ServiceOfTeam {}
      const app = await NestFactory.createApplicationContext(ServiceOfTeam, { abortOnError: false, logger: false });
      undo.push(() => app.close());
      return app.get(EventLog, { strict: false });
    }

    it('carries events beyond the life of a token', async () => {
      const log = await start(TeamTokens);
      const askedBefore = asked;
      const players = Array.from({ length: 6 }, (_, at) => `bearer-${at}`);
      for (const player of players) {
        await goesThrough(log, 3, [player]);
        await new Promise((resolve) => setTimeout(resolve, TOKEN_MS / 2));
      }
      expect(asked).toBeGreaterThan(askedBefore);
    });
  });
});

function brokerOptions({ both, ca }: Certificates): { values: Record<string, string>; scramUsers: string[] } {
  const jaas = (mechanism: string, module: string, options = ''): Record<string, string> => ({
    [`listener.name.sasl.${mechanism}.sasl.jaas.config`]: `${SECURITY}.${module} required${options};`,
  });
  const values = {
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_SSL,MUTUAL:SSL',
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': both,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': ca,
    'listener.name.mutual.ssl.client.auth': 'required',
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
    ...jaas('plain', 'plain.PlainLoginModule', ` user_ladder="${PASSWORDS.plain}"`),
    ...jaas('scram-sha-256', 'scram.ScramLoginModule'),
    ...jaas('scram-sha-512', 'scram.ScramLoginModule'),
    ...jaas('oauthbearer', 'oauthbearer.OAuthBearerLoginModule', ' unsecuredLoginStringClaim_sub="broker"'),
    'listener.name.sasl.oauthbearer.sasl.login.callback.handler.class': `${UNSECURED}LoginCallbackHandler`,
    'listener.name.sasl.oauthbearer.sasl.server.callback.handler.class': `${UNSECURED}ValidatorCallbackHandler`,
    'listener.name.sasl.oauthbearer.connections.max.reauth.ms': String(SESSION_MS),
  };
  const scramUsers = (['scram-sha-256', 'scram-sha-512'] as const).map(
    (mechanism) => `${mechanism.toUpperCase()}=[name=ladder,password=${PASSWORDS[mechanism]}]`,
  );
  return { values, scramUsers };
}

/** A JWT that nobody signed, as the broker of the test takes them. */
function unsignedToken(lifetimeMs: number): KafkaToken {
  const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  const lifetimeSeconds = lifetimeMs / 1000;
  const claims = { sub: 'ladder', iat: now, exp: now + 60 };
  return { value: `${part({ alg: 'none' })}.${part(claims)}.`, lifetimeSeconds };
}
