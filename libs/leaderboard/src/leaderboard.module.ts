import { RankGateway } from '@laddercast/realtime';
import { Environment } from '@laddercast/platform';
import { sagas } from '@laddercast/sagas';
import { Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { CqrsModule } from '@nestjs/cqrs';
import { apiProviders } from './providers/api.providers.js';
import { coreProviders } from './providers/core.providers.js';
import type { DefinedBoard } from './define-board.js';
import { ExtensionRegistry } from './extension-registry.js';
import { gatewayProviders } from './providers/gateway.providers.js';
import { RouteGuard } from './http/route.guard.js';
import { HealthController } from './health/health.controller.js';
import { LeaderboardLifecycle } from './process/leaderboard.lifecycle.js';
import { ROLES, type Role } from './roles.js';
import { rateLimitProviders } from './providers/rate-limit.providers.js';
import { projectorProviders } from './providers/projector.providers.js';

export interface LeaderboardOptions {
  environment: Environment;
  /** What this process does: answers REST, projects the log, serves sockets. */
  roles: readonly Role[];
}

export interface LeaderboardFeature {
  /** Boards that exist once the service has started; see `defineBoard`. */
  boards?: readonly DefinedBoard[];
  /** Classes behind the seams of `@laddercast/extension`; they get what `imports` export injected. */
  extensions?: readonly Type<object>[];
  imports?: NonNullable<DynamicModule['imports']>;
}

/** The leaderboards, as one import. */
@Module({})
export class LeaderboardModule {
  /** The service itself: once, in the root module. */
  static forRoot({ environment, roles }: LeaderboardOptions): DynamicModule {
    const providers: Provider[] = [
      { provide: Environment, useValue: environment },
      { provide: ROLES, useValue: roles },
      ...coreProviders,
      ...rateLimitProviders,
      ...(roles.includes('api') ? apiProviders : []),
      ...(roles.includes('projector') ? projectorProviders : []),
      ...(roles.includes('gateway') ? gatewayProviders : []),
      LeaderboardLifecycle,
    ];
    return {
      module: LeaderboardModule,
      global: true,
      imports: [CqrsModule.forRoot()],
      controllers: [HealthController, ...(roles.includes('projector') ? sagas : [])],
      providers: [...providers, { provide: APP_GUARD, useClass: RouteGuard }],
      exports: [...providers.filter((provider) => provider !== RankGateway), CqrsModule],
    };
  }

  /** What a team adds: boards and extensions, in any number of modules. */
  static forFeature({ boards = [], extensions = [], imports = [] }: LeaderboardFeature): DynamicModule {
    const registration = Symbol('leaderboard feature');
    return {
      module: LeaderboardModule,
      imports: [...imports],
      providers: [
        ...extensions,
        {
          provide: registration,
          inject: [ExtensionRegistry, ...extensions],
          useFactory: (registry: ExtensionRegistry, ...instances: object[]) => registry.add(boards, instances),
        },
      ],
    };
  }
}
