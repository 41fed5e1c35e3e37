/** One row of the error table: what a client sees for a code, and whether the same call can succeed later. */
interface ErrorRow {
  status: number;
  title: string;
  retriable: boolean;
}

/**
 * Every error the service answers, by its stable code.
 * `retriable` means that the very same request can succeed later without the client changing it.
 */
export const ERRORS = {
  VALIDATION_FAILED: { status: 400, title: 'The request is not well formed', retriable: false },
  MALFORMED_JSON: { status: 400, title: 'The body is not JSON', retriable: false },
  UNAUTHENTICATED: { status: 401, title: 'A valid identity is needed', retriable: false },
  FORBIDDEN: { status: 403, title: 'This identity may not do that', retriable: false },
  PLAYER_BANNED: { status: 403, title: 'The player is banned', retriable: false },
  NOT_FOUND: { status: 404, title: 'There is nothing at this address', retriable: false },
  BOARD_NOT_FOUND: { status: 404, title: 'There is no such board', retriable: false },
  ENTRY_NOT_FOUND: { status: 404, title: 'The player has no entry', retriable: false },
  WINDOW_NOT_FOUND: { status: 404, title: 'The board has no such window', retriable: false },
  SCOPE_NOT_FOUND: { status: 404, title: 'The board has no such scope', retriable: false },
  PLAYER_NOT_FOUND: { status: 404, title: 'There is no such player', retriable: false },
  GUILD_NOT_FOUND: { status: 404, title: 'There is no such guild', retriable: false },
  CIRCLE_NOT_FOUND: { status: 404, title: 'There is no such circle', retriable: false },
  DEAD_LETTER_NOT_FOUND: { status: 404, title: 'There is no such dead letter', retriable: false },
  API_KEY_NOT_FOUND: { status: 404, title: 'There is no such API key', retriable: false },
  POOL_NOT_FOUND: { status: 404, title: 'There is no such pool', retriable: false },
  GAME_NOT_FOUND: { status: 404, title: 'The pool has no such game', retriable: false },
  RUN_NOT_FOUND: { status: 404, title: 'The board has no such run', retriable: false },
  TEMPLATE_NOT_FOUND: { status: 404, title: 'There is no such template of boards', retriable: false },
  FLAG_NOT_FOUND: { status: 404, title: 'There is no such flag', retriable: false },
  RATING_NOT_FOUND: { status: 404, title: 'The player has no rated game', retriable: false },
  METHOD_NOT_ALLOWED: { status: 405, title: 'This address does not take that method', retriable: false },
  REQUEST_TIMEOUT: { status: 408, title: 'The request took too long to arrive', retriable: true },
  WINDOW_CLOSED: { status: 409, title: 'The window is closed', retriable: false },
  WINDOW_NOT_SETTLED: { status: 409, title: 'The window has no final standings yet', retriable: true },
  SUBMISSION_ID_REUSED: { status: 409, title: 'The submission id was used for another body', retriable: false },
  BOARD_NOT_EMPTY: { status: 409, title: 'The board has entries', retriable: false },
  API_KEY_FIXED: { status: 409, title: 'The secret of this key comes from a setting', retriable: false },
  LAST_ADMIN_KEY: { status: 409, title: 'No other admin key would be left', retriable: false },
  GUILD_NOT_EMPTY: { status: 409, title: 'The guild has members', retriable: false },
  LIMIT_REACHED: { status: 409, title: 'There is no room for more', retriable: false },
  GAME_ID_REUSED: { status: 409, title: 'The game id was used for another game', retriable: false },
  GAME_VOIDED: { status: 409, title: 'The game is void', retriable: false },
  PATCH_IN_USE: { status: 409, title: 'The patch is in use', retriable: false },
  POOL_HAS_GAMES: { status: 409, title: 'The pool has games', retriable: false },
  PERIOD_CLOSED: { status: 409, title: 'The period of the game is closed', retriable: false },
  RECOMPUTE_TOO_LARGE: { status: 409, title: 'Too many games would have to be computed again', retriable: false },
  FLAG_DECIDED: { status: 409, title: 'The flag is decided', retriable: false },
  BOARD_IN_USE: { status: 409, title: 'The board cannot be fed by this pool', retriable: false },
  BOARD_NOT_OF_TEMPLATE: { status: 409, title: 'The board is not of this template', retriable: false },
  EDITION_NOT_FOUND: { status: 404, title: 'The window has no such edition', retriable: false },
  SNAPSHOT_GONE: { status: 410, title: 'The board as it stood then is not kept', retriable: false },
  RUN_GONE: { status: 410, title: 'The run is not kept any more', retriable: false },
  CURSOR_EXPIRED: { status: 410, title: 'The list as the cursor shows it is not kept any more', retriable: false },
  SUBSCRIPTION_EXISTS: { status: 409, title: 'The subscription id is in use on this socket', retriable: false },
  PRECONDITION_FAILED: { status: 412, title: 'The board is not as the request demands', retriable: false },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The body is too large', retriable: false },
  URI_TOO_LONG: { status: 414, title: 'The address is too long', retriable: false },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The body must be application/json', retriable: false },
  NOT_SUPPORTED: { status: 422, title: 'This is not built yet', retriable: false },
  LANES_NOT_RAISED: { status: 422, title: 'Lanes cannot be raised to this number', retriable: false },
  NOT_A_PLAYER: { status: 422, title: 'Only a player has a self', retriable: false },
  RANK_STYLE_NOT_KEPT: { status: 422, title: 'The board does not keep ranks in this style', retriable: false },
  RUNS_NOT_KEPT: { status: 422, title: 'The board does not keep runs', retriable: false },
  HISTORY_NOT_KEPT: { status: 422, title: 'The board records no history', retriable: false },
  RUN_NOT_VOIDABLE: { status: 422, title: 'What a limit removed cannot be voided', retriable: false },
  SCORE_OUT_OF_BOUNDS: { status: 422, title: 'The score is outside the limits', retriable: false },
  OPERATOR_REFUSED: { status: 422, title: 'The board does not take this operator', retriable: false },
  COLUMN_OUT_OF_BOUNDS: { status: 422, title: 'A column is outside the limits', retriable: false },
  COLUMNS_MISMATCH: { status: 422, title: 'The columns are not those of the board', retriable: false },
  BOUNDARIES_IMPOSSIBLE: { status: 422, title: 'Equal scores leave no boundary', retriable: false },
  METADATA_TOO_LARGE: { status: 422, title: 'The metadata is too large', retriable: false },
  ACHIEVED_AT_IN_FUTURE: { status: 422, title: 'The run lies in the future', retriable: false },
  ACHIEVED_AT_REFUSED: { status: 422, title: 'The board does not take the time from players', retriable: false },
  WINDOW_UNENDING: { status: 422, title: 'The window has no end to be moved', retriable: false },
  WINDOW_MISMATCH: { status: 422, title: 'The window does not hold the run', retriable: false },
  ATTEMPTS_EXHAUSTED: { status: 422, title: 'No attempts are left', retriable: false },
  SUBMISSION_REJECTED: { status: 422, title: 'A check rejected the submission', retriable: false },
  PATCH_UNKNOWN: { status: 422, title: 'There is no such patch, or it is not published yet', retriable: false },
  DECAY_NEEDS_POSITIVE_SCORES: { status: 422, title: 'A tax needs scores that are not negative', retriable: false },
  RULE_UNKNOWN: { status: 422, title: 'There is no such integrity rule', retriable: false },
  ALGORITHM_UNKNOWN: { status: 422, title: 'There is no such algorithm', retriable: false },
  PLAYERS_NOT_SUPPORTED: { status: 422, title: 'The algorithm does not take so many players', retriable: false },
  GAME_TOO_LARGE: { status: 422, title: 'The game is larger than the pool takes', retriable: false },
  BOARD_IS_FED: { status: 422, title: 'The board is fed by a pool', retriable: false },
  BOARD_NOT_FED: { status: 422, title: 'The board is not fed by a pool', retriable: false },
  UPGRADE_REQUIRED: { status: 426, title: 'This address is for WebSockets', retriable: false },
  HEADERS_TOO_LARGE: { status: 431, title: 'The header fields are too large', retriable: false },
  RATE_LIMITED: { status: 429, title: 'Too many requests', retriable: true },
  SUBSCRIPTION_LIMIT: { status: 429, title: 'Too many subscriptions on this socket', retriable: false },
  TOO_MANY_MESSAGES: { status: 429, title: 'Too many messages on this socket', retriable: true },
  INTERNAL: { status: 500, title: 'Something went wrong on our side', retriable: true },
  ALGORITHM_MISSING: { status: 503, title: "This process does not have the pool's algorithm", retriable: true },
  OVERLOADED: { status: 503, title: 'Too much is waiting already', retriable: true },
  IDENTITY_UNAVAILABLE: { status: 503, title: 'The identity cannot be checked now', retriable: true },
  LEDGER_UNAVAILABLE: { status: 503, title: 'The database cannot be reached', retriable: true },
  OUTBOX_FULL: { status: 503, title: 'Too many events wait for the log', retriable: true },
  SETTLEMENT_FAILED: { status: 503, title: 'The final standings cannot be written', retriable: true },
  PROJECTION_UNAVAILABLE: { status: 503, title: 'The ranks cannot be read', retriable: true },
  PROJECTION_BEHIND: { status: 503, title: 'The ranks are behind what was asked for', retriable: true },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** One fault of a request: a JSON pointer (RFC 6901) into the body, or `?name` for a query parameter, and what to do. */
export interface Fault {
  pointer: string;
  message: string;
}

/** An RFC 9457 problem, as REST answers and sockets send it. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ErrorCode;
  instance?: string;
  errors?: Fault[];
  [extension: string]: unknown;
}

/**
 * A failure with a stable code of {@link ERRORS}; `detail` tells the reader what to do.
 * `extensions` become members of the problem (for example `errors`, `total`, `retryAfterSeconds`). `options.status` is for
 * the few codes that another call answers with a status of its own.
 */
export class LadderError extends Error {
  constructor(
    readonly code: ErrorCode,
    readonly detail: string,
    readonly extensions: Record<string, unknown> = {},
    private readonly options: { cause?: unknown; status?: number } = {},
  ) {
    super(`${code}: ${detail}`, options);
    this.name = 'LadderError';
  }

  /** That of its code, unless it stands for another one here: what is unknown is 404 in an address, and 422 in a body. */
  get status(): number {
    return this.options.status ?? ERRORS[this.code].status;
  }

  get retriable(): boolean {
    return ERRORS[this.code].retriable;
  }

  /** The problem+json body; `instance` is the request's path. */
  toProblem(instance?: string): Problem {
    return {
      type: `urn:laddercast:problem:${this.code}`,
      title: ERRORS[this.code].title,
      status: this.status,
      detail: this.detail,
      ...(instance === undefined ? {} : { instance }),
      code: this.code,
      ...this.extensions,
    };
  }
}

/** A field's name as it stands in a JSON pointer (RFC 6901, section 3). */
export const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** A body can hold far more faults than anybody reads, and an answer must not be larger than its request. */
const FAULTS_SHOWN_MAX = 50;

/** A 400 with one line for each fault, of the first 50. */
export function validationFailed(faults: Fault[]): LadderError {
  const errors = faults.slice(0, FAULTS_SHOWN_MAX);
  const first = errors[0];
  const detail = first ? `${first.pointer || '/'}: ${first.message}` : 'The request is not well formed.';
  return new LadderError('VALIDATION_FAILED', detail, { errors });
}
