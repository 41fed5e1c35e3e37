import { RateLimits } from '@laddercast/identity';
import { ClientAddresses, Environment } from '@laddercast/platform';
import { RedisConnection, RedisTokenLeases } from '@laddercast/projections';
import type { Provider } from '@nestjs/common';

/** Who may do how much: for processes that answer clients. */
export const rateLimitProviders: Provider[] = [
  {
    provide: ClientAddresses,
    inject: [Environment],
    useFactory: ({ TRUSTED_PROXIES }: Environment) => new ClientAddresses(TRUSTED_PROXIES),
  },
  {
    provide: RateLimits,
    inject: [RedisConnection, Environment],
    useFactory: (redis: RedisConnection, environment: Environment) =>
      new RateLimits(new RedisTokenLeases(redis), {
        keyPerSecond: environment.RATE_LIMIT_KEY_PER_SECOND,
        playerPerSecond: environment.RATE_LIMIT_PLAYER_PER_SECOND,
        addressPerSecond: environment.RATE_LIMIT_ADDRESS_PER_SECOND,
        failedIdentityPerSecond: environment.RATE_LIMIT_FAILED_IDENTITY_PER_SECOND,
        windowSeconds: environment.RATE_LIMIT_WINDOW_SECONDS,
      }),
  },
];
