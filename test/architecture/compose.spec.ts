import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeEnvironment, loadEnvironment } from '@laddercast/platform';
import { describe, expect, it } from 'vitest';
import { canReadYaml as canRead, readYaml, YAML_REMEDY } from './yaml.js';

interface Service {
  image?: string;
  environment?: Record<string, string | number>;
  depends_on?: Record<string, { condition: string }>;
  volumes?: string[];
  ports?: string[];
  healthcheck?: object;
  build?: { dockerfile: string };
}
interface Compose {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
}

const FILES = ['compose.yaml', 'compose.cluster.yaml'];
const SKIPPED = `the form of the compose files: ${YAML_REMEDY}`;

const read = (file: string): Compose => readYaml(join('docker', file)) as Compose;

/** What a shell that has set every variable would put there. */
const filled = (text: string): string =>
  text.replace(/\$\{(\w+)(:[?-][^}]*)?\}/g, 'a-text-of-thirty-two-characters-or-more');

if (!canRead) it.skip(`skips ${SKIPPED}`, () => undefined);

describe.skipIf(!canRead).each(FILES)('docker/%s', (file) => {
  const { services, volumes }: Compose = canRead ? read(file) : { services: {}, volumes: {} };
  const apps = Object.values(services).filter(({ environment }) => environment?.['APP'] !== undefined);
  const settings = new Set([...describeEnvironment().matchAll(/^(?:# )?([A-Z0-9_]+)=/gm)].map(([, name]) => name));

  it('names only services, volumes and files that there are', () => {
    for (const [name, service] of Object.entries(services)) {
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        expect(services, `${name} needs ${other}`).toHaveProperty(other);
        if (condition === 'service_healthy') expect(services[other], other).toHaveProperty('healthcheck');
      }
      for (const volume of service.volumes ?? []) {
        const [source] = volume.split(':');
        if (source!.startsWith('.')) expect(existsSync(join('docker', source!)), volume).toBe(true);
        else expect(volumes, volume).toHaveProperty(source!);
      }
      if (service.build) expect(existsSync(service.build.dockerfile)).toBe(true);
      // To this machine alone: TLS belongs in front.
      for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  it('gives the apps settings that they take', () => {
    expect(new Set(apps.map(({ environment }) => environment!['APP']))).toEqual(
      new Set(['api', 'projector', 'gateway']),
    );
    for (const { environment } of apps) {
      const given = Object.entries(environment!).filter(([name]) => name !== 'APP');
      expect(given.map(([name]) => name).filter((name) => !settings.has(name))).toEqual([]);
      loadEnvironment(Object.fromEntries(given.map(([name, value]) => [name, filled(String(value))])));
    }
  });

  it('has each api found by the others, where there are several', () => {
    const apis = Object.entries(services).filter(([, { environment }]) => environment?.['APP'] === 'api');
    const hosts = apis.map(([, { environment }]) => String(environment!['LANE_ADDRESS']).split(':')[0]);
    if (apis.length > 1) expect(hosts).toEqual(apis.map(([name]) => name));
  });
});

describe.skipIf(!canRead)('docker/compose.cluster.yaml', () => {
  const { services }: Compose = canRead ? read('compose.cluster.yaml') : { services: {}, volumes: {} };
  const named = (prefix: string): Service[] =>
    Object.entries(services).flatMap(([name, service]) => (name.startsWith(prefix) ? [service] : []));

  it('has two of each app, three brokers, six nodes of Redis and two of PostgreSQL', () => {
    expect(['api-', 'projector-', 'gateway-', 'kafka-', 'postgres'].map((prefix) => named(prefix).length)).toEqual([
      2, 2, 2, 3, 2,
    ]);
    const { REDIS_URL, KAFKA_BROKERS } = services['api-1']!.environment!;
    const nodes = String(REDIS_URL)
      .split(',')
      .map((url) => new URL(url).hostname);
    expect(nodes).toEqual([1, 2, 3, 4, 5, 6].map((n) => `redis-${n}`));
    const brokers = String(KAFKA_BROKERS)
      .split(',')
      .map((broker) => broker.split(':')[0]!);
    for (const name of [...nodes, ...brokers]) expect(services).toHaveProperty(name);
  });

  it('has every record in three brokers, and acknowledges it in two', () => {
    const ids = named('kafka-').map(({ environment }) => environment!['KAFKA_NODE_ID']);
    expect(new Set(ids).size).toBe(3);
    for (const { environment } of named('kafka-')) {
      const copies = Object.entries(environment!).filter(([name]) => name.endsWith('_REPLICATION_FACTOR'));
      const least = Object.entries(environment!).filter(([name]) => /_MIN_(ISR|INSYNC_REPLICAS)$/.test(name));
      expect([copies.length, least.length]).toEqual([4, 3]);
      expect(copies.every(([, value]) => value === 3) && least.every(([, value]) => value === 2)).toBe(true);
    }
  });
});
