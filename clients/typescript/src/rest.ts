/**
 * `@laddercast/client/rest`: reads and submits, and nothing else.
 */
export { createRest } from './rest/rest.js';
export type { Rest, RestOptions } from './rest/rest.js';
export type { RestBoard, SubmitOptions } from './rest/rest-board.js';
export type { Call, CallOptions, Query } from './rest/http.js';
export type { TokenSource } from './rest/tokens.js';
export { LadderProblem } from './rest/problem.js';
export type { ClientCode, Fault } from './rest/problem.js';
export { formatScore } from './format-score.js';
export type { ErrorCode } from './generated/errors.js';
export type * from './api.js';
export type { Clock, HttpAnswer } from './world.js';
