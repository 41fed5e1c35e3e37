export * from './entry-enricher.js';
export * from './submission-check.js';
