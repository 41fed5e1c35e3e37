export * from './board.saga.js';
export * from './player.saga.js';
export * from './guild.saga.js';
export * from './saga-failure.filter.js';
export * from './saga-pattern.js';
export * from './saga-server.js';
export * from './score.saga.js';
export * from './window.saga.js';
