import { LeaderboardModule, startApp, type AppDescription, type Role } from '@laddercast/leaderboard';
import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { ApiModule } from '../../../apps/api/src/api.module.js';
import { prepareHttp } from '../../../apps/api/src/http/prepare-http.js';
import { servePage } from '../../../apps/standalone/src/serve-page.js';

export interface ServiceOptions {
  /** For logs and traces. */
  name: string;
  /** The modules of teams. */
  modules?: readonly (Type<object> | DynamicModule)[];
  /** What the process does; by default everything. */
  roles?: readonly Role[];
}

const EVERYTHING: readonly Role[] = ['api', 'projector', 'gateway'];

/**
 * Runs a process of the service with modules of teams until a signal ends it; settings are those of the environment. With
 * `api` it answers REST, and with `gateway` beside it the live page, too. A failure to start ends the process with a log line
 * that says why.
 */
export const startService = (options: ServiceOptions): Promise<void> => startApp(serviceOf(options));

/** As {@link startService} runs it: for tests that run it beside themselves. */
export function serviceOf({ name, modules = [], roles = EVERYTHING }: ServiceOptions): AppDescription {
  const answers = roles.includes('api');
  return {
    name,
    roles,
    module: (environment) => {
      const service = LeaderboardModule.forRoot({ environment, roles });
      @Module({ imports: [service, ...(answers ? [ApiModule] : []), ...modules] })
      class TeamService {}
      return TeamService;
    },
    ...(answers && {
      prepare: async (app) => {
        prepareHttp(app);
        if (roles.includes('gateway')) await servePage(app);
      },
    }),
  };
}
