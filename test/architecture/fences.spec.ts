// Real: every source file of the repository, read by TypeScript's own parser.
import { describe, expect, it } from 'vitest';
import { faultOfVendor, worldAccesses, type WorldAccess } from './fences.js';
import { importsOf } from './imports.js';
import { isCode, isTest, isTypeScript, repositoryFiles } from './source-tree.js';

const files = repositoryFiles();

/** The one file for each; what is published for tests stands outside, as the tests do. */
const ONLY_IN: Record<'environment' | 'clock', string> = {
  environment: 'libs/platform/src/environment.ts',
  clock: 'libs/platform/src/clock.ts',
};

describe('client libraries of other products', () => {
  it('are imported only by the files named after them', () => {
    expect(
      files
        .filter(isTypeScript)
        .flatMap(importsOf)
        .flatMap((one) => faultOfVendor(one) ?? []),
    ).toEqual([]);
  });

  it('are each used somewhere, so that the fences have something to hold', () => {
    const used = new Set(
      files
        .filter(isTypeScript)
        .flatMap(importsOf)
        .map(({ specifier }) => specifier),
    );
    for (const name of ['kafkajs', 'ioredis', 'pg', 'typeorm', 'openskill']) expect(used).toContain(name);
  });

  it.each([
    ['libs/event-log/src/kafka/outbox-relay.ts', `import { Kafka } from 'kafkajs';`, 'kafka-* files'],
    ['libs/event-log/src/kafka/outbox-relay.ts', `import type { Kafka } from 'kafkajs';`, 'kafka-* files'],
    ['libs/queries/src/a.ts', `import { Redis } from 'ioredis';`, 'redis-* files'],
    ['libs/queries/src/a.ts', `const { default: Redis } = await import('ioredis/built/Redis.js');`, 'redis-* files'],
    ['libs/ledger/src/lanes/lanes.ts', `import pg from 'pg';`, 'postgres-* files'],
    ['libs/ledger/src/lanes-postgres.ts', `import pg from 'pg';`, 'postgres-* files'],
    ['test/e2e/submit.spec.ts', `import pg from 'pg';`, 'postgres-* files'],
    ['libs/commands/src/postgres-commands.ts', `import { DataSource } from 'typeorm';`, 'libs/ledger'],
    ['libs/domain/src/ratings/a.ts', `import { rate } from 'openskill';`, 'openskill-* files'],
    ['apps/api/src/a.ts', `import { TypeOrmModule } from '@nestjs/typeorm';`, 'libs/ledger'],
  ])('are refused in %s: %s', (path, text, rule) => {
    expect(importsOf({ path, text }).flatMap((one) => faultOfVendor(one) ?? [])).toEqual([
      expect.stringContaining(`is for ${rule} only`),
    ]);
  });

  it.each([
    ['libs/event-log/src/kafka/kafka-event-log.ts', `import { Kafka } from 'kafkajs';`],
    ['test/integration/event-log/event-log-kafka.spec.ts', `import { Kafka } from 'kafkajs';`],
    ['test/integration/nodes/redis-process.ts', `import { Redis } from 'ioredis';`],
    ['libs/ledger/src/entities/board.entity.ts', `import { Entity } from 'typeorm';`],
    ['libs/queries/src/a.ts', `import { Logger } from 'pino';`],
  ])('are allowed in %s: %s', (path, text) => {
    expect(importsOf({ path, text }).flatMap((one) => faultOfVendor(one) ?? [])).toEqual([]);
  });
});

describe('the environment, the clock and the console', () => {
  const running = files.filter(
    (file) => isTypeScript(file) && /^(libs|apps|packages|examples)\//.test(file.path) && !isTest(file.path),
  );

  it.each(['environment', 'clock'] as const)('the %s is read in one file', (what) => {
    const readers = running
      .filter(({ path }) => !/^(libs|packages)\/testing\//.test(path))
      .filter((file) => worldAccesses(file).some((access) => access.what === what))
      .map(({ path }) => path);
    expect(readers).toEqual([ONLY_IN[what]]);
  });

  it('nothing writes to the console: what happened is logged', () => {
    const writers = [...running, ...files.filter((file) => isCode(file) && /^apps\/[^/]+\/public\//.test(file.path))];
    expect(
      writers.flatMap((file) =>
        worldAccesses(file)
          .filter(({ what }) => what === 'console')
          .map(({ line, text }) => `${file.path}:${line} ${text}`),
      ),
    ).toEqual([]);
  });

  it.each<[WorldAccess['what'], string]>([
    ['environment', `const port = process.env.PORT;`],
    ['environment', `const port = process['env']['PORT'];`],
    ['environment', `const { env } = process;`],
    ['environment', `const { env: settings } = process;`],
    ['environment', `import { env } from 'node:process';`],
    ['environment', `const all = globalThis.process.env;`],
    ['clock', `const now = Date.now();`],
    ['clock', `const now = Date['now']();`],
    ['clock', `const clock = Date.now;`],
    ['clock', `const now = new Date();`],
    ['clock', `const now = new Date;`],
    ['clock', `const now = Date();`],
    ['clock', `const now = performance.now();`],
    ['clock', `const now = process.hrtime.bigint();`],
    ['console', `console.log('here');`],
    ['console', `console['error']('here');`],
    ['console', `rows.forEach(console.log);`],
  ])('finds the %s in: %s', (what, text) => {
    expect(worldAccesses({ path: 'a.ts', text }).map((access) => access.what)).toContain(what);
  });

  it.each([
    `const date = new Date(unixMs);`,
    `const day = Date.UTC(2026, 0, 1);`,
    `setTimeout(tick, 100);`,
    `process.exit(1);`,
    `// console.log(Date.now(), process.env)`,
    `const text = 'process.env.PORT';`,
    `const { env } = settings;`,
    `import { env } from './settings.js';`,
  ])('finds nothing in: %s', (text) => {
    expect(worldAccesses({ path: 'a.ts', text })).toEqual([]);
  });
});
