import { CommandsApiModule, CommandsProjectorModule } from '@laddercast/commands';
import type { RatingAlgorithm } from '@laddercast/domain';
import { EventLogModule, EventLogProjectorModule } from '@laddercast/event-log';
import { IdentityModule, RateLimits } from '@laddercast/identity';
import {
  LedgerApiModule,
  LedgerModule,
  LedgerProjectorModule,
  PostgresDatabase,
  TeamDatabase,
  type TeamDatabaseOptions,
} from '@laddercast/ledger';
import { ClientAddresses, Environment, EnvironmentModule, TokenLeases } from '@laddercast/platform';
import { ProjectionsModule, ProjectionsProjectorModule } from '@laddercast/projections';
import { QueriesApiModule, QueriesModule } from '@laddercast/queries';
import { GatewayModule, PublisherModule } from '@laddercast/realtime';
import { SagasModule } from '@laddercast/sagas';
import { Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { CqrsModule } from '@nestjs/cqrs';
import type { DefinedBoard } from './define-board.js';
import { ExtensionRegistry } from './extension-registry.js';
import { ExtensionsModule } from './extensions.module.js';
import { HealthController } from './health/health.controller.js';
import { Readiness } from './health/readiness.js';
import { FailureLog } from './http/failure-log.js';
import { ProblemFilter } from './http/problem.filter.js';
import { RouteGuard } from './http/route.guard.js';
import { RouteTable } from './http/route-table.js';
import { LeaderboardLifecycle } from './process/leaderboard.lifecycle.js';
import { ProjectorLifecycle } from './process/projector.lifecycle.js';
import { Intakes } from './process/intakes.js';
import { ROLES, type Role } from './roles.js';

const IN_EVERY_PROCESS: Type<object>[] = [
  ExtensionsModule,
  LedgerModule,
  EventLogModule,
  IdentityModule,
  ProjectionsModule,
  QueriesModule,
];

/** What a process has beside, by what it does. */
const OF_ROLE: Record<Role, Type<object>[]> = {
  api: [LedgerApiModule, CommandsApiModule, QueriesApiModule],
  projector: [
    LedgerProjectorModule,
    EventLogProjectorModule,
    ProjectionsProjectorModule,
    CommandsProjectorModule,
    SagasModule,
    PublisherModule,
  ],
  gateway: [GatewayModule],
};

/** Who may do how much. */
const limits: Provider[] = [
  {
    provide: ClientAddresses,
    inject: [Environment],
    useFactory: ({ TRUSTED_PROXIES }: Environment) => new ClientAddresses(TRUSTED_PROXIES),
  },
  {
    provide: RateLimits,
    inject: [TokenLeases, Environment],
    useFactory: (leases: TokenLeases, environment: Environment) =>
      new RateLimits(leases, {
        keyPerSecond: environment.RATE_LIMIT_KEY_PER_SECOND,
        playerPerSecond: environment.RATE_LIMIT_PLAYER_PER_SECOND,
        addressPerSecond: environment.RATE_LIMIT_ADDRESS_PER_SECOND,
        failedIdentityPerSecond: environment.RATE_LIMIT_FAILED_IDENTITY_PER_SECOND,
        windowSeconds: environment.RATE_LIMIT_WINDOW_SECONDS,
      }),
  },
];

const providers = (roles: readonly Role[]): Provider[] => [
  { provide: ROLES, useValue: roles },
  ...limits,
  RouteTable,
  FailureLog,
  Readiness,
  ...(roles.includes('api') ? [Intakes] : []),
  ...(roles.includes('projector') ? [ProjectorLifecycle] : []),
  LeaderboardLifecycle,
];

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
  /** Ways to rate games beside the service's own, by names that no other has; see `RatingAlgorithm`. */
  ratingAlgorithms?: readonly RatingAlgorithm[];
  /** Tables of the team's own: {@link TeamDatabase} can then be injected here, and where this module is imported. */
  database?: TeamDatabaseOptions;
  imports?: NonNullable<DynamicModule['imports']>;
}

/** The leaderboards, as one import. */
@Module({})
export class LeaderboardModule {
  /** The service itself: once, in the root module. */
  static forRoot({ environment, roles }: LeaderboardOptions): DynamicModule {
    const modules = [...IN_EVERY_PROCESS, ...new Set(roles.flatMap((role) => OF_ROLE[role]))];
    return {
      module: LeaderboardModule,
      global: true,
      imports: [EnvironmentModule.of(environment), CqrsModule.forRoot(), ...modules],
      controllers: [HealthController],
      providers: [
        ...providers(roles),
        { provide: APP_GUARD, useClass: RouteGuard },
        { provide: APP_FILTER, useClass: ProblemFilter },
      ],
      exports: [...providers(roles), ...modules, CqrsModule],
    };
  }

  /** What a team adds: boards, extensions and algorithms, in any number of modules. */
  static forFeature({
    boards = [],
    extensions = [],
    ratingAlgorithms = [],
    database,
    imports = [],
  }: LeaderboardFeature): DynamicModule {
    const registration = Symbol('leaderboard feature');
    const tables = database ? [tablesOf(database)] : [];
    return {
      module: LeaderboardModule,
      imports: [...imports],
      exports: tables,
      providers: [
        ...tables,
        ...extensions,
        {
          provide: registration,
          inject: [ExtensionRegistry, ...extensions],
          useFactory: (registry: ExtensionRegistry, ...instances: object[]) =>
            registry.add({ boards, ratingAlgorithms }, instances),
        },
      ],
    };
  }
}

/** Migrated before anything of the process starts; after the service's own tables. */
const tablesOf = (options: TeamDatabaseOptions): Provider => ({
  provide: TeamDatabase,
  inject: [Environment, ExtensionRegistry, PostgresDatabase],
  useFactory: ({ DATABASE_URL: url, DATABASE_CA_FILE: caFile }: Environment, registry: ExtensionRegistry) => {
    registry.addSchema(options.schema);
    return TeamDatabase.open({ url, ...(caFile !== undefined && { caFile }) }, options);
  },
});
