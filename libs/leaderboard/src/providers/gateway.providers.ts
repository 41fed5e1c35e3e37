import { Environment } from '@laddercast/platform';
import { gatewayProviders as realtimeProviders, LiveOptions, LiveOrigins } from '@laddercast/realtime';
import type { Provider } from '@nestjs/common';

/** What a process with the role `gateway` adds: the WebSocket gateway and its feeds. */
export const gatewayProviders: Provider[] = [
  {
    provide: LiveOptions,
    inject: [Environment],
    useFactory: (environment: Environment) =>
      new LiveOptions({
        subscriptionsMax: environment.SOCKET_SUBSCRIPTIONS_MAX,
        socketsPerPlayerMax: environment.SOCKETS_PER_PLAYER_MAX,
        socketsPerKeyMax: environment.SOCKETS_PER_KEY_MAX,
        socketsPerAddressMax: environment.SOCKETS_PER_ADDRESS_MAX,
        subscriptionsPerPlayerMax: environment.SUBSCRIPTIONS_PER_PLAYER_MAX,
      }),
  },
  {
    provide: LiveOrigins,
    inject: [Environment],
    useFactory: ({ CORS_ORIGINS }: Environment) => new LiveOrigins(CORS_ORIGINS),
  },
  ...realtimeProviders,
];
