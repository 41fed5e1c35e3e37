import { LadderError } from '@laddercast/domain';
import { metrics } from '@laddercast/platform';

/** Why a key or a token was refused: the label of the metric, so there are no others. */
export type AuthenticationFault =
  | 'malformed'
  | 'too_long'
  | 'key_unknown'
  | 'key_revoked'
  | 'key_expired'
  | 'key_replaced'
  | 'token_not_accepted'
  | 'token_algorithm'
  | 'token_signing_key'
  | 'token_signature'
  | 'token_expired'
  | 'token_not_yet'
  | 'token_issuer'
  | 'token_audience'
  | 'token_claims';

/** What was sent is no valid identity; `fault` is for the metric, `detail` for the caller. */
export class AuthenticationFailure extends LadderError {
  constructor(
    readonly fault: AuthenticationFault,
    detail: string,
    options?: { cause?: unknown },
  ) {
    super('UNAUTHENTICATED', detail, {}, options);
  }
}

/** Counts a failed authentication by its reason. */
export function countFailure(error: unknown): void {
  const reason = error instanceof AuthenticationFailure ? error.fault : 'unavailable';
  metrics.authenticationFailures.inc({ reason });
}

/** A header or parameter that holds no token at all: counted, and to be thrown. */
export function malformedCredentials(detail: string): AuthenticationFailure {
  const failure = new AuthenticationFailure('malformed', detail);
  countFailure(failure);
  return failure;
}
