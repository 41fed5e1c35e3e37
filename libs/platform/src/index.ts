export * from './clock.js';
export * from './described-error.js';
export * from './environment.js';
export * from './metrics.js';
export * from './redaction.js';
export * from './request-id.js';
export * from './retry.js';
export * from './tracing.js';
