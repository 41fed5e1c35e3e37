export * from './clock.js';
export * from './environment.js';
export * from './metrics.js';
export * from './retry.js';
