import { Environment } from '@laddercast/platform';
import { gatewayProviders as realtimeProviders, LiveOptions } from '@laddercast/realtime';
import type { Provider } from '@nestjs/common';

/** What a process with the role `gateway` adds: the WebSocket gateway and its feeds. */
export const gatewayProviders: Provider[] = [
  {
    provide: LiveOptions,
    inject: [Environment],
    useFactory: ({ SOCKET_SUBSCRIPTIONS_MAX }: Environment) =>
      new LiveOptions({ subscriptionsMax: SOCKET_SUBSCRIPTIONS_MAX }),
  },
  ...realtimeProviders,
];
