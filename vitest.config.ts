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
    include: [
      'libs/**/*.spec.ts',
      'apps/**/*.spec.{ts,mjs}',
      'examples/**/*.spec.ts',
      'tools/**/*.spec.mjs',
      'bench/**/*.spec.ts',
      'test/**/*.spec.ts',
    ],
    // Side by side as far as there is a Redis for each: test files empty theirs.
    maxWorkers: Number(process.env['TEST_WORKERS'] ?? 1),
    testTimeout: 30_000,
    hookTimeout: 90_000,
  },
});
