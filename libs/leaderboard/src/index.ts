export { LadderError, type Board, type BoardDefinition } from '@laddercast/domain';
export * from '@laddercast/extension';
export * from './define-board.js';
export * from './leaderboard.module.js';
export type { Role } from './leaderboard.lifecycle.js';
export { namesOf, type RequestNames } from './request-scope.js';
export * from './start-app.js';
