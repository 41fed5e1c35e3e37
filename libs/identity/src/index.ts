export { malformedCredentials } from './authentication-failure.js';
export * from './authenticator.js';
export * from './identity.js';
export * from './identity.module.js';
export * from './player-tokens.js';
export * from './rate-limits.js';
export * from './signing-keys.js';
