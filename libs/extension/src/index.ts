export * from './entry-enricher.js';
export * from './extensions.js';
export * from './friend-graph.js';
export * from './integrity-rule.js';
export * from './kafka-tokens.js';
export * from './log-saga.js';
export * from './submission-check.js';
