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
 * The files of a project one after the other: a worker keeps the modules that it has loaded for as long as the next file
 * is of the same project.
 */
class ProjectByProject extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = ['processes', 'services', 'units'];
    const rank = (file: TestSpecification): number => {
      const long = LONG.findIndex((part) => file.moduleId.includes(`/${part}`));
      return projects.indexOf(file.project.name) * (LONG.length + 1) + (long < 0 ? LONG.length : long);
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
    // What one project has compiled, the others read.
    ...(modules !== undefined && { experimental: { fsModuleCache: true, fsModuleCachePath: modules } }),
    // Side by side as far as there is a Redis for each: test files empty theirs.
    maxWorkers: Number(process.env['TEST_WORKERS'] ?? 1),
    sequence: { sequencer: ProjectByProject },
    // For what hangs: no test is to fail because the machine is slow.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'units',
          // A worker loads the modules of the project once, for all files: that is most of what these cost.
          isolate: false,
          include: [
            'libs/**/*.spec.ts',
            'apps/**/*.spec.{ts,mjs}',
            'clients/**/*.spec.ts',
            'bench/**/*.spec.ts',
            'test/architecture/**/*.spec.ts',
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'processes',
          // What these test runs in processes of its own: nothing of it stays behind in the worker.
          isolate: false,
          include: ['test/{browser,client,e2e,faults,operation}/**/*.spec.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'services',
          // What these test lives in the worker, and ends with the file that started it.
          isolate: false,
          // A project of its own, with its own tests: test/operation/team-app.spec.ts runs them.
          exclude: ['**/node_modules/**', 'examples/team-app/**'],
          include: ['examples/**/*.spec.ts', 'tools/**/*.spec.mjs', 'test/{integration,property}/**/*.spec.ts'],
        },
      },
    ],
  },
});
