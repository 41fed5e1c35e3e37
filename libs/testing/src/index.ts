export * from './postgres-test-database.js';
export * from './redis-test-server.js';
export * from './services.js';
