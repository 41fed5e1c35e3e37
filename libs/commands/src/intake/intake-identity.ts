import { LadderError } from '@laddercast/domain';
import { holdsScope, type Authenticator, type Identity } from '@laddercast/identity';

/**
 * The identity, and so the rights, of submissions without a request: that of an API key.
 * @throws UNAUTHENTICATED, FORBIDDEN when the key may not submit scores, LEDGER_UNAVAILABLE
 */
export async function identityOfIntake(authenticator: Authenticator, key: string): Promise<Identity> {
  const identity = await authenticator.authenticate(key);
  if (!holdsScope(identity, 'scores:write')) {
    throw new LadderError('FORBIDDEN', 'This needs an API key with the scope scores:write.');
  }
  return identity;
}
