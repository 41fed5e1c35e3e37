const config = {
  root: true,
  parser: '@typescript-eslint/parser',
  parserOptions: { ecmaVersion: 2023, sourceType: 'module' },
  plugins: ['@typescript-eslint'],
  extends: ['eslint:recommended', 'plugin:@typescript-eslint/recommended'],
  env: { node: true, es2023: true },
  ignorePatterns: [
    'dist',
    'node_modules',
    '.data',
    'apps/standalone/public/vendor',
    'clients/typescript/src/generated',
  ],
  rules: {
    eqeqeq: ['error', 'always', { null: 'ignore' }],
    'no-console': 'error',
    'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
    '@typescript-eslint/no-explicit-any': 'error',
    '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    '@typescript-eslint/no-extraneous-class': 'off',
  },
  overrides: [
    { files: ['tools/**/*.mjs', 'bench/**/*.ts'], rules: { 'no-console': 'off' } },
    { files: ['apps/standalone/public/**/*.js'], env: { browser: true, node: false } },
  ],
};

export { config as 'module.exports' };
