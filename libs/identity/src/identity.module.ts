import { ApiKeyStore, LedgerModule } from '@laddercast/ledger';
import { Environment } from '@laddercast/platform';
import { Logger, Module } from '@nestjs/common';
import { Authenticator } from './authenticator.js';
import { PlayerTokens } from './player-tokens.js';
import { SigningKeys } from './signing-keys.js';

function playerTokens(environment: Environment): PlayerTokens {
  const { JWT_SECRET, JWT_JWKS_URL, JWT_ISSUER, JWT_AUDIENCE, JWT_CLOCK_TOLERANCE_SECONDS } = environment;
  const log = new Logger('identity');
  if (JWT_JWKS_URL !== undefined && JWT_AUDIENCE === undefined) {
    log.warn('JWT_AUDIENCE is not set: tokens that JWT_JWKS_URL signs for other services are taken, too.');
  }
  const onFailure = (error: unknown): void => {
    const { message, cause } = error as Error;
    log.warn(`The keys of JWT_JWKS_URL cannot be read: ${cause instanceof Error ? cause.message : message}`);
  };
  return new PlayerTokens({
    secret: JWT_SECRET,
    signingKeys: JWT_JWKS_URL === undefined ? null : new SigningKeys({ url: JWT_JWKS_URL, onFailure }),
    issuer: JWT_ISSUER,
    audience: JWT_AUDIENCE,
    clockToleranceSeconds: JWT_CLOCK_TOLERANCE_SECONDS,
  });
}

/** Tells who comes with a key or a token. */
@Module({
  imports: [LedgerModule],
  providers: [
    {
      provide: Authenticator,
      inject: [ApiKeyStore, Environment],
      useFactory: (keys: ApiKeyStore, environment: Environment) => new Authenticator(keys, playerTokens(environment)),
    },
  ],
  exports: [Authenticator],
})
export class IdentityModule {}
