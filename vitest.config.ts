import { fileURLToPath } from 'node:url';
import swc from 'unplugin-swc';
import { defineConfig } from 'vitest/config';
import tsconfig from './tsconfig.json' with { type: 'json' };

const alias = Object.fromEntries(
  Object.entries(tsconfig.compilerOptions.paths).map(([name, [file]]) => [
    name,
    fileURLToPath(new URL(file!, import.meta.url)),
  ]),
);

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
    // Side by side as far as there is a Redis for each: test files empty theirs.
    maxWorkers: Number(process.env['TEST_WORKERS'] ?? 1),
    // For what hangs: no test is to fail because the machine is slow.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
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
          include: ['test/{browser,e2e,faults,operation}/**/*.spec.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'services',
          include: ['examples/**/*.spec.ts', 'tools/**/*.spec.mjs', 'test/{integration,property}/**/*.spec.ts'],
        },
      },
    ],
  },
});
