import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import swc from 'unplugin-swc';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';
import tsconfig from './tsconfig.json' with { type: 'json' };

const alias = Object.fromEntries(
  Object.entries(tsconfig.compilerOptions.paths).map(([name, [file]]) => [
    name,
    fileURLToPath(new URL(file!, import.meta.url)),
  ]),
);

/** The folder for compiled modules; `npm test` names one that goes with the run. */
const modules = process.env['TEST_MODULE_CACHE'];

/** What takes longest begins first, so that no worker is left alone with one at the end. */
const LONG = [
  'test/e2e/demo.',
  'test/e2e/schemathesis.',
  'operation/team-app.',
  'scenarios/kafka-lost.',
  'scenarios/hanging.',
  'property/ranks.',
  'property/storm/',
  'property/retax/',
];

/**
 * Three kinds of files: what they test runs in processes of its own; it lives in the worker, and ends with the file that started
 * it; and units.
 */
const KINDS = [
  /^test\/(browser|client|e2e|faults|operation)\//,
  /^(examples|tools|test\/(integration|property))\//,
  /^/,
];

/** First what waits most, then what computes: the workers end at the same time. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const root = fileURLToPath(new URL('.', import.meta.url));
    const rank = ({ moduleId }: TestSpecification): number => {
      const path = relative(root, moduleId);
      const kind = KINDS.findIndex((folders) => folders.test(path));
      const long = LONG.findIndex((part) => path.includes(part));
      return kind * (LONG.length + 1) + (long < 0 ? LONG.length : long);
    };
    const bySize = await super.sort(files);
    return bySize
      .map((file) => ({ file, rank: rank(file) }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ file }) => file);
  }
}

export default defineConfig({
  resolve: { alias },
  oxc: false,
  plugins: [
    swc.vite({
      module: { type: 'es6' },
      jsc: {
        target: 'es2022',
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
        keepClassNames: true,
      },
    }),
  ],
  test: {
    // What is compiled once is read by a second look at failures, too.
    ...(modules !== undefined && { experimental: { fsModuleCache: true, fsModuleCachePath: modules } }),
    // Side by side as far as there is a Redis for each: test files empty theirs.
    maxWorkers: Number(process.env['TEST_WORKERS'] ?? 1),
    sequence: { sequencer: LongestFirst },
    // For what hangs: no test is to fail because the machine is slow.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    // A worker loads each module once, for all files: that is most of what many of them cost.
    isolate: false,
    // A project of its own, with its own tests: test/operation/team-app.spec.ts runs them.
    exclude: ['**/node_modules/**', 'examples/team-app/**'],
    include: ['{libs,clients,bench,examples,test}/**/*.spec.ts', 'apps/**/*.spec.{ts,mjs}', 'tools/**/*.spec.mjs'],
  },
});
