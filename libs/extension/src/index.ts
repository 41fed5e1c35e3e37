export * from './entry-enricher.js';
export * from './friend-graph.js';
export * from './submission-check.js';
