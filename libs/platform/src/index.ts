export * from './clock.js';
export * from './environment.js';
export * from './retry.js';
