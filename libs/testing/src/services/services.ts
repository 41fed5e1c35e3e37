export type TestService =
  | 'TEST_DATABASE_URL'
  | 'TEST_REDIS_URL'
  | 'TEST_REDIS_BINARY'
  | 'TEST_KAFKA_BROKERS'
  | 'TEST_KCAT'
  | 'TEST_CHROMIUM'
  | 'TEST_SCHEMATHESIS';

/** The address of a service that `npm test` started, or undefined when this machine has none. */
export function optionalService(name: TestService): string | undefined {
  // Test files that run side by side have a service each where they would empty it under each other.
  return process.env[`${name}_${process.env['VITEST_POOL_ID']}`] || process.env[name] || undefined;
}

/** @throws when the tests were not started by `npm test` */
export function requiredService(name: TestService): string {
  const value = optionalService(name);
  if (!value) throw new Error(`${name} is not set: run the tests with "npm test", which starts what they need.`);
  return value;
}
