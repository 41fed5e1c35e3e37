export * from './postgres-database.js';
export * from './postgres-errors.js';
export * from './api-key-store.js';
export * from './board-catalog.js';
export * from './board-registry.js';
export * from './lanes.js';
export * from './ledger.js';
export * from './writes.js';
export { keptAfterEndMs } from './batch-fold.js';
